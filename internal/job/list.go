package job

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// Lists is what jobs that make a list call.
type Lists struct {
	// Draft calls part with the cards of the list.
	Draft func(ctx context.Context, v *store.View, j *store.RunningJob, part func(store.ListPart) error) error
	// Show makes the list visible and returns its id.
	Show func(ctx context.Context, tx *store.Tx, j *store.RunningJob) (listID string, err error)
	// Event returns the event of a card that was written after another one.
	Event func(c store.WholeCard, after string) board.Event
}

// workOnList drafts the cards of a list, writes them while the list is hidden, makes the
// list visible, and then writes the entries of the cards to the activity of the board.
func (e *Engine) workOnList(ctx context.Context, j *store.RunningJob) error {
	if j.Parts < 0 {
		if err := e.draftList(ctx, j); err != nil {
			return fmt.Errorf("draft: %w", err)
		}
	}
	if j.Recorded < 0 {
		for n := j.Written; n < j.Parts; n++ {
			if err := e.eachPart(ctx, board.System(), j, n, func(tx *store.Tx, p store.ListPart) error {
				return tx.WriteListPart(ctx, j.ID, n, p)
			}); err != nil {
				return fmt.Errorf("write part %d: %w", n, err)
			}
		}
		if err := e.showList(ctx, j); err != nil {
			return fmt.Errorf("show list: %w", err)
		}
	}
	// The entries have the actor of the caller, who may have lost the right to the board
	// since the list was made visible.
	caller := j.Caller
	caller.System = true
	for n := max(j.Recorded, 0); n < j.Parts; n++ {
		if err := e.eachPart(ctx, caller, j, n, func(tx *store.Tx, p store.ListPart) error {
			return tx.RecordListPart(ctx, j.ID, n, p, e.o.Lists.Event)
		}); err != nil {
			return fmt.Errorf("record part %d: %w", n, err)
		}
	}
	return e.held(ctx, j, func(tx *store.Tx) error { return tx.EndJobList(ctx, j.ID, true) })
}

// draftList stores the parts of a job that makes a list.
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

// eachPart calls fn with a part in a slice of a caller, if the server still has the job.
func (e *Engine) eachPart(ctx context.Context, caller board.Caller, j *store.RunningJob, n int,
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

// showList makes the list of a job visible, as its caller.
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
