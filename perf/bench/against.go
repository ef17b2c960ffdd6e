package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"cardwall/perf/compare"
)

// tolerance is the fraction of an earlier result that a benchmark may lose.
const tolerance = 0.15

// compare writes the results to the file of -save and prints a comparison with the file of -against, if these flags are
// set. It omits paced benchmarks and single values. It reports whether a benchmark lost more than the tolerance.
func (s *suite) compare(stdout io.Writer, machine string) (lost bool, err error) {
	now := compare.Run{At: time.Now().UTC().Truncate(time.Second), Machine: machine}
	for _, r := range s.rows {
		res := r.result
		if res == nil || isPaced(r.name) {
			continue
		}
		now.Measures = append(now.Measures, compare.Measure{
			Name: r.name, Clients: res.clients, Rate: res.rate(), CPU: res.perRequest(res.serverCPU),
			P99: milliseconds(res.latency.Quantile(0.99)), Limit: limitOf(r.name),
		})
	}
	if s.save != "" {
		if err := now.Write(s.save); err != nil {
			return false, err
		}
	}
	if s.against == "" {
		return false, nil
	}
	before, err := compare.Read(s.against)
	if err != nil {
		return false, err
	}
	changes := compare.Changes(before, now)
	if len(changes) == 0 {
		return false, fmt.Errorf("%s and this run have no benchmark and limit in common", s.against)
	}
	text, losses := compare.Table(changes, tolerance, s.Markdown)
	_, err = fmt.Fprintf(stdout, "\nCompared with %s of %s, %s\nEach value is the ratio to the limit of its run.\n\n%s",
		s.against, before.At.Format("2 January 2006 at 15:04 UTC"), before.Machine, text)
	return losses > 0, err
}

// isPaced reports whether a benchmark belongs to a group that sends requests at a fixed rate. Rates in such a group say
// nothing about the speed.
func isPaced(name string) bool {
	return strings.Contains(name, "1,000/s") || strings.HasPrefix(name, "automation") || strings.HasPrefix(name, "overload") ||
		name == nameSoak
}
