package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"cardwall/perf/cli"
	"cardwall/perf/client"
)

// The document contains what its counts say, is the same each time, and has matches for every report.
func TestDocument(t *testing.T) {
	const boards = 3
	now := time.Date(2026, 3, 31, 12, 0, 0, 0, time.UTC)
	document := func(part int) []byte {
		var out bytes.Buffer
		if err := writeDocument(&out, "usr_ada", part, boards, now); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	text := document(0)
	if !bytes.Equal(text, document(0)) || bytes.Equal(text, document(1)) {
		t.Error("the first document differs between runs, or equals the second")
	}
	var doc struct {
		Boards   []docBoard `json:"boards"`
		Counts   docCounts  `json:"counts"`
		Complete bool       `json:"complete"`
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	var sum docCounts
	sum.Boards = len(doc.Boards)
	var rare, medium, common, done, due, assigned, mine int
	for _, b := range doc.Boards {
		if !b.Complete || b.BoardVersion != len(b.Activity) || b.Activity[len(b.Activity)-1].BoardVersion != b.BoardVersion {
			t.Errorf("board %q: complete %v, version %d, %d entries", b.Board.Name, b.Complete, b.BoardVersion, len(b.Activity))
		}
		sum.Users += len(b.Users)
		sum.Labels += len(b.Labels)
		sum.Lists += len(b.Lists)
		sum.Cards += len(b.Cards)
		sum.Activity += len(b.Activity)
		for _, c := range b.Cards {
			rare += strings.Count(c.Description, "qu")
			medium += strings.Count(c.Description, mediumWord)
			common += strings.Count(c.Description, commonWord)
			if c.DoneAt != nil {
				done++
			}
			if c.DueDate != nil {
				due++
			}
			assigned += len(c.Assignees)
			if strings.Contains(strings.Join(c.Assignees, " "), "usr_ada") {
				mine++
			}
			if c.CreatedAt > c.UpdatedAt || c.UpdatedAt > now.Format(instantLayout) || c.StartDate != nil && *c.StartDate > *c.DueDate {
				t.Fatalf("the times of card %d are out of order: %+v", c.Number, c)
			}
		}
	}
	if sum != doc.Counts || sum.Boards != boards || sum.Cards != boards*reportCards || !doc.Complete {
		t.Errorf("the document contains %+v but its counts are %+v, complete %v", sum, doc.Counts, doc.Complete)
	}
	if rare != boards || medium != 55 || common != boards*reportCards/commonEvery {
		t.Errorf("the rare words occur %d times, the medium one %d, the common one %d", rare, medium, common)
	}
	for what, n := range map[string]int{"done": done * 3, "due": due * 3 / 2, "assigned": assigned * 6 / 5, "mine": mine * 24} {
		if n < 2000 || n > 4000 {
			t.Errorf("%s: extrapolated to %d cards, want about 3,000", what, n)
		}
	}
}

// The requests are sent in order, and each response is checked for its own text.
func TestReportSourceRotates(t *testing.T) {
	s := &reportSource{requests: []reportPath{{"/a", "one"}, {"/b", "two"}}}
	var r client.Request
	for _, want := range []string{"/a one", "/b two", "/a one"} {
		if err := s.next(&r); err != nil {
			t.Fatal(err)
		}
		path, text, _ := strings.Cut(want, " ")
		if err := s.check([]byte(`{"data":"` + text + `"}`)); err != nil || string(r.Path) != path {
			t.Errorf("path %s, error %v; want %s", r.Path, err, want)
		}
	}
	if err := s.check([]byte(`{"data":"one"}`)); err == nil {
		t.Error("the response to another request was accepted")
	}
}

// The goals of reports are for the median with one client, and a measure without a response misses its goals.
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
	judge(rows)
	for i, want := range []bool{false, true, true, false} {
		if rows[i].missed() != want {
			t.Errorf("row %d: missed is %v: %q", i, rows[i].missed(), rows[i].cells())
		}
	}
	for _, name := range reportMeasures() {
		if p := promises()[name]; p.clients != 1 || p.p50 == 0 {
			t.Errorf("%s has no goal for one client", name)
		}
	}
}

// No server is started if no report is requested.
func TestReportsAreSkipped(t *testing.T) {
	s := &suite{dir: t.TempDir(), options: options{Options: cli.Options{Binary: "/nowhere", Only: regexp.MustCompile("get_card|bare")}}}
	if err := s.measureReports(t.Context()); err != nil {
		t.Error(err)
	}
	s.Only = regexp.MustCompile("calendar")
	if err := s.measureReports(t.Context()); err == nil {
		t.Error("the calendar was skipped")
	}
}
