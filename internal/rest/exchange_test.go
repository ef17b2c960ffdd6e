package rest_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"cardwall/internal/app"
	"cardwall/internal/apptest"
	"cardwall/internal/op"
	"cardwall/internal/store"
)

// What takes longer than a second is a warning that names the operation, and what
// streams for that long is none.
func TestSlowOperationIsAWarning(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	rest := func(ctx context.Context) {
		select {
		case <-time.After(1100 * time.Millisecond):
		case <-ctx.Done():
		}
	}
	s := apptest.New(t, t.TempDir()+"/cardwall.db", apptest.Options{
		Log: slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelInfo})),
		Registry: func() *op.Registry {
			r := app.Operations()
			r.In("Tests", "What only a test calls.")
			op.Query(r, "take_long", "GET /long", "Take long.", func(ctx context.Context, _ *store.View, _ app.Nothing) (app.Deleted, error) {
				rest(ctx)
				return app.Deleted{}, nil
			})
			op.Stream(r, "stream_long", "GET /stream", "Stream for long.", func(ctx context.Context, _ *store.View, _ app.Nothing, w io.Writer) error {
				rest(ctx)
				_, err := io.WriteString(w, "{}")
				return err
			})
			return r
		},
	})
	ada := s.Person("Ada")
	ada.CallWith("take_long", nil, http.Header{"X-Request-Id": {"mine"}})
	ada.Must("stream_long", nil)
	ada.Must("get_me", nil)
	log := strings.TrimSpace(out.String())
	for _, want := range []string{"level=WARN", `msg="slow request"`, "request=mine", "operation=take_long", "status=200", "seconds=1."} {
		if !strings.Contains(log, want) {
			t.Errorf("the log %q does not say %s", log, want)
		}
	}
	if strings.Count(log, "\n") != 0 {
		t.Errorf("the log has more than one line:\n%s", log)
	}
}
