package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"cardwall/internal/seal"
	"cardwall/internal/store"
)

// loadKeys reads the operator's keys, else those of the file in the data folder,
// which is made when it is not there.
func (g *globals) loadKeys() (err error) {
	if g.SecretKey == "" {
		g.keys, err = seal.FromFile(g.keyFile())
		return err
	}
	if g.keys, err = seal.Parse(g.SecretKey); err != nil {
		return fmt.Errorf("CARDWALL_SECRET_KEY: %w", err)
	}
	return nil
}

func (g *globals) keyFile() string { return filepath.Join(g.Data, "secret.key") }

// warnOfKeyFile says what several servers on one database need.
func (g *globals) warnOfKeyFile(db *store.DB) {
	if db.Shared() && g.keys.InFile() {
		g.log.Warn("the key that seals secrets is in this server's own data folder; before a second server uses the database, set CARDWALL_SECRET_KEY to that key on all of them",
			"file", g.keyFile())
	}
}

type rotateKeyCommand struct{}

func (rotateKeyCommand) Help() string {
	return "Seals all secrets anew under a new key, also while servers run. Interrupted, it goes on when it is run again.\n\n" +
		"With the file secret.key it makes the new key itself, and removes the old one at the end. With CARDWALL_SECRET_KEY, put a new key before the old one, " +
		"restart the servers with both, run this, and take the old one away.\n\n" +
		"Examples:\n  cardwall rotate-key\n  CARDWALL_SECRET_KEY=\"$NEW,$OLD\" cardwall rotate-key"
}

const (
	rotation      = "rotate-key"     // the lease of the one who rotates
	rotationLease = 30 * time.Second // prolonged before each step
)

func (rotateKeyCommand) Run(ctx context.Context, g *globals) error {
	return g.with(ctx, func(db *store.DB) (err error) {
		if !g.keys.InFile() && g.keys.Len() == 1 {
			return errors.New("CARDWALL_SECRET_KEY holds one key: put a new one before it with a comma between, restart the servers with both, and run this again")
		}
		holder := store.NewID("cmd_")
		held := func() error { return holdRotation(ctx, db, holder) }
		if err := held(); err != nil {
			return err
		}
		defer func() {
			_, released := db.Lease(context.WithoutCancel(ctx), rotation, holder, 0)
			err = errors.Join(err, released)
		}()
		done, err := rotate(ctx, db, g.keys, held)
		if err != nil {
			return fmt.Errorf("%w (%d secrets were re-sealed before that; nothing is lost)", err, done)
		}
		g.print("Re-sealed %d secrets under the key %s.", done, g.keys.Current())
		if g.keys.InFile() {
			g.print("The old key is no longer in secret.key; backups that were made before now still need it.")
		} else {
			g.print("CARDWALL_SECRET_KEY needs its first key alone from now on; backups that were made before now still need the others.")
		}
		return nil
	})
}

// rotate puts a new key into the file, seals everything under it, and only then
// takes the old one away. Each step finds what it has done already.
func rotate(ctx context.Context, db *store.DB, keys *seal.Keyring, held func() error) (done int, err error) {
	if keys.InFile() {
		if err := keys.Renew(); err != nil {
			return 0, err
		}
	}
	if done, err = db.Reseal(ctx, held); err != nil || !keys.InFile() {
		return done, err
	}
	if err := held(); err != nil {
		return done, err
	}
	return done, keys.Retire()
}

// holdRotation makes sure that nobody else writes the file.
func holdRotation(ctx context.Context, db *store.DB, holder string) error {
	held, err := db.Lease(ctx, rotation, holder, rotationLease)
	if err == nil && !held {
		err = fmt.Errorf("another rotate-key is at work, or was killed less than %s ago; run this again then", rotationLease)
	}
	return err
}
