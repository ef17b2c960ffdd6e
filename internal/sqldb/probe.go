package sqldb

import (
	"context"
	"database/sql"
	"errors"
)

// ErrProbe means that a function needs a transaction.
var ErrProbe = errors.New("a probe has run all its queries")

// probe is a Runner that runs a limited number of queries without a transaction.
type probe struct {
	Runner
	queries int  // number of queries that may still run
	refused bool // fn needed more
}

func (p *probe) Query(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	if p.queries == 0 {
		p.refused = true
		return nil, ErrProbe
	}
	p.queries--
	return p.Runner.Query(ctx, text, args...)
}

func (p *probe) Expect(string, ...any) {}

// result returns the result of Probe for the result of fn.
func (p *probe) result(err error) error {
	if p.refused {
		return ErrProbe
	}
	return err
}

// Probe implements Engine. A caller of DataVersion may have cached everything that fn needs.
func (e *sqliteEngine) Probe(_ context.Context, fn func(Runner) error) error {
	var p probe
	return p.result(fn(&p))
}

// Probe implements Engine. A transaction would take two round trips instead of one. If there is
// a pooler, Probe returns ErrProbe, because a query outside a transaction would lack the settings.
func (e *postgresEngine) Probe(ctx context.Context, fn func(Runner) error) error {
	if len(e.preamble) > 0 {
		return ErrProbe
	}
	var p probe
	return p.result(snapshot(ctx, e.primary, never, nil, func(r Runner) error {
		p = probe{Runner: r, queries: 1}
		return fn(&p)
	}))
}
