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
	purgeAtOnce       = 500 // cards of a board that is gone, in one transaction
)

// Housekept says what was forgotten.
type Housekept struct {
	Boards        int
	Workspaces    int
	Keys          int64
	Invitations   int64
	Reranks       int64
	Deliveries    int64
	Runs          int64 // of automation rules
	Connections   int64 // codes, devices and programs whose time is over
	Notifications int64
	Accounts      int64             // sessions, sign-ups and links whose time is over
	Parts         store.Partitioned // of large tables on PostgreSQL
}

// Housekeep forgets what has had its time: boards and workspaces after 30 days in the trash,
// answers to idempotency keys after 24 hours, deliveries and runs of rules after 30 days, notifications after 90, sessions,
// the links of letters and what connects programs when they have expired. Of several servers one does
// it at a time; for the others it does nothing. Holder is the server's own name.
func Housekeep(ctx context.Context, db *store.DB, holder string) (Housekept, error) {
	var done Housekept
	held, err := db.Lease(ctx, "housekeeping", holder, housekeepingLease)
	if err != nil || !held {
		return done, err
	}
	if err := db.Write(ctx, board.System(), func(tx *store.Tx) (err error) {
		if done.Keys, err = tx.PurgeKeys(ctx); err != nil {
			return err
		}
		if done.Invitations, err = tx.PurgeInvitations(ctx); err != nil {
			return err
		}
		if done.Reranks, err = tx.PurgeReranks(ctx); err != nil {
			return err
		}
		if done.Deliveries, err = tx.PurgeDeliveries(ctx); err != nil {
			return err
		}
		if done.Runs, err = tx.PurgeRuns(ctx); err != nil {
			return err
		}
		if done.Notifications, err = tx.PurgeNotifications(ctx); err != nil {
			return err
		}
		if done.Accounts, err = tx.PurgeAccounts(ctx); err != nil {
			return err
		}
		if done.Connections, err = tx.PurgeConnections(ctx); err != nil {
			return err
		}
		if err := tx.PurgeRateCounts(ctx); err != nil {
			return err
		}
		return tx.PurgeLeases(ctx)
	}); err != nil {
		return done, fmt.Errorf("forget what is old: %w", err)
	}
	for {
		var id string
		if err := db.Read(ctx, board.System(), func(v *store.View) (err error) {
			id, err = v.ExpiredBoard(ctx)
			return err
		}); err != nil {
			return done, err
		}
		if id == "" {
			break
		}
		if err := purgeBoard(ctx, db, id); err != nil {
			return done, fmt.Errorf("purge board %s: %w", id, err)
		}
		done.Boards++
		if held, err = db.Lease(ctx, "housekeeping", holder, housekeepingLease); err != nil || !held {
			return done, err
		}
	}
	// Their boards are gone by now.
	if err := db.Write(ctx, board.System(), func(tx *store.Tx) (err error) {
		done.Workspaces, err = tx.PurgeWorkspaces(ctx)
		return err
	}); err != nil {
		return done, fmt.Errorf("purge workspaces: %w", err)
	}
	if done.Parts, err = db.KeepPartitions(ctx); err != nil {
		return done, fmt.Errorf("keep the parts of large tables: %w", err)
	}
	return done, nil
}

// purgeBoard ends a board in pieces; what was begun goes on next time.
func purgeBoard(ctx context.Context, db *store.DB, id string) error {
	for more := true; more; {
		if err := db.Write(ctx, board.System(), func(tx *store.Tx) error {
			n, err := tx.PurgeCards(ctx, id, purgeAtOnce)
			more = n == purgeAtOnce
			return err
		}); err != nil {
			return err
		}
	}
	return db.Write(ctx, board.System(), func(tx *store.Tx) error { return tx.PurgeBoard(ctx, id) })
}
