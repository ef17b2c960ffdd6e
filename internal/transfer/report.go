package transfer

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"cardwall/internal/board"
)

// Report collects the results of an import.
type Report struct {
	board.ImportReport
	Files int `json:"-"` // number of different files that ImportFile has stored
}

// Total returns the sum of the counts of all boards.
func (r *Report) Total() board.ImportCounts {
	var c board.ImportCounts
	for _, b := range r.Boards {
		c.Add(b.ImportCounts)
	}
	return c
}

const (
	maxExamples      = 3
	maxExampleLength = 60
	maxNotes         = 200 // otherwise a malicious file could cause one note per record
)

// note counts one object that was skipped or changed. It ignores an empty example.
func (r *Report) note(what, example string) { r.notes(what, 1, example) }

func (r *Report) notes(what string, count int, examples ...string) {
	if count == 0 {
		return
	}
	what = excerpt(what, 200)
	i := slices.IndexFunc(r.Notes, func(n board.ImportNote) bool { return n.What == what })
	if i < 0 && len(r.Notes) > maxNotes {
		i = maxNotes
	} else if i < 0 {
		if i = len(r.Notes); i == maxNotes {
			what = "Other objects skipped or changed"
		}
		r.Notes = append(r.Notes, board.ImportNote{What: what, Examples: []string{}})
	}
	n := &r.Notes[i]
	n.Count += count
	for _, e := range examples {
		switch e = excerpt(e, maxExampleLength); {
		case e == "" || slices.Contains(n.Examples, e):
		case len(n.Examples) < maxExamples:
			n.Examples = append(n.Examples, e)
		default:
			n.More = true
		}
	}
}

// String returns the report as text, one fact per line.
func (r *Report) String() string {
	var b strings.Builder
	for _, m := range r.Boards {
		c := m.ImportCounts
		fmt.Fprintf(&b, "Imported %q as %s: lists %d, cards %d, labels %d, checklists %d with items %d, comments %d",
			m.Name, m.ID, c.Lists, c.Cards, c.Labels, c.Checklists, c.Items, c.Comments)
		if c.StatusUpdates > 0 {
			fmt.Fprintf(&b, ", status updates %d", c.StatusUpdates)
		}
		b.WriteString(".\n")
	}
	if r.SavedFilters > 0 {
		fmt.Fprintf(&b, "Imported saved filters: %d.\n", r.SavedFilters)
	}
	if r.Files > 0 {
		fmt.Fprintf(&b, "Imported attached files: %d, not counting equal ones twice.\n", r.Files)
	}
	if len(r.Notes) > 0 {
		b.WriteString("Skipped or changed during import:\n")
	}
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "- %s: %d", n.What, n.Count)
		if len(n.Examples) > 0 {
			quoted := make([]string, len(n.Examples))
			for i, e := range n.Examples {
				quoted[i] = fmt.Sprintf("%q", e)
			}
			fmt.Fprintf(&b, " (%s", strings.Join(quoted, ", "))
			if n.More {
				b.WriteString(", …")
			}
			b.WriteString(")")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// WriteTo writes the text that String returns.
func (r *Report) WriteTo(w io.Writer) (int64, error) {
	n, err := io.WriteString(w, r.String())
	return int64(n), err
}
