package app

import (
	"context"
	"fmt"
	"slices"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// Retention configures how long each kind of record is kept. An age of 0 keeps the
// records forever.
type Retention struct {
	Activity      board.Age // complete activity; of older activity, only what card histories show is kept
	CardHistory   board.Age // activity that card histories show
	Audit         board.Age
	Notifications board.Age
	Jobs          board.Age // jobs that have ended
	Archive       Archive   // receives activity and audit entries before they are removed; nil for none
}

// Archive stores lines of JSON permanently. Write returns when the lines are on disk.
// After an interruption, Write may be called with the same lines again.
type Archive interface {
	Write(ctx context.Context, kind string, lines [][]byte) error
}

const (
	retentionBatch = 2000 // maximum number of rows read and archived at a time
	retentionSlice = 50   // maximum number of rows removed per transaction
	boardsAtOnce   = 200  // maximum number of boards listed at a time
)

// Retained counts what Retain removed.
type Retained struct{ Activity, Audit, Notifications, Jobs int }

// Retain removes records that are older than the settings allow. It archives activity and
// audit entries first. It stops soon after the time limit most, and the next call
// continues. It does nothing while another server holds the lease. holder is the name of
// this server.
func Retain(ctx context.Context, db *store.DB, holder string, keep Retention, most time.Duration) (done Retained, err error) {
	held, err := db.Lease(ctx, "retention", holder, most+housekeepingLease)
	if err != nil || !held {
		return done, err
	}
	r := retainer{db: db, archive: keep.Archive, until: time.Now().Add(most)}
	for _, step := range []struct {
		keep  board.Age
		count *int
		run   func(ctx context.Context, before time.Time) (int, error)
	}{
		{keep.CardHistory, &done.Activity, r.reduce(store.RemoveActivity())},
		{keep.Activity, &done.Activity, r.reduce(store.ReduceActivity())},
		{keep.Audit, &done.Audit, r.audit},
		{keep.Notifications, &done.Notifications, r.remove((*store.Tx).RemoveNotifications)},
		{keep.Jobs, &done.Jobs, r.remove((*store.Tx).RemoveJobs)},
	} {
		if step.keep == 0 {
			continue
		}
		n, err := step.run(ctx, db.Now().Add(-time.Duration(step.keep)))
		*step.count += n
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

type retainer struct {
	db      *store.DB
	archive Archive
	until   time.Time
}

func (r *retainer) timeIsUp() bool { return time.Now().After(r.until) }

// write runs one slice in a transaction, and then pauses so that other writers can go first.
func (r *retainer) write(ctx context.Context, fn func(*store.Tx) error) error {
	_, err := r.db.WriteSlice(ctx, fn)
	return err
}

// store archives the lines of rows that are about to be removed, and returns the number
// of lines.
func (r *retainer) store(ctx context.Context, kind string, rows []store.ExpiredRow) (n int, err error) {
	var lines [][]byte
	for _, row := range rows {
		if row.Line != nil {
			lines = append(lines, row.Line)
		}
	}
	if r.archive == nil || len(lines) == 0 {
		return len(lines), nil
	}
	if err := r.archive.Write(ctx, kind, lines); err != nil {
		return 0, fmt.Errorf("archive %s: %w", kind, err)
	}
	return len(lines), nil
}

// reduce returns a step that archives and removes the entries of a reduction on all boards.
func (r *retainer) reduce(what store.Reduction) func(context.Context, time.Time) (int, error) {
	return func(ctx context.Context, before time.Time) (removed int, err error) {
		for after, ids := "", []string(nil); ; after = ids[len(ids)-1] {
			if err := r.db.Stream(ctx, board.System(), func(v *store.View) (err error) {
				ids, err = v.BoardsToReduce(ctx, what, board.InstantOf(before), after, boardsAtOnce)
				return err
			}); err != nil || len(ids) == 0 {
				return removed, err
			}
			for _, id := range ids {
				n, err := r.reduceBoard(ctx, what, id, board.InstantOf(before))
				removed += n
				if err != nil {
					return removed, fmt.Errorf("reduce activity of board %s: %w", id, err)
				}
				if r.timeIsUp() {
					return removed, nil
				}
			}
		}
	}
}

func (r *retainer) reduceBoard(ctx context.Context, what store.Reduction, id string, before board.Instant) (removed int, err error) {
	for !r.timeIsUp() {
		var rows []store.ExpiredRow
		if err := r.db.Read(ctx, board.System(), func(v *store.View) (err error) {
			rows, err = v.ExpiredActivity(ctx, what, id, before, retentionBatch)
			return err
		}); err != nil || len(rows) == 0 {
			return removed, err
		}
		n, err := r.store(ctx, "activity", rows)
		if err != nil {
			return removed, err
		}
		for slice := range slices.Chunk(rows, retentionSlice) {
			if err := r.write(ctx, func(tx *store.Tx) error { return tx.RemoveExpired(ctx, what, id, slice) }); err != nil {
				return removed, err
			}
		}
		removed += n
	}
	return removed, nil
}

func (r *retainer) audit(ctx context.Context, before time.Time) (removed int, err error) {
	for !r.timeIsUp() {
		var rows []store.ExpiredRow
		if err := r.db.Read(ctx, board.System(), func(v *store.View) (err error) {
			rows, err = v.ExpiredAudit(ctx, before, retentionBatch)
			return err
		}); err != nil {
			return removed, err
		}
		if len(rows) == 0 {
			return removed, r.db.DropAuditPartitions(ctx, before)
		}
		n, err := r.store(ctx, "audit", rows)
		if err != nil {
			return removed, err
		}
		for slice := range slices.Chunk(rows, retentionSlice) {
			if err := r.write(ctx, func(tx *store.Tx) error { return tx.RemoveAudit(ctx, slice) }); err != nil {
				return removed, err
			}
		}
		removed += n
	}
	return removed, nil
}

// remove returns a step that removes rows without archiving them. The function some
// removes at most limit rows that are older than before, and returns the number of
// rows removed.
func (r *retainer) remove(
	some func(tx *store.Tx, ctx context.Context, before board.Instant, limit int) (int64, error),
) func(context.Context, time.Time) (int, error) {
	return func(ctx context.Context, before time.Time) (removed int, err error) {
		for n := int64(retentionSlice); n == retentionSlice && !r.timeIsUp(); {
			if err := r.write(ctx, func(tx *store.Tx) (err error) {
				n, err = some(tx, ctx, board.InstantOf(before), retentionSlice)
				return err
			}); err != nil {
				return removed, err
			}
			removed += int(n)
		}
		return removed, nil
	}
}
