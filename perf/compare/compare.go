// Package compare finds the benchmarks that are slower than in an earlier run.
//
// Machines differ, and the speed of one machine changes from hour to hour. So the package compares ratios: the result
// of each benchmark to the limit of the machine that the same run measured.
package compare

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"time"

	"cardwall/perf/table"
)

// Run holds the results of one run.
type Run struct {
	At       time.Time `json:"at"`
	Machine  string    `json:"machine"` // the processors, the system and the settings of the run
	Measures []Measure `json:"measures"`
}

// Measure is the result of one benchmark.
type Measure struct {
	Name    string  `json:"name"`
	Clients int     `json:"clients"`
	Rate    float64 `json:"rate"`            // successful operations per second
	CPU     float64 `json:"cpu,omitzero"`    // processor time of the server per operation, in milliseconds; 0 if not measured
	P99     float64 `json:"p99,omitzero"`    // in milliseconds; for readers of the file
	Limit   string  `json:"limit,omitempty"` // name of the measure that shows the machine's limit; empty for a limit itself
}

// Read reads a run from a file that Write wrote.
func Read(file string) (r Run, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return r, fmt.Errorf("read the earlier run: %w", err)
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return r, fmt.Errorf("read the earlier run: %s: %w", file, err)
	}
	return r, nil
}

// Write writes a run to a file.
func (r Run) Write(file string) error {
	text, err := json.MarshalIndent(r, "", "\t")
	if err == nil {
		err = os.WriteFile(file, append(text, '\n'), 0o644)
	}
	if err != nil {
		return fmt.Errorf("save the run: %w", err)
	}
	return nil
}

// Quantity says what a Change compares.
type Quantity string

// The quantities that are compared, each as a ratio to the limit's.
const (
	Rate Quantity = "rate"
	CPU  Quantity = "server CPU"
)

// Change is the change of one benchmark between two runs.
type Change struct {
	Name        string
	Of          Quantity
	Limit       string  // name of the limit
	Before, Now float64 // ratios to the limit
	Loss        float64 // as a fraction of Before; negative if the benchmark is better now
}

// Changes compares the benchmarks that both runs measured with the same number of clients, in the order of the new
// run. It omits benchmarks whose limit is missing in one of the runs. A lower rate is a loss, and so is more processor
// time.
func Changes(before, now Run) (changes []Change) {
	earlier, current := before.byName(), now.byName()
	for _, m := range now.Measures {
		old, ok := earlier[m.Name]
		limit, oldLimit := current[m.Limit], earlier[m.Limit]
		if !ok || old.Clients != m.Clients || limit.Rate == 0 || oldLimit.Rate == 0 || old.Rate == 0 {
			continue
		}
		c := Change{Name: m.Name, Of: Rate, Limit: m.Limit, Before: old.Rate / oldLimit.Rate, Now: m.Rate / limit.Rate}
		c.Loss = 1 - c.Now/c.Before
		changes = append(changes, c)
		if old.CPU > 0 && m.CPU > 0 && oldLimit.CPU > 0 && limit.CPU > 0 {
			c := Change{Name: m.Name, Of: CPU, Limit: m.Limit, Before: old.CPU / oldLimit.CPU, Now: m.CPU / limit.CPU}
			c.Loss = c.Now/c.Before - 1
			changes = append(changes, c)
		}
	}
	return changes
}

func (r Run) byName() map[string]Measure {
	all := make(map[string]Measure, len(r.Measures))
	for _, m := range r.Measures {
		all[m.Name] = m
	}
	return all
}

// Table returns a table of changes. It marks the losses above the tolerance, a fraction, and returns their number.
func Table(changes []Change, tolerance float64, markdown bool) (text string, losses int) {
	lines := [][]string{{"benchmark", "compared", "limit", "before", "now", "change", "verdict"}}
	for _, c := range changes {
		verdict := "ok"
		if c.Loss > tolerance {
			verdict = fmt.Sprintf("LOST more than %.0f%%", 100*tolerance)
			losses++
		}
		lines = append(lines, []string{c.Name, string(c.Of), c.Limit, ratio(c.Before), ratio(c.Now),
			fmt.Sprintf("%+.0f%%", 100*(c.Now/c.Before-1)), verdict})
	}
	isText := func(column int) bool { return column < 3 || column == 6 }
	return table.Format(lines, isText, markdown), losses
}

func ratio(v float64) string { return strconv.FormatFloat(v, 'g', 3, 64) }
