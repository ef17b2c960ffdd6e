package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"cardwall/perf/histogram"
	"cardwall/perf/table"
)

// Latency goals for the bystanders while the neighbor does as much work as its plan allows.
const (
	goalNeighborGet    = 50 * time.Millisecond  // p99 of get_card
	goalNeighborUpdate = 100 * time.Millisecond // p99 of update_card
	goalNeighborSignIn = time.Second            // p99 of sign-in
)

// neighborRow is one row of the neighbor table.
type neighborRow struct {
	name                string
	elapsed             time.Duration
	get, update, signIn *openResult
	done                string // summary of the neighbor's work
	faults              int    // unexpected responses to the neighbor
	goals               []goal
}

// addGoals records the goals for the bystanders and whether each was met.
func (r *neighborRow) addGoals() {
	below := func(name string, h *histogram.Histogram, limit time.Duration) {
		met := h.Count > 0 && h.Quantile(0.99) < limit
		r.goals = append(r.goals, goal{fmt.Sprintf("%s p99 < %.0f ms", name, milliseconds(limit)), met})
	}
	below("get_card", &r.get.latency, goalNeighborGet)
	below("update_card", &r.update.latency, goalNeighborUpdate)
	below("sign-in", &r.signIn.latency, goalNeighborSignIn)
	r.goals = append(r.goals, goal{"none refused", r.refused() == 0})
}

// missed reports whether a goal was missed.
func (r *neighborRow) missed() bool { return (&row{goals: r.goals}).missed() }

// refused returns the number of the bystanders' requests that were refused.
func (r *neighborRow) refused() int { return r.get.refused + r.update.refused + r.signIn.refused }

// errors returns the number of the bystanders' requests that failed for reasons other than a refusal, plus the number of
// unexpected responses to the neighbor.
func (r *neighborRow) errors() int {
	return r.get.failed + r.update.failed + r.signIn.failed + r.faults
}

// samples returns the first few errors of the bystanders.
func (r *neighborRow) samples() (all []string) {
	for _, o := range []*openResult{r.get, r.update, r.signIn} {
		all = append(all, o.samples...)
	}
	return all
}

func neighborColumns() []string {
	return []string{"neighbor", "duration s", "get_card p50 ms", "p99 ms", "update_card p50 ms", "p99 ms", "sign-in p99 ms",
		"refused", "errors", "the neighbor's work", "met"}
}

// cells returns the cells of the row.
func (r *neighborRow) cells() []string {
	ms := func(o *openResult, q float64) string {
		return strconv.FormatFloat(milliseconds(o.latency.Quantile(q)), 'f', 1, 64)
	}
	cells := []string{
		strings.TrimPrefix(r.name, "neighbor, "), strconv.Itoa(int(r.elapsed.Seconds())), ms(r.get, 0.50), ms(r.get, 0.99),
		ms(r.update, 0.50), ms(r.update, 0.99), ms(r.signIn, 0.99), strconv.Itoa(r.refused()), strconv.Itoa(r.errors()), r.done,
	}
	return append(cells, (&row{goals: r.goals}).cells()[12])
}

// printNeighbors writes the neighbor table as plain text or Markdown.
func printNeighbors(w io.Writer, rows []*neighborRow, markdown bool) error {
	lines := [][]string{neighborColumns()}
	for _, r := range rows {
		lines = append(lines, r.cells())
	}
	_, err := fmt.Fprintf(w, "%d people in other workspaces together send %d get_card, %d update_card and %d sign-in requests per "+
		"second. Goals: p99 below %v for get_card, %v for update_card and %v for sign-in, and no refused requests.\n\n%s",
		len(bystanderNames()), bystanderGets, bystanderUpdates, bystanderSignIns,
		goalNeighborGet, goalNeighborUpdate, goalNeighborSignIn,
		table.Format(lines, func(column int) bool { return column == 0 || column >= 9 }, markdown))
	return err
}
