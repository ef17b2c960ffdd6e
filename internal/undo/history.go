package undo

import (
	"context"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

const (
	maxChanges = 500  // maximum number of changes that one call undoes
	maxHistory = 5000 // maximum number of later changes that one call reads
)

// history is the activity of a board since the oldest change to undo.
type history struct {
	entries []board.Entry           // in order of their versions
	chosen  map[int64]bool          // versions to undo
	void    map[int64]bool          // versions that were undone, and those that undid them; both are ignored
	removed map[string]bool         // ids of new objects that are removed with all their changes
	gone    map[string]bool         // ids of new objects that an earlier undo removed
	used    map[string]*board.Entry // the last change by others that uses a new object, by the object's id

	// The state of undo:
	touched map[slot]*board.Entry // the next later change that stays
	skipped map[string]int        // number of changes to removed objects, by id
	renamed map[string]string     // ids of objects that were created again, by their former ids
	result  Undone
}

// loadHistory reads the activity of a board since the oldest of the given calls.
func loadHistory(ctx context.Context, tx *store.Tx, boardID string, calls []board.OwnCall) (*history, error) {
	h := &history{
		chosen: map[int64]bool{}, void: map[int64]bool{}, removed: map[string]bool{}, gone: map[string]bool{},
		used: map[string]*board.Entry{}, touched: map[slot]*board.Entry{}, skipped: map[string]int{}, renamed: map[string]string{},
		result: Undone{Reasons: []Reason{}},
	}
	last := tx.On(boardID).Version
	first := last + 1
	for _, c := range calls {
		for v := c.BoardVersion - c.Changes + 1; v <= c.BoardVersion; v++ {
			h.chosen[v] = true
			first = min(first, v)
		}
	}
	switch {
	case len(h.chosen) > maxChanges:
		return nil, board.Refuse(board.CodeLimitReached, "One call can undo at most %d changes. Choose fewer calls, the newest first.",
			maxChanges)
	case last-first >= maxHistory:
		return nil, board.Refuse(board.CodeLimitReached, "The board has changed more than %d times since. Such old changes cannot be undone "+
			"in one call.", maxHistory)
	case first > last:
		return h, nil
	}
	recorded, err := tx.RecordedTo(ctx, boardID, first-1)
	if err == nil && recorded < last {
		err = board.Refuse(board.CodeUnavailable, "A copy to the board is not complete. Try again in a few seconds.")
	}
	if err != nil {
		return nil, err
	}
	if h.entries, err = tx.Changes(ctx, boardID, first-1, maxHistory); err != nil {
		return nil, err
	}
	if int64(len(h.entries)) != last-first+1 {
		fault := board.Invalid("Some of the changes are no longer kept, so they cannot be undone.").In("callIds", board.RuleValue)
		fault.Reason = board.ReasonChangesRemoved
		return nil, fault
	}
	h.resolve()
	return h, nil
}

// resolve finds the changes to ignore, and the new objects that can be removed:
// those that nobody else has changed or used since. Their other changes need not be undone.
func (h *history) resolve() {
	last := map[string]*board.Entry{} // by the id of an object that they mention
	for i := len(h.entries) - 1; i >= 0; i-- {
		e := &h.entries[i]
		v, undone, object := e.BoardVersion, undoneBy(*e), objectOf(*e)
		if undone != 0 && !h.chosen[v] && !h.void[v] {
			h.void[v], h.void[undone] = true, true
		}
		switch {
		case h.chosen[v] && isCreation(*e):
			h.used[object] = last[object]
			h.gone[object] = h.void[v]
			h.removed[object] = !h.void[v] && last[object] == nil
		case !h.chosen[v] && !h.void[v]:
			for _, id := range mentionsOf(*e) {
				if last[id] == nil {
					last[id] = e
				}
			}
		}
	}
}

// undo takes back the chosen changes, newest first.
func (h *history) undo(ctx context.Context, tx *store.Tx) (Undone, error) {
	before := tx.BoardVersion()
	for i := len(h.entries) - 1; i >= 0; i-- {
		e := &h.entries[i]
		v := e.BoardVersion
		if !h.chosen[v] || h.void[v] {
			if h.chosen[v] {
				h.result.Already++
			} else if !h.void[v] {
				h.touch(e, slotsOf(*e))
			}
			continue
		}
		if err := h.undoEntry(ctx, tx, e); err != nil {
			return Undone{}, err
		}
	}
	if tx.BoardVersion() != before {
		h.result.CallID = new(tx.CallID())
	}
	return h.result, h.result.addNames(ctx, tx)
}

// touch records that an entry stays, so older changes of the same slots cannot be undone.
func (h *history) touch(e *board.Entry, slots []slot) {
	for _, s := range slots {
		if h.touched[s] == nil {
			h.touched[s] = e
		}
	}
}

// parentOf returns the id of the removed object that an entry changed, or "". The entry that
// created the object does not count.
func parentOf(e board.Entry, removed map[string]bool) string {
	parents := []string{e.BoardID, changedID(e.Changes["checklistId"]), objectOf(e)}
	if e.CardID != nil {
		parents = append(parents, *e.CardID)
	}
	for _, id := range parents {
		if removed[id] && !(isCreation(e) && id == objectOf(e)) {
			return id
		}
	}
	return ""
}

// undoEntry takes back those parts of a change that nobody changed since.
func (h *history) undoEntry(ctx context.Context, tx *store.Tx, e *board.Entry) error {
	if parentOf(*e, h.gone) != "" {
		h.result.Already++
		return nil
	}
	if id := parentOf(*e, h.removed); id != "" {
		h.skipped[id]++
		h.result.Undone++
		return nil
	}
	var free, kept []slot
	for _, s := range slotsOf(*e) {
		later := h.touched[s]
		if later == nil {
			later = h.touched[slot{s.object, ""}]
		}
		if later == nil && isCreation(*e) {
			later = h.used[s.object]
		}
		if later == nil {
			free = append(free, s)
			continue
		}
		kept = append(kept, s)
		h.result.refuse(e, later, changedSince, changedText(*later, s.field))
	}
	if len(free) == 0 {
		h.keep(e, kept)
		return nil
	}
	version := tx.BoardVersion()
	if len(kept) == 0 {
		tx.Undoes(e.BoardVersion)
	}
	err := h.revert(ctx, tx, *e, free)
	tx.Undoes(0)
	code, message, refused := isRefused(err)
	switch {
	case refused && tx.BoardVersion() == version:
		h.result.refuse(e, nil, code, message)
		h.keep(e, kept) // older changes of the same slots can still be undone
	case err != nil:
		return err
	case len(kept) > 0:
		h.keep(e, kept)
	case tx.BoardVersion() == version:
		h.result.Already++
	default:
		h.result.Undone++
	}
	return nil
}

// keep counts a change that stays, with the changes to an object that it created.
func (h *history) keep(e *board.Entry, slots []slot) {
	h.touch(e, slots)
	if v := undoneBy(*e); v != 0 {
		h.void[v] = true
	}
	n := 0
	if isCreation(*e) {
		n = h.skipped[objectOf(*e)]
	}
	h.result.Undone -= n
	h.result.Refused += n + 1
}

// current returns the id of an object, which is another one if it was created again.
func (h *history) current(id string) string {
	if again := h.renamed[id]; again != "" {
		return again
	}
	return id
}
