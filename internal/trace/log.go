package trace

import (
	"context"
	"log/slog"
)

// Logs returns a handler that adds trace_id and span_id to log lines written within a
// span.
func Logs(h slog.Handler) slog.Handler { return logs{h} }

type logs struct{ slog.Handler }

func (l logs) Handle(ctx context.Context, r slog.Record) error {
	if s := Of(ctx); s != nil {
		r.AddAttrs(slog.String("trace_id", s.TraceID()), slog.String("span_id", s.ID()))
	}
	return l.Handler.Handle(ctx, r)
}

func (l logs) WithAttrs(attrs []slog.Attr) slog.Handler { return logs{l.Handler.WithAttrs(attrs)} }

func (l logs) WithGroup(name string) slog.Handler { return logs{l.Handler.WithGroup(name)} }
