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
	Done func(ctx context.Context, e board.Email) error
	// Later schedules the next attempt after a pause.
	Later func(ctx context.Context, e board.Email, pause time.Duration) error
}

// Worker sends the emails in a queue.
type Worker struct {
	Queue   Queue
	Sender  *Sender
	Log     *slog.Logger
	Metrics *Metrics      // may be nil
	Traces  *trace.Tracer // may be nil
}

// pollInterval is the time between checks for due emails. It delays the first attempt to
// send an email.
const pollInterval = 2 * time.Second

// Run sends emails until ctx ends. Before it returns, it finishes the attempt in
// progress.
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

// SendDue sends all emails that are due, or stops after the current one if ctx ends. It
// returns only queue errors. If an email cannot be sent, SendDue logs the failure, and
// schedules a retry or drops the email.
func (w *Worker) SendDue(ctx context.Context) error {
	for ctx.Err() == nil {
		e, err := w.Queue.Next(ctx)
		if err != nil || e == nil {
			return err
		}
		// Finish an attempt that has begun, so that the email is not sent twice.
		if err := w.send(context.WithoutCancel(ctx), *e); err != nil {
			return err
		}
	}
	return nil
}

func (w *Worker) send(ctx context.Context, e board.Email) error {
	ctx, span := w.Traces.Start(ctx, "send email", trace.Client, trace.Link{})
	outcome, err := w.attempt(ctx, e)
	w.Metrics.attempted(outcome)
	span.Text("cardwall.email.kind", string(e.Kind))
	span.Number("cardwall.email.attempt", int64(e.Attempt))
	span.Text("cardwall.outcome", outcome)
	if outcome != sent {
		span.Fail(outcome)
	}
	span.End()
	return err
}

// attempt tries to send an email and returns the outcome. It returns an error only
// if the queue fails.
func (w *Worker) attempt(ctx context.Context, e board.Email) (outcome string, err error) {
	m, err := Compose(e)
	if err == nil {
		err = w.Sender.Send(ctx, m)
	} else {
		err = errors.Join(errPermanent, err)
	}
	if err == nil {
		return sent, w.Queue.Done(ctx, e)
	}
	log := w.Log.With("email", e.ID, "kind", e.Kind, "attempt", e.Attempt, "error", err)
	pauses := retryPauses()
	if errors.Is(err, errPermanent) || e.Attempt > len(pauses) {
		log.Error("email dropped")
		return givenUp, w.Queue.Done(ctx, e)
	}
	pause := pauses[e.Attempt-1]
	log.Warn("email not sent; will retry", "pause", pause)
	return later, w.Queue.Later(ctx, e, pause)
}

// retryPauses returns the pauses after failed attempts, about two days in total.
func retryPauses() []time.Duration {
	return []time.Duration{
		time.Minute, 5 * time.Minute, 15 * time.Minute,
		time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour,
	}
}
