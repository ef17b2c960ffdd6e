package board

import (
	"strings"
	"testing"
)

func TestAtOnce(t *testing.T) {
	t.Parallel()
	var a AtOnce
	start := func(person string) (end func(), err error) { return a.Start(person, "exports", 2, 3) }
	must := func(person string) func() {
		t.Helper()
		end, err := start(person)
		if err != nil {
			t.Fatal(err)
		}
		return end
	}
	refused := func(person, want string) {
		t.Helper()
		_, err := start(person)
		f, ok := AsFault(err)
		if !ok || f.Code != CodeRateLimited || f.Reason != ReasonTooManyAtOnce || f.RetryAfter == 0 || !strings.Contains(f.Message, want) {
			t.Errorf("got %v, want too_many_at_once with %q", err, want)
		}
	}
	end := must("ada")
	must("ada")
	refused("ada", "A person can run 2 exports")
	endGrace := must("grace")
	refused("grace", "The server is running as many exports as it can")
	end()
	endGrace()
	must("grace")
	must("grace")
	refused("linus", "The server is running")
}
