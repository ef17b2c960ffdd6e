package main

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"cardwall/perf/cli"
	"cardwall/perf/client"
)

// The requests are sent in order, and each response must contain the text expected for its request.
func TestReportSourceRotates(t *testing.T) {
	s := &reportSource{requests: []reportPath{{"/a", "one"}, {"/b", "two"}}}
	var r client.Request
	for _, want := range []string{"/a one", "/b two", "/a one"} {
		if err := s.next(&r); err != nil {
			t.Fatal(err)
		}
		path, text, _ := strings.Cut(want, " ")
		if err := s.check([]byte(`{"data":"` + text + `"}`)); err != nil || string(r.Path) != path {
			t.Errorf("got path %s, error %v; want %s and no error", r.Path, err, path)
		}
	}
	if err := s.check([]byte(`{"data":"one"}`)); err == nil {
		t.Error("check accepted a response without the text expected for the next request")
	}
}

// The goals for reports apply to the median with one client. A benchmark without responses misses its goals.
func TestReportGoals(t *testing.T) {
	measured := func(clients, count int, took time.Duration) row {
		r := &result{name: nameCalendar, clients: clients, units: 1, elapsed: time.Second}
		for range count {
			r.latency.Add(took)
		}
		return row{name: nameCalendar, result: r}
	}
	rows := []row{
		measured(1, 10, 20*time.Millisecond), measured(1, 10, 40*time.Millisecond), measured(1, 0, 0),
		measured(goalClients, 10, 40*time.Millisecond),
	}
	addGoals(rows)
	for i, want := range []bool{false, true, true, false} {
		if rows[i].missed() != want {
			t.Errorf("row %d: missed() = %v, want %v: %q", i, rows[i].missed(), want, rows[i].cells())
		}
	}
	for _, name := range reportNames() {
		if p := targets()[name]; p.clients != 1 || p.p50 == 0 {
			t.Errorf("%s has no goal for one client", name)
		}
	}
}

// measureReports does not start a server if no report is requested.
func TestReportsAreSkipped(t *testing.T) {
	s := &suite{dir: t.TempDir(), options: options{Options: cli.Options{Binary: "/nowhere", Only: regexp.MustCompile("get_card|bare")}}}
	if err := s.measureReports(t.Context()); err != nil {
		t.Error(err)
	}
	s.Only = regexp.MustCompile("calendar")
	if err := s.measureReports(t.Context()); err == nil {
		t.Error("measureReports skipped the calendar")
	}
}
