package compare

import (
	"math"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestChangesAreRelativeToTheLimits(t *testing.T) {
	t.Parallel()
	before := Run{Measures: []Measure{
		{Name: "hello", Clients: 16, Rate: 50_000, CPU: 0.02},
		{Name: "get", Clients: 16, Rate: 10_000, CPU: 0.1, Limit: "hello"},
		{Name: "list", Clients: 16, Rate: 2_000, CPU: 0.5, Limit: "hello"},
		{Name: "report", Clients: 1, Rate: 20, Limit: "hello"},
		{Name: "gone", Clients: 16, Rate: 1, Limit: "hello"},
		{Name: "no limit", Clients: 16, Rate: 1, Limit: "raw"},
	}}
	now := Run{Measures: []Measure{ // on a machine of half the speed
		{Name: "hello", Clients: 16, Rate: 25_000, CPU: 0.04},
		{Name: "get", Clients: 16, Rate: 5_000, CPU: 0.3, Limit: "hello"},
		{Name: "list", Clients: 16, Rate: 500, CPU: 1, Limit: "hello"},
		{Name: "report", Clients: 8, Rate: 10, Limit: "hello"}, // another number of clients
		{Name: "new", Clients: 16, Rate: 1, Limit: "hello"},
		{Name: "no limit", Clients: 16, Rate: 1, Limit: "raw"},
	}}
	want := []Change{
		{"get", Rate, "hello", 0.2, 0.2, 0},
		{"get", CPU, "hello", 5, 7.5, 0.5},
		{"list", Rate, "hello", 0.04, 0.02, 0.5},
		{"list", CPU, "hello", 25, 25, 0},
	}
	got := Changes(before, now)
	if len(got) != len(want) {
		t.Fatalf("got %+v, want %+v", got, want)
	}
	for i, c := range got {
		w := want[i]
		same := c.Name == w.Name && c.Of == w.Of && c.Limit == w.Limit
		for _, pair := range [][2]float64{{c.Before, w.Before}, {c.Now, w.Now}, {c.Loss, w.Loss}} {
			same = same && math.Abs(pair[0]-pair[1]) < 1e-9
		}
		if !same {
			t.Errorf("got change %+v, want %+v", c, w)
		}
	}
	text, losses := Table(got, 0.15, true)
	if losses != 2 || strings.Count(text, "LOST more than 15%") != 2 || !strings.Contains(text, "+50%") || !strings.Contains(text, "-50%") {
		t.Errorf("got %d losses, want 2; want a table that marks two losses, of +50%% and -50%%:\n%s", losses, text)
	}
	if _, losses := Table(got, 0.6, true); losses != 0 {
		t.Errorf("got %d losses with a tolerance of 60%%, want 0", losses)
	}
}

func TestRunIsWrittenAndRead(t *testing.T) {
	t.Parallel()
	run := Run{At: time.Date(2026, 11, 25, 11, 0, 0, 0, time.UTC), Machine: "2 processors",
		Measures: []Measure{{Name: "get", Clients: 16, Rate: 10_000.5, CPU: 0.1, P99: 3, Limit: "hello"}}}
	file := filepath.Join(t.TempDir(), "run.json")
	if err := run.Write(file); err != nil {
		t.Fatal(err)
	}
	got, err := Read(file)
	if err != nil || !reflect.DeepEqual(got, run) {
		t.Errorf("got run %+v (%v), want %+v", got, err, run)
	}
	if _, err := Read(file + ".missing"); err == nil {
		t.Error("reading a missing file: got no error, want one")
	}
}
