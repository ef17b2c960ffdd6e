package apptest

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// failing is a test that records its failure. Its run ends in a moment.
type failing struct {
	testing.TB
	text string
}

func (f *failing) Helper()                     {}
func (f *failing) Deadline() (time.Time, bool) { return time.Now().Add(20 * time.Millisecond), true }
func (f *failing) Fatalf(format string, args ...any) {
	f.text = fmt.Sprintf(format, args...)
	panic(f)
}

func TestEventually(t *testing.T) {
	t.Parallel()
	calls := 0
	if got := Await(t, "the third call", func() (int, bool) { calls++; return calls, calls == 3 }); got != 3 {
		t.Errorf("Await: got %d, want 3", got)
	}
	fails := func(wait func(t testing.TB)) string {
		f := &failing{TB: t}
		func() {
			defer func() { _ = recover() }()
			wait(f)
		}()
		return f.text
	}
	text := fails(func(t testing.TB) { Await(t, "it is done", func() (string, bool) { return "half of it", false }) })
	if !strings.Contains(text, "it is done") || !strings.Contains(text, "half of it") {
		t.Errorf("a value that never came: got %q, want what was awaited and seen last", text)
	}
	text = fails(func(t testing.TB) { Eventually(t, "it is done", func() bool { return false }) })
	if text != "timed out waiting until it is done" {
		t.Errorf("a condition that never became true: got %q", text)
	}
}
