package main

import (
	"io"
	"strconv"
	"strings"
	"time"

	"cardwall/perf/table"
)

// columns returns the names of the columns. The first and the last two columns contain text, and the others contain
// numbers.
func columns() []string {
	return []string{"trial", "rounds", "acknowledged", "lost", "duplicated", "events missing", "longest outage s",
		"duration s", "verdict", "note"}
}

func isText(column int) bool { return column == 0 || column >= 8 }

// cells returns the cells of the row. Cells that do not apply to the trial are empty.
func (o *outcome) cells() []string {
	cells := make([]string, len(columns()))
	cells[0], cells[1] = o.name, strconv.Itoa(o.rounds)
	if o.counted {
		cells[2], cells[3], cells[4], cells[5] = strconv.Itoa(o.acknowledged), strconv.Itoa(o.lost), strconv.Itoa(o.duplicated),
			strconv.Itoa(o.missing)
	}
	if o.unavailable > 0 {
		cells[6] = seconds(o.unavailable)
	}
	cells[7] = strconv.Itoa(int(o.duration.Seconds()))
	cells[8], cells[9] = o.verdict(), o.note
	return cells
}

// seconds formats a duration in seconds.
func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) }

// printTable writes the rows as plain text or Markdown, followed by the failures.
func printTable(w io.Writer, rows []outcome, markdown bool) error {
	lines := [][]string{columns()}
	for _, r := range rows {
		lines = append(lines, r.cells())
	}
	var out strings.Builder
	out.WriteString(table.Format(lines, isText, markdown))
	for _, r := range rows {
		for _, f := range r.failures {
			out.WriteString("\n" + r.name + ": " + f)
		}
	}
	out.WriteString("\n")
	_, err := io.WriteString(w, out.String())
	return err
}
