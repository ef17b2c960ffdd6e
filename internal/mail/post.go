package mail

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"cardwall/internal/backoff"
	"cardwall/internal/board"
	"cardwall/internal/trace"
)

// Lease is how long a letter is a node's own once it took it: longer than the
// longest conversation with a server.
const Lease = 4 * sendTimeout

// Box is where letters wait, shared by all nodes.
type Box struct {
	// Next takes the letter that is due longest for the time of Lease; nil when
	// none is due.
	Next func(ctx context.Context) (*board.Letter, error)
	// Done forgets a letter: it was sent, or given up.
	Done func(ctx context.Context, l board.Letter) error
	// Later has it tried again after a pause.
	Later func(ctx context.Context, l board.Letter, pause time.Duration) error
}

// Post sends what waits in a box.
type Post struct {
	Box    Box
	Sender *Sender
	Log    *slog.Logger
	Sent   *Metrics      // nil for none
	Traces *trace.Tracer // nil for none
}

// lookEvery is how soon a letter leaves after the change that wrote it.
const lookEvery = 2 * time.Second

// Run sends letters until ctx ends; the one under way is finished first.
func (p *Post) Run(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	failures := backoff.NewLog(p.Log)
	for {
		if err := p.Deliver(ctx); err == nil {
			failures.Succeeded("emails wait")
		} else if ctx.Err() == nil {
			failures.Failed("emails wait", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Deliver sends all letters that are due now. Its error is the box's; what
// becomes of a letter is in the log and in the box.
func (p *Post) Deliver(ctx context.Context) error {
	for ctx.Err() == nil {
		l, err := p.Box.Next(ctx)
		if err != nil || l == nil {
			return err
		}
		// What was taken is brought to its end, so that it is not sent twice.
		if err := p.deliver(context.WithoutCancel(ctx), *l); err != nil {
			return err
		}
	}
	return nil
}

func (p *Post) deliver(ctx context.Context, l board.Letter) error {
	ctx, span := p.Traces.Start(ctx, "send letter", trace.Client, trace.Link{})
	outcome, err := p.attempt(ctx, l)
	p.Sent.attempted(outcome)
	span.Text("cardwall.letter.kind", string(l.Kind))
	span.Number("cardwall.letter.attempt", int64(l.Attempt))
	span.Text("cardwall.outcome", outcome)
	if outcome != sent {
		span.Fail(outcome)
	}
	span.End()
	return err
}

// attempt sends a letter, and tells what became of it. Its error is the box's.
func (p *Post) attempt(ctx context.Context, l board.Letter) (outcome string, err error) {
	m, err := Write(l)
	if err == nil {
		err = p.Sender.Send(ctx, m)
	} else {
		err = errors.Join(errFinal, err)
	}
	if err == nil {
		return sent, p.Box.Done(ctx, l)
	}
	log := p.Log.With("letter", l.ID, "kind", l.Kind, "attempt", l.Attempt, "error", err)
	all := pauses()
	if errors.Is(err, errFinal) || l.Attempt > len(all) {
		log.Error("gave an email up")
		return givenUp, p.Box.Done(ctx, l)
	}
	pause := all[l.Attempt-1]
	log.Warn("an email was not sent, and will be tried again", "pause", pause)
	return later, p.Box.Later(ctx, l, pause)
}
