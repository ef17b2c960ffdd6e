package app

import (
	"context"
	"fmt"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

const (
	housekeepingLease = 5 * time.Minute
	purgeAtOnce       = 50               // maximum number of cards of a deleted board per transaction
	rowsAtOnce        = 1000             // maximum number of expired rows per transaction
	purgeTime         = time.Minute      // maximum time per run for expired rows of one kind
	countingTime      = 30 * time.Second // maximum time per run for counting the storage of boards
)

// Housekept counts what Housekeep deleted or recounted, and lists the partitions that it
// created or dropped.
type Housekept struct {
	Boards      int
	Trash       int // deleted cards and lists
	Counted     int // boards whose storage was recounted
	Workspaces  int
	Keys        int64 // responses stored for idempotency keys
	Invitations int64
	Reranks     int64 // records of rewritten ranks
	Deliveries  int64
	Runs        int64                  // of automation rules
	Connections int64                  // expired codes, device requests and grants, and unused programs
	Accounts    int64                  // expired sessions, sign-ups, links and other account data
	Parts       store.PartitionChanges // of large tables on PostgreSQL
}

// Housekeep deletes expired data, such as boards, workspaces, cards and lists after 30 days in
// the trash, responses stored for idempotency keys after 24 hours, deliveries and
// rule runs after 30 days, and expired sessions, email links and tokens of
// connected programs. It also recounts storage and maintains partitions. Only one
// of several servers does this at a time; on the others Housekeep does nothing.
// holder is the server's own name.
func Housekeep(ctx context.Context, db *store.DB, holder string) (Housekept, error) {
	var done Housekept
	held, err := db.Lease(ctx, "housekeeping", holder, housekeepingLease)
	if err != nil || !held {
		return done, err
	}
	if held, err := purgeExpired(ctx, db, holder, &done); err != nil || !held {
		return done, err
	}
	for _, trash := range []struct {
		count   *int
		expired func(*store.View, context.Context) (string, error)
		purge   func(*store.Tx, context.Context, string, int) (bool, error)
	}{
		{&done.Boards, (*store.View).ExpiredBoard, (*store.Tx).PurgeBoard},
		{&done.Trash, (*store.View).ExpiredTrash, (*store.Tx).PurgeTrash},
	} {
		for {
			var id string
			if err := db.Read(ctx, board.System(), func(v *store.View) (err error) {
				id, err = trash.expired(v, ctx)
				return err
			}); err != nil {
				return done, err
			}
			if id == "" {
				break
			}
			if err := purge(ctx, db, id, trash.purge); err != nil {
				return done, fmt.Errorf("purge %s: %w", id, err)
			}
			*trash.count++
			if held, err = db.Lease(ctx, "housekeeping", holder, housekeepingLease); err != nil || !held {
				return done, err
			}
		}
	}
	// PurgeWorkspaces keeps workspaces that still have boards. Expired boards were deleted above.
	if err := db.Write(ctx, board.System(), func(tx *store.Tx) (err error) {
		done.Workspaces, err = tx.PurgeWorkspaces(ctx)
		return err
	}); err != nil {
		return done, fmt.Errorf("purge workspaces: %w", err)
	}
	if done.Counted, err = db.CountStorage(ctx, countingTime); err != nil {
		return done, fmt.Errorf("count storage: %w", err)
	}
	if done.Parts, err = db.MaintainPartitions(ctx); err != nil {
		return done, fmt.Errorf("maintain partitions of large tables: %w", err)
	}
	return done, nil
}

// purgeExpired deletes expired rows in short transactions. Rows of one kind that remain
// after purgeTime are left to the next run. It renews the lease after each kind, and
// returns false if another server holds the lease.
func purgeExpired(ctx context.Context, db *store.DB, holder string, done *Housekept) (held bool, err error) {
	var other int64
	for _, expired := range []struct {
		count *int64
		purge func(*store.Tx, context.Context, int) (int64, error)
	}{
		{&done.Keys, (*store.Tx).PurgeKeys},
		{&done.Invitations, (*store.Tx).PurgeInvitations},
		{&done.Reranks, (*store.Tx).PurgeReranks},
		{&done.Deliveries, (*store.Tx).PurgeDeliveries},
		{&done.Runs, (*store.Tx).PurgeRuns},
		{&done.Accounts, (*store.Tx).PurgeAccounts},
		{&done.Connections, (*store.Tx).PurgeConnections},
		{&other, (*store.Tx).PurgeNotifications},
		{&other, (*store.Tx).PurgeRateCounts},
		{&other, (*store.Tx).PurgeAttachments},
		{&other, (*store.Tx).PurgeUploads},
	} {
		for began, more := time.Now(), true; more && time.Since(began) < purgeTime; {
			var n int64
			if _, err := db.WriteSlice(ctx, func(tx *store.Tx) (err error) {
				n, err = expired.purge(tx, ctx, rowsAtOnce)
				return err
			}); err != nil {
				return false, fmt.Errorf("delete expired data: %w", err)
			}
			*expired.count += n
			more = n >= rowsAtOnce
		}
		if held, err = db.Lease(ctx, "housekeeping", holder, housekeepingLease); err != nil || !held {
			return held, err
		}
	}
	if err := db.Write(ctx, board.System(), func(tx *store.Tx) error { return tx.PurgeLeases(ctx) }); err != nil {
		return false, fmt.Errorf("delete expired leases: %w", err)
	}
	return true, nil
}

// purge deletes something in the trash with short transactions. After an interruption,
// the next call continues.
func purge(ctx context.Context, db *store.DB, id string, part func(*store.Tx, context.Context, string, int) (bool, error)) error {
	for gone := false; !gone; {
		if _, err := db.WriteSlice(ctx, func(tx *store.Tx) (err error) {
			gone, err = part(tx, ctx, id, purgeAtOnce)
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}
