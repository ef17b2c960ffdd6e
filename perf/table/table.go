// Package table formats a table as text for a terminal or as Markdown for a document.
package table

import (
	"strings"
	"unicode/utf8"
)

// Format returns the lines as a table. The first line is the header, and every line must have as many cells. Cells are
// padded to the width of their column; columns for which text returns true are aligned left, the others right.
func Format(lines [][]string, text func(column int) bool, markdown bool) string {
	widths := make([]int, len(lines[0]))
	for _, cells := range lines {
		for i, cell := range cells {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	rule := make([]string, len(widths))
	for i, n := range widths {
		rule[i] = strings.Repeat("-", n)
		if markdown && !text(i) {
			rule[i] = strings.Repeat("-", n-1) + ":"
		}
	}
	lines = append(lines[:1], append([][]string{rule}, lines[1:]...)...)

	var out strings.Builder
	for _, cells := range lines {
		padded := make([]string, len(cells))
		for i, cell := range cells {
			blanks := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if text(i) {
				padded[i] = cell + blanks
			} else {
				padded[i] = blanks + cell
			}
		}
		if markdown {
			out.WriteString("| " + strings.Join(padded, " | ") + " |\n")
		} else {
			out.WriteString(strings.TrimRight(strings.Join(padded, "  "), " ") + "\n")
		}
	}
	return out.String()
}
