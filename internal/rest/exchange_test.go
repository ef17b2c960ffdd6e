package rest_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"cardwall/internal/app"
	"cardwall/internal/apptest"
	"cardwall/internal/op"
	"cardwall/internal/store"
)

// An operation that takes longer than a second is logged as a warning with its name. A
// stream of the same duration is not.
func TestSlowOperationIsAWarning(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	wait := func(ctx context.Context) {
		select {
		case <-time.After(1100 * time.Millisecond):
		case <-ctx.Done():
		}
	}
	s := apptest.New(t, t.TempDir()+"/cardwall.db", apptest.Options{
		Log: slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelInfo})),
		Registry: func() *op.Registry {
			r := app.Operations()
			r.In("Tests", "Operations for a test.")
			op.Query(r, "take_long", "GET /long", "Take long.",
				func(ctx context.Context, _ *store.View, _ app.Nothing) (app.Deleted, error) {
					wait(ctx)
					return app.Deleted{}, nil
				})
			op.Stream(r, "stream_long", "GET /stream", "Stream for long.",
				func(ctx context.Context, _ *store.View, _ app.Nothing, w io.Writer) error {
					wait(ctx)
					_, err := io.WriteString(w, "{}")
					return err
				})
			return r
		},
	})
	ada := s.Person("Ada")
	ada.CallWith("take_long", nil, http.Header{"X-Request-Id": {"mine"}})
	ada.Must("stream_long", nil)
	start := time.Now()
	ada.Must("get_me", nil)
	quick := time.Since(start) < time.Second
	log, others := "", ""
	for line := range strings.Lines(out.String()) {
		switch {
		case strings.Contains(line, "operation=take_long"):
			log += line
		case quick || !strings.Contains(line, "operation=get_me"): // on a busy machine, get_me may be slow
			others += line
		}
	}
	for _, want := range []string{"level=WARN", `msg="slow request"`, "request=mine", "status=200"} {
		if !strings.Contains(log, want) {
			t.Errorf("got the log %q, want %s in it", log, want)
		}
	}
	if !regexp.MustCompile(`seconds=[1-9]\d?\.`).MatchString(log) || strings.Count(log, "\n") != 1 || others != "" {
		t.Errorf("got the log\n%swant exactly one line, about take_long, with its duration", out.String())
	}
}
