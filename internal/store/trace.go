package store

import (
	"errors"
	"strings"

	"cardwall/internal/board"
	"cardwall/internal/trace"
)

// maxStatements is the maximum number of statements of a transaction that get a span. An
// import runs thousands of statements, but spans for the first ones are enough.
const maxStatements = 256

// statement begins the span of one statement. The span contains the text of the
// statement but never its parameters (OpenTelemetry semantic conventions for database
// client spans). statement returns nil if the transaction is not traced or already has
// maxStatements spans.
func (v *View) statement(text string) *trace.Span {
	if v.span == nil || v.statements >= maxStatements {
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

// summary returns the verb of a statement and the first table that it names, or "" if it
// names none.
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

// ended records the outcome of a transaction and ends its span.
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

// Outcomes of a transaction.
const (
	outcomeOK          = "ok"
	outcomeRefused     = "refused"     // a *board.Fault for the caller
	outcomeUnavailable = "unavailable" // a retry may succeed
	outcomeFailed      = "failed"      // unexpected error
)

func outcomeOf(err error) string {
	if err == nil {
		return outcomeOK
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
