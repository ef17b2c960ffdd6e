package store

import (
	"errors"
	"strings"

	"cardwall/internal/board"
	"cardwall/internal/trace"
)

// statementsMost is how many statements of one transaction are recorded: an import
// has thousands, of which the first say enough.
const statementsMost = 256

// statement begins the span of one statement: its text, never what is bound to it
// (semantic conventions of OpenTelemetry for database client spans). nil when the
// transaction is not recorded.
func (v *View) statement(text string) *trace.Span {
	if v.span == nil || v.statements >= statementsMost {
		return nil
	}
	v.statements++
	verb, table := summary(text)
	s := v.span.Begin(strings.TrimSpace(verb+" "+table), trace.Client)
	s.Text("db.system.name", v.db.dialect().System)
	s.Text("db.operation.name", verb)
	s.Text("db.collection.name", table)
	s.Text("db.query.text", text)
	return s
}

// summary is what a statement does, and the table that it names first.
func summary(text string) (verb, table string) {
	words := strings.Fields(text)
	if len(words) == 0 {
		return "", ""
	}
	for i, w := range words[:len(words)-1] {
		switch strings.TrimLeft(w, "(") {
		case "FROM", "INTO", "UPDATE":
			name, _, _ := strings.Cut(words[i+1], "(")
			if name = strings.TrimRight(name, ",;)"); name != "" && name != "SET" {
				return words[0], name
			}
		}
	}
	return words[0], ""
}

// ended notes what became of a transaction.
func (db *DB) ended(s *trace.Span, kind string, err error) {
	outcome := outcomeOf(err)
	db.opts.Metrics.transactions.WithLabelValues(kind, outcome).Inc()
	if s == nil {
		return
	}
	s.Text("db.system.name", db.dialect().System)
	s.Text("cardwall.outcome", outcome)
	if outcome == outcomeUnavailable || outcome == outcomeFailed {
		s.Fail(outcome)
	}
	s.End()
}

// What becomes of a transaction.
const (
	outcomeDone        = "ok"
	outcomeRefused     = "refused"     // by a rule of ours; the caller is told which
	outcomeUnavailable = "unavailable" // the database took it not; a retry may
	outcomeFailed      = "failed"      // in a way that nobody expected
)

func outcomeOf(err error) string {
	if err == nil {
		return outcomeDone
	}
	var f *board.Fault
	switch {
	case !errors.As(err, &f):
		return outcomeFailed
	case f.Code == board.CodeUnavailable:
		return outcomeUnavailable
	}
	return outcomeRefused
}
