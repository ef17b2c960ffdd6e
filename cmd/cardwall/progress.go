package main

import (
	"fmt"
	"io"
	"os"
	"strings"
)

const (
	barWidth = 30 // characters
	lineStep = 10 // percentage points between lines if the output is not a terminal
)

// progress prints the progress of a task: as a bar on a terminal, and as lines
// otherwise.
type progress struct {
	w     io.Writer
	bar   bool
	shown int // percent; -1 before the first output
}

func newProgress(w io.Writer) *progress { return &progress{w: w, bar: isTerminal(w), shown: -1} }

// show prints that done of total records have been processed. A total of 0 means
// that the total is unknown; show then prints nothing.
func (p *progress) show(done, total int) {
	if total <= 0 {
		return
	}
	percent := min(100*done/total, 100)
	if p.bar && percent != p.shown {
		p.shown = percent
		full := barWidth * percent / 100
		_, _ = fmt.Fprintf(p.w, "\r[%s%s] %3d%%", strings.Repeat("#", full), strings.Repeat(" ", barWidth-full), percent)
	}
	if !p.bar && percent/lineStep > p.shown/lineStep {
		p.shown = percent
		_, _ = fmt.Fprintf(p.w, "%d%%\n", percent)
	}
}

// end removes the bar.
func (p *progress) end() {
	if p.bar && p.shown >= 0 {
		_, _ = fmt.Fprintf(p.w, "\r%s\r", strings.Repeat(" ", barWidth+len("[] 100%")))
	}
}

// isTerminal reports whether w is a terminal.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
