package automate

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"cardwall/internal/backoff"
	"cardwall/internal/board"
	"cardwall/internal/store"
	"cardwall/internal/trace"
)

// task is an event with a rule that it may trigger.
type task struct {
	rule       *board.Rule
	occurrence *store.Occurrence
}

// work handles the changes to a board until none are left. It returns true if some must
// be handled later.
func (e *Engine) work(ctx context.Context, boardID string) (again bool) {
	e.mu.Lock()
	handled := e.known[boardID]
	e.mu.Unlock()
	if e.o.DB.Shared() {
		at, held, err := e.o.DB.ClaimBoard(ctx, boardID, e.o.Holder, claimTime)
		if err != nil || !held {
			if err != nil {
				e.failed(ctx, cannotClaim, err)
			}
			return err != nil // the server with the lease sees the same changes
		}
		handled = at
		defer func() {
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
			defer cancel()
			if err := e.o.DB.Progress(last, e.o.Holder, map[string]int64{boardID: handled}, true); err != nil {
				e.failed(ctx, cannotNote, err)
			}
		}()
	}
	claimed := time.Now()
	for ctx.Err() == nil {
		tasks, workspaceID, last, err := e.read(ctx, boardID, handled)
		if err != nil {
			e.failed(ctx, cannotRead, err)
			return true
		}
		e.failures.Succeeded(cannotClaim, cannotRead)
		if last == handled {
			return false
		}
		if !e.all(ctx, workspaceID, tasks) {
			return true
		}
		handled = last
		e.mu.Lock()
		e.known[boardID] = handled
		if !e.o.DB.Shared() {
			e.handled[boardID] = handled
		}
		e.mu.Unlock()
		if e.o.DB.Shared() && time.Since(claimed) > claimTime/3 {
			if _, held, err := e.o.DB.ClaimBoard(ctx, boardID, e.o.Holder, claimTime); err != nil || !held {
				return true
			}
			claimed = time.Now()
		}
	}
	return false
}

// read reads the changes to a board after the given version, and returns a task for each
// rule that they may trigger.
func (e *Engine) read(ctx context.Context, boardID string, handled int64) (tasks []task, workspaceID string, last int64, err error) {
	err = e.o.DB.Read(ctx, board.System(), func(v *store.View) error {
		tasks, last = nil, handled
		b, err := v.Board(ctx, boardID, board.View)
		if board.IsCode(err, board.CodeNotFound) {
			return nil // trashed or deleted: its earlier events are not handled
		}
		if err != nil {
			return err
		}
		workspaceID = b.WorkspaceID
		if !b.Features.Automation {
			last = b.Version
			return nil
		}
		rules, err := v.EnabledRules(ctx, boardID, false)
		if err != nil {
			return err
		}
		byKind := map[board.Kind][]*board.Rule{}
		for i := range rules {
			for _, k := range rules[i].When.Event.Kinds() {
				byKind[k] = append(byKind[k], &rules[i])
			}
		}
		changes, err := v.Occurrences(ctx, boardID, handled, changesRead, func(k board.Kind) bool { return byKind[k] != nil })
		if err != nil {
			return err
		}
		for i := range changes {
			o := &changes[i]
			last = o.BoardVersion
			for _, r := range byKind[o.Type] {
				if o.BoardVersion > r.Since && triggers(r.When, o) {
					tasks = append(tasks, task{r, o})
				}
			}
		}
		return nil
	})
	return tasks, workspaceID, last, err
}

// all runs the tasks. Tasks for the same card run in order, and tasks for different cards
// run concurrently. It returns false if some tasks must be retried.
func (e *Engine) all(ctx context.Context, workspaceID string, tasks []task) bool {
	var order []string
	byCard := map[string][]task{}
	for _, t := range tasks {
		id := ""
		if t.occurrence.CardID != nil {
			id = *t.occurrence.CardID
		}
		if byCard[id] == nil {
			order = append(order, id)
		}
		byCard[id] = append(byCard[id], t)
	}
	var (
		group  sync.WaitGroup
		failed atomic.Bool
	)
	for _, id := range order {
		e.runs <- struct{}{}
		group.Go(func() {
			defer func() { <-e.runs }()
			for _, t := range byCard[id] {
				if failed.Load() || ctx.Err() != nil || !e.runWithRetries(ctx, workspaceID, t.rule, t.occurrence) {
					failed.Store(true)
					return
				}
			}
		})
	}
	group.Wait()
	return !failed.Load()
}

// runWithRetries runs a rule, with retries if needed. It returns false if the run must be
// retried later, because the database is unavailable or ctx has ended. An unexpected
// error is logged and recorded as a failed run, so that it does not block later events.
func (e *Engine) runWithRetries(ctx context.Context, workspaceID string, r *board.Rule, o *store.Occurrence) bool {
	ctx, span := e.o.Traces.Start(ctx, "automation run", trace.Internal, trace.Link{})
	outcome := "failed"
	defer func() {
		span.Text("cardwall.rule.id", r.ID)
		span.Text("cardwall.board.id", r.BoardID)
		span.Text("cardwall.event.type", string(o.Type))
		span.Text("cardwall.outcome", outcome)
		if outcome == "failed" {
			span.Fail(outcome)
		}
		span.End()
	}()
	for try := 1; ; try++ {
		done := false
		ok, err := e.likely(ctx, workspaceID, r, o)
		if ok && err == nil {
			done, err = e.run(ctx, workspaceID, r, o)
		}
		switch {
		case err == nil:
			e.failures.Succeeded(cannotRun)
			e.o.Metrics.ran(done, o, board.InstantOf(e.o.DB.Now()))
			outcome = "nothing to do"
			if done {
				outcome = "done"
			}
			return true
		case ctx.Err() != nil:
			return false
		case board.IsCode(err, board.CodeUnavailable):
			e.failed(ctx, cannotRun, err)
			return false
		case try < maxAttempts:
			backoff.Pause(ctx, attemptPause)
			continue
		}
		e.o.Log.Error("rule failed unexpectedly", "rule", r.ID, "event", o.Key, "error", err)
		return e.giveUp(ctx, r, o)
	}
}

// likely reports whether a card matches a rule, so that a card that does not
// match needs no write transaction. The run checks again.
func (e *Engine) likely(ctx context.Context, workspaceID string, r *board.Rule, o *store.Occurrence) (ok bool, err error) {
	if r.If == "" && r.When.Event != board.OnChecklistCompleted {
		return true, nil
	}
	err = e.o.DB.Read(ctx, board.ByRule(r.ID, r.Owner.ID, workspaceID, ""), func(v *store.View) error {
		q, err := condition(ctx, r, v, "if")
		if _, refused := board.AsFault(err); refused {
			ok = true // the run reports the error
			return nil
		}
		if err == nil {
			ok, err = v.Matches(ctx, r.BoardID, *o.CardID, q)
		}
		if err == nil && ok && r.When.Event == board.OnChecklistCompleted {
			ok, err = complete(ctx, v, o)
		}
		return err
	})
	return ok, err
}

// giveUp records that a run failed with an unexpected error. It returns false if that
// fails too.
func (e *Engine) giveUp(ctx context.Context, r *board.Rule, o *store.Occurrence) bool {
	root, _ := store.CauseOf(o.Cause)
	if root == "" {
		root = o.ID
	}
	run := store.Run{Key: o.Key, Root: root, RuleRun: board.RuleRun{
		RuleID: r.ID, BoardID: r.BoardID, Type: o.Type, CardID: o.CardID, Status: board.RunFailed, Reason: unexpected,
	}}
	if !slices.Contains([]board.Kind{board.KindCardDue, board.KindCardOverdue}, o.Type) {
		run.Version = &o.BoardVersion
	}
	err := e.o.DB.Write(ctx, board.System(), func(tx *store.Tx) error { return tx.InsertRun(ctx, &run) })
	if err != nil {
		e.failed(ctx, cannotGiveUp, err)
	} else {
		e.failures.Succeeded(cannotGiveUp)
	}
	return err == nil
}
