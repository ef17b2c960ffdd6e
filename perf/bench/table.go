package main

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"cardwall/perf/table"
)

// row is one row of the table. It shows the result of a load or a single value.
type row struct {
	name   string
	value  string  // the single value, formatted
	result *result // the result of a load; nil for a single value
	ratios []string
	goals  []goal
}

// goal is a goal and whether this run met it.
type goal struct {
	text string
	met  bool
}

// missed reports whether a goal was missed.
func (r *row) missed() bool {
	for _, g := range r.goals {
		if !g.met {
			return true
		}
	}
	return false
}

// cells returns the cells of the row. Cells that do not apply are empty.
func (r *row) cells() []string {
	cells := make([]string, len(columns()))
	cells[0], cells[2] = r.name, r.value
	if res := r.result; res != nil {
		cells[1] = strconv.Itoa(res.clients)
		cells[2] = thousands(res.rate()) + "/s"
		for i, d := range []time.Duration{
			res.latency.Quantile(0.50), res.latency.Quantile(0.95), res.latency.Quantile(0.99), res.latency.Max,
		} {
			if res.latency.Count > 0 || res.counted == 0 {
				cells[3+i] = strconv.FormatFloat(milliseconds(d), 'f', 2, 64)
			}
		}
		cells[7] = strconv.Itoa(res.errors)
		if res.serverCPU > 0 {
			cells[8] = strconv.FormatFloat(res.perRequest(res.serverCPU), 'f', 3, 64)
		}
		cells[9] = strconv.FormatFloat(res.perRequest(res.loadCPU), 'f', 3, 64)
	}
	cells[10] = strings.Join(r.ratios, ", ")
	var all, missed []string
	for _, g := range r.goals {
		all = append(all, g.text)
		if !g.met {
			missed = append(missed, g.text)
		}
	}
	cells[11] = strings.Join(all, ", ")
	switch {
	case len(missed) > 0:
		cells[12] = "MISS: " + strings.Join(missed, ", ")
	case len(all) > 0:
		cells[12] = "pass"
	}
	return cells
}

// columns returns the names of the columns. The first and the last three columns contain text, and the others contain
// numbers.
func columns() []string {
	return []string{"benchmark", "clients", "result", "p50 ms", "p95 ms", "p99 ms", "max ms", "errors",
		"server CPU ms", "load CPU ms", "ratio", "goal", "met"}
}

func isText(column int) bool { return column == 0 || column >= 10 }

// printTable writes the rows as plain text or Markdown.
func printTable(w io.Writer, rows []row, markdown bool) error {
	lines := [][]string{columns()}
	for _, r := range rows {
		lines = append(lines, r.cells())
	}
	_, err := io.WriteString(w, table.Format(lines, isText, markdown))
	return err
}

// thousands rounds v to an integer and formats it with commas.
func thousands(v float64) string {
	digits := strconv.FormatInt(int64(math.Round(v)), 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

func megabytes(n int64) string {
	return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
}
