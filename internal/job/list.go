package job

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// Lists holds the functions that jobs call to create a list.
type Lists struct {
	// Draft calls part with successive parts of the list's cards.
	Draft func(ctx context.Context, v *store.View, j *store.RunningJob, part func(store.ListPart) error) error
	// Show makes the list visible and returns its id.
	Show func(ctx context.Context, tx *store.Tx, j *store.RunningJob) (listID string, err error)
	// Event returns the event for a card that a job has created. after is the id of the
	// preceding card.
	Event func(c store.WholeCard, after string) board.Event
}

// Moves holds the functions that jobs call to move a list to another board.
type Moves struct {
	// Check returns an error if the list cannot be moved. It is called before Start, in a
	// read-only transaction.
	Check func(ctx context.Context, v *store.View, j *store.RunningJob) error
	// Start locks the list. From then on the job neither fails nor can be canceled.
	Start func(ctx context.Context, tx *store.Tx, j *store.RunningJob) error
	// Continue moves some cards, or the list, and reports whether all have moved. It is
	// called until it returns true.
	Continue func(ctx context.Context, tx *store.Tx, j *store.RunningJob) (done bool, err error)
}

// moveList moves a list to another board, a few cards at a time.
func (e *Engine) moveList(ctx context.Context, j *store.RunningJob) error {
	if !j.Moving {
		if err := e.startMove(ctx, j); err != nil {
			return fmt.Errorf("start to move list: %w", err)
		}
		j.Moving = true
	}
	caller := asSystem(j.Caller)
	caller.Client = "" // the page that started the job has not seen these changes yet
	for done := false; !done; {
		if err := e.heldFor(ctx, caller, j, func(tx *store.Tx) (err error) {
			done, err = e.o.Moves.Continue(ctx, tx, j)
			return err
		}); err != nil {
			return fmt.Errorf("move list: %w", err)
		}
	}
	return nil
}

func (e *Engine) startMove(ctx context.Context, j *store.RunningJob) error {
	if err := e.o.DB.Stream(ctx, j.Caller, func(v *store.View) error {
		if err := callerAllowed(ctx, v); err != nil {
			return err
		}
		return e.o.Moves.Check(ctx, v, j)
	}); err != nil {
		return err
	}
	return e.heldFor(ctx, j.Caller, j, func(tx *store.Tx) error {
		if err := callerAllowed(ctx, tx.View); err != nil {
			return err
		}
		return e.o.Moves.Start(ctx, tx, j)
	})
}

// workOnList drafts the cards of a list, writes them while the list is hidden, makes the
// list visible, and then writes the activity entries of the cards.
func (e *Engine) workOnList(ctx context.Context, j *store.RunningJob) error {
	if j.Parts < 0 {
		if err := e.draftList(ctx, j); err != nil {
			return fmt.Errorf("draft: %w", err)
		}
	}
	if j.Recorded < 0 {
		for n := j.Written; n < j.Parts; n++ {
			if err := e.withPart(ctx, board.System(), j, n, func(tx *store.Tx, p store.ListPart) error {
				return tx.WriteListPart(ctx, j.ID, n, p)
			}); err != nil {
				return fmt.Errorf("write part %d: %w", n, err)
			}
		}
		if err := e.showList(ctx, j); err != nil {
			return fmt.Errorf("show list: %w", err)
		}
	}
	caller := asSystem(j.Caller)
	for n := max(j.Recorded, 0); n < j.Parts; n++ {
		if err := e.withPart(ctx, caller, j, n, func(tx *store.Tx, p store.ListPart) error {
			return tx.RecordListPart(ctx, j.ID, n, p, e.o.Lists.Event)
		}); err != nil {
			return fmt.Errorf("record part %d: %w", n, err)
		}
	}
	return e.held(ctx, j, func(tx *store.Tx) error { return tx.EndJobList(ctx, j.ID, true) })
}

// asSystem returns the caller of a job for work that must complete even if the caller has
// lost the required permission. The caller is still the actor of the events.
func asSystem(c board.Caller) board.Caller {
	c.System = true
	return c
}

// draftList stores the parts of a job that creates a list.
func (e *Engine) draftList(ctx context.Context, j *store.RunningJob) error {
	if err := e.dropParts(ctx, j); err != nil {
		return err
	}
	parts, cards := 0, 0
	if err := e.o.DB.Stream(ctx, j.Caller, func(v *store.View) error {
		if err := callerAllowed(ctx, v); err != nil {
			return err
		}
		return e.o.Lists.Draft(ctx, v, j, func(p store.ListPart) error {
			body, err := json.Marshal(p)
			if err != nil {
				return fmt.Errorf("encode part: %w", err)
			}
			if err := e.storeOwnPart(ctx, j, parts, store.Part{Body: body, Records: len(p.Cards)}); err != nil {
				return err
			}
			parts++
			cards += len(p.Cards)
			return nil
		})
	}); err != nil {
		return err
	}
	j.Parts = parts
	return e.held(ctx, j, func(tx *store.Tx) error { return tx.SetListParts(ctx, j.ID, parts, cards) })
}

// withPart runs fn with one part in a slice if this server still holds the lease for the
// job.
func (e *Engine) withPart(ctx context.Context, caller board.Caller, j *store.RunningJob, n int,
	fn func(*store.Tx, store.ListPart) error) error {
	part, err := e.part(ctx, j, n)
	if err != nil {
		return err
	}
	var p store.ListPart
	if err := json.Unmarshal(part.Body, &p); err != nil {
		return fmt.Errorf("decode part: %w", err)
	}
	return e.heldFor(ctx, caller, j, func(tx *store.Tx) error { return fn(tx, p) })
}

// showList makes the list of a job visible, on behalf of the job's caller.
func (e *Engine) showList(ctx context.Context, j *store.RunningJob) error {
	return e.heldFor(ctx, j.Caller, j, func(tx *store.Tx) error {
		if err := callerAllowed(ctx, tx.View); err != nil {
			return err
		}
		id, err := e.o.Lists.Show(ctx, tx, j)
		if err != nil {
			return err
		}
		return tx.Audit(ctx, string(j.Kind), id)
	})
}
