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

// What the others must see while a neighbor works as much as its plan allows.
const (
	goalNeighborGet    = 50 * time.Millisecond  // p99 of get_card
	goalNeighborUpdate = 100 * time.Millisecond // p99 of update_card
	goalNeighborSignIn = time.Second            // p99 of sign-in
)

// neighborRow is one line of the neighbor table.
type neighborRow struct {
	name                string
	elapsed             time.Duration
	get, update, signIn *openResult
	done                string // what the neighbor got done
	faults              int    // unexpected responses to the neighbor
	goals               []goal
}

// judge adds the goals.
func (r *neighborRow) judge() {
	below := func(name string, h *histogram.Histogram, most time.Duration) {
		met := h.Count > 0 && h.Quantile(0.99) < most
		r.goals = append(r.goals, goal{fmt.Sprintf("%s < %.0f ms", name, milliseconds(most)), met})
	}
	below("get_card", &r.get.latency, goalNeighborGet)
	below("update_card", &r.update.latency, goalNeighborUpdate)
	below("sign-in", &r.signIn.latency, goalNeighborSignIn)
	r.goals = append(r.goals, goal{"none refused", r.refused() == 0})
}

// missed reports whether a goal was missed.
func (r *neighborRow) missed() bool { return (&row{goals: r.goals}).missed() }

// refused returns how many requests of the others were refused.
func (r *neighborRow) refused() int { return r.get.refused + r.update.refused + r.signIn.refused }

// errors returns how many requests failed, except refusals.
func (r *neighborRow) errors() int {
	return r.get.failed + r.update.failed + r.signIn.failed + r.faults
}

// samples returns the first errors of the others.
func (r *neighborRow) samples() (all []string) {
	for _, o := range []*openResult{r.get, r.update, r.signIn} {
		all = append(all, o.samples...)
	}
	return all
}

func neighborColumns() []string {
	return []string{"neighbor", "s", "get_card p50 ms", "p99 ms", "update_card p50 ms", "p99 ms", "sign-in p99 ms", "refused", "errors",
		"the neighbor's work", "met"}
}

// cells returns the line.
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
	_, err := fmt.Fprintf(w, "%d get_card, %d update_card and %d sign-ins per second by %d people in other workspaces. Goals: p99 of "+
		"get_card < %v, of update_card < %v, of sign-in < %v, none refused.\n\n%s", otherGets, otherUpdates, otherSignIns,
		len(otherNames()), goalNeighborGet, goalNeighborUpdate, goalNeighborSignIn,
		table.Format(lines, func(column int) bool { return column == 0 || column >= 9 }, markdown))
	return err
}
