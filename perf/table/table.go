// Package table formats tables as plain text or Markdown.
package table

import (
	"strings"
	"unicode/utf8"
)

// Format returns the lines as a table. The first line is the header. All lines must have the same number of cells.
// Cells are padded to the width of their column. Columns for which isText returns true are left-aligned, and the others
// right-aligned.
func Format(lines [][]string, isText func(column int) bool, markdown bool) string {
	widths := make([]int, len(lines[0]))
	for _, cells := range lines {
		for i, cell := range cells {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	rule := make([]string, len(widths))
	for i, n := range widths {
		rule[i] = strings.Repeat("-", n)
		if markdown && !isText(i) {
			rule[i] = strings.Repeat("-", n-1) + ":"
		}
	}
	lines = append(lines[:1], append([][]string{rule}, lines[1:]...)...)

	var out strings.Builder
	for _, cells := range lines {
		padded := make([]string, len(cells))
		for i, cell := range cells {
			padding := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if isText(i) {
				padded[i] = cell + padding
			} else {
				padded[i] = padding + cell
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
