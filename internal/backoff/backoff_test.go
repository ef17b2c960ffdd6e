package backoff

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"
)

func TestLogHasOneLinePerChangeAndInterval(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	l := NewLog(slog.New(slog.NewTextHandler(&out, nil)))
	now := time.Now()
	l.now = func() time.Time { return now }
	refused := errors.New("connection refused")
	var pauses []time.Duration
	for range 8 {
		pauses = append(pauses, l.Failed("list not read", refused))
	}
	if pauses[0] != minPause || pauses[1] != 2*minPause || pauses[7] != maxPause {
		t.Errorf("got the pauses %v, want them to double from %s to %s", pauses, minPause, maxPause)
	}
	if n := strings.Count(out.String(), "\n"); n != 1 {
		t.Errorf("after eight failures: got %d lines, want 1:\n%s", n, &out)
	}
	now = now.Add(logInterval)
	l.Failed("list not read", refused)
	l.Failed("other list not read", refused)
	l.Succeeded("list not read")
	l.Succeeded("list not read")
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 4 || !strings.Contains(lines[1], "failures=9 for=5m0s") ||
		!strings.Contains(lines[3], `msg="recovered: list not read" failures=9 for=5m0s`) {
		t.Errorf("got the log\n%swant four lines, with a second warning after nine failures, and a recovery at the end", &out)
	}
	if pause := l.Failed("list not read", refused); pause != minPause {
		t.Errorf("after a success: got the pause %s, want %s", pause, minPause)
	}
}

func TestPauseEndsWithItsContext(t *testing.T) {
	if !Pause(t.Context(), time.Millisecond) {
		t.Error("Pause of 1 ms = false, want true")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if Pause(ctx, time.Hour) {
		t.Error("Pause with a canceled context = true, want false")
	}
}
