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

// Lease is how long an email is reserved for the server that took it from the
// queue. It is longer than the longest SMTP conversation.
const Lease = 4 * sendTimeout

// Queue holds the emails to send. All servers share it.
type Queue struct {
	// Next reserves the oldest due email for the duration of Lease. It returns
	// nil if no email is due.
	Next func(ctx context.Context) (*board.Email, error)
	// Done removes an email that was sent or dropped.
	Done func(ctx context.Context, l board.Email) error
	// Later schedules the next attempt after a pause.
	Later func(ctx context.Context, l board.Email, pause time.Duration) error
}

// Worker sends the emails in a queue.
type Worker struct {
	Queue   Queue
	Sender  *Sender
	Log     *slog.Logger
	Metrics *Metrics      // may be nil
	Traces  *trace.Tracer // may be nil
}

// pollInterval bounds the time between the change that queued an email and the
// first attempt to send it.
const pollInterval = 2 * time.Second

// Run sends emails until ctx ends. It finishes an attempt in progress first.
func (w *Worker) Run(ctx context.Context) {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	failures := backoff.NewLog(w.Log)
	for {
		if err := w.SendDue(ctx); err == nil {
			failures.Succeeded("email queue unavailable")
		} else if ctx.Err() == nil {
			failures.Failed("email queue unavailable", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// SendDue sends all emails that are due. It returns only errors of the queue; it
// logs the failure of an email and schedules a retry.
func (w *Worker) SendDue(ctx context.Context) error {
	for ctx.Err() == nil {
		l, err := w.Queue.Next(ctx)
		if err != nil || l == nil {
			return err
		}
		// An attempt that has begun is completed, so that the email is not sent twice.
		if err := w.send(context.WithoutCancel(ctx), *l); err != nil {
			return err
		}
	}
	return nil
}

func (w *Worker) send(ctx context.Context, l board.Email) error {
	ctx, span := w.Traces.Start(ctx, "send email", trace.Client, trace.Link{})
	outcome, err := w.attempt(ctx, l)
	w.Metrics.attempted(outcome)
	span.Text("cardwall.email.kind", string(l.Kind))
	span.Number("cardwall.email.attempt", int64(l.Attempt))
	span.Text("cardwall.outcome", outcome)
	if outcome != sent {
		span.Fail(outcome)
	}
	span.End()
	return err
}

// attempt tries to send an email and returns the outcome. The error is that of
// the queue.
func (w *Worker) attempt(ctx context.Context, l board.Email) (outcome string, err error) {
	m, err := Compose(l)
	if err == nil {
		err = w.Sender.Send(ctx, m)
	} else {
		err = errors.Join(errPermanent, err)
	}
	if err == nil {
		return sent, w.Queue.Done(ctx, l)
	}
	log := w.Log.With("email", l.ID, "kind", l.Kind, "attempt", l.Attempt, "error", err)
	pauses := retryPauses()
	if errors.Is(err, errPermanent) || l.Attempt > len(pauses) {
		log.Error("email dropped")
		return givenUp, w.Queue.Done(ctx, l)
	}
	pause := pauses[l.Attempt-1]
	log.Warn("email not sent; will retry", "pause", pause)
	return later, w.Queue.Later(ctx, l, pause)
}

// retryPauses returns the pauses after failed attempts, about two days in total.
func retryPauses() []time.Duration {
	return []time.Duration{
		time.Minute, 5 * time.Minute, 15 * time.Minute,
		time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour,
	}
}
