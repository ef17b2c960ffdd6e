package main

import (
	"fmt"
	"io"
	"os"
	"strings"
)

const (
	barWidth  = 30 // characters
	lineEvery = 10 // percent, if the output is not a terminal
)

// progress shows how far a task is: as a bar on a terminal, as lines elsewhere.
type progress struct {
	w     io.Writer
	bar   bool
	shown int // percent; -1 for nothing
}

func newProgress(w io.Writer) *progress { return &progress{w: w, bar: isTerminal(w), shown: -1} }

// show shows that done of total records are done. A total of 0 is unknown.
func (p *progress) show(done, total int) {
	if total <= 0 {
		return
	}
	percent := min(100*done/total, 100)
	if p.bar && percent != p.shown {
		p.shown = percent
		full := barWidth * percent / 100
		_, _ = fmt.Fprintf(p.w, "\r[%s%s] %3d %%", strings.Repeat("#", full), strings.Repeat(" ", barWidth-full), percent)
	}
	if !p.bar && percent/lineEvery > p.shown/lineEvery {
		p.shown = percent
		_, _ = fmt.Fprintf(p.w, "%d %%\n", percent)
	}
}

// end removes the bar.
func (p *progress) end() {
	if p.bar && p.shown >= 0 {
		_, _ = fmt.Fprintf(p.w, "\r%s\r", strings.Repeat(" ", barWidth+len("[] 100 %")))
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
