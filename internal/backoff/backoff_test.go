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

func TestLogHasOneLineForEachChange(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	l := NewLog(slog.New(slog.NewTextHandler(&out, nil)))
	now := time.Now()
	l.now = func() time.Time { return now }
	refused := errors.New("connection refused")
	var pauses []time.Duration
	for range 8 {
		pauses = append(pauses, l.Failed("the list cannot be read", refused))
	}
	if pauses[0] != shortest || pauses[1] != 2*shortest || pauses[7] != longest {
		t.Errorf("the pauses are %v", pauses)
	}
	if n := strings.Count(out.String(), "\n"); n != 1 {
		t.Errorf("eight failures leave %d lines:\n%s", n, &out)
	}
	now = now.Add(remind)
	l.Failed("the list cannot be read", refused)
	l.Failed("the other cannot be read", refused)
	l.Succeeded("the list cannot be read")
	l.Succeeded("the list cannot be read")
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 4 || !strings.Contains(lines[1], "failures=9 for=5m0s") ||
		!strings.Contains(lines[3], `msg="recovered: the list cannot be read" failures=9 for=5m0s`) {
		t.Errorf("the log is:\n%s", &out)
	}
	if pause := l.Failed("the list cannot be read", refused); pause != shortest {
		t.Errorf("after a success the pause is %s", pause)
	}
}

func TestPauseEndsWithItsContext(t *testing.T) {
	if !Pause(t.Context(), time.Millisecond) {
		t.Error("a pause was interrupted")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if Pause(ctx, time.Hour) {
		t.Error("a pause ended, although its context had ended")
	}
}
