package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"cardwall/internal/dbtool"
	"cardwall/internal/seal"
	"cardwall/internal/store"
)

// loadKeys sets g.keys to the keys in --secret-key (CARDWALL_SECRET_KEY). If that
// setting is empty, loadKeys reads the key file in the data folder, and creates the
// file if it does not exist.
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

// warnAboutKeyFile logs a warning if the key is in a file and other servers can
// share the database. Those servers do not have the file.
func (g *globals) warnAboutKeyFile(db *store.DB) {
	if db.Shared() && g.keys.InFile() {
		g.log.Warn("the encryption key for secrets is in this server's data folder; "+
			"before you add a second server, set CARDWALL_SECRET_KEY to that key on all servers", "file", g.keyFile())
	}
}

type rotateKeyCommand struct{}

func (rotateKeyCommand) Help() string {
	return "Re-encrypts all secrets with a new key. Servers can keep running. " +
		"If the command is interrupted, run it again to continue.\n\n" +
		"If the key is in secret.key, the command creates the new key and finally removes the old one. " +
		"If it is in CARDWALL_SECRET_KEY, put the new key before the old one, restart the servers with both, " +
		"run this command, then remove the old key.\n\n" +
		"Examples:\n" +
		"  cardwall rotate-key\n" +
		"  CARDWALL_SECRET_KEY=\"$NEW,$OLD\" cardwall rotate-key"
}

const (
	rotation      = "rotate-key"     // name of the lease
	rotationLease = 30 * time.Second // renewed before each batch of secrets
)

func (rotateKeyCommand) Run(ctx context.Context, g *globals) error {
	return g.withStore(ctx, func(db *store.DB) (err error) {
		if !g.keys.InFile() && g.keys.Len() == 1 {
			return errors.New("CARDWALL_SECRET_KEY contains only one key; put a new key and a comma before it, " +
				"restart the servers with both keys and run this command again")
		}
		holder := store.NewID("cmd_")
		renew := func() error { return renewRotation(ctx, db, holder) }
		if err := renew(); err != nil {
			return err
		}
		defer func() {
			_, releaseErr := db.Lease(context.WithoutCancel(ctx), rotation, holder, 0)
			err = errors.Join(err, releaseErr)
		}()
		done, err := rotate(ctx, db, g.keys, renew)
		if err != nil {
			return fmt.Errorf("%w (%d secrets were re-encrypted before the error; no data is lost)", err, done)
		}
		g.print("Re-encrypted %d secrets with the key %s.", done, g.keys.Current())
		if g.keys.InFile() {
			g.print("The old key was removed from secret.key. Earlier backups still need it.")
		} else {
			g.print("You can now remove all but the first key from CARDWALL_SECRET_KEY. Earlier backups still need the others.")
		}
		return nil
	})
}

// rotate re-encrypts all secrets with the current key and returns their number. If the
// keys are in the key file, rotate first adds a new key and finally removes the old
// one. It calls renew before each batch to keep the lease. After an interruption, it
// can be called again.
func rotate(ctx context.Context, db *store.DB, keys *seal.Keyring, renew func() error) (done int, err error) {
	if keys.InFile() {
		if err := keys.Renew(); err != nil {
			return 0, err
		}
	}
	if done, err = dbtool.Reseal(ctx, db, renew); err != nil || !keys.InFile() {
		return done, err
	}
	if err := renew(); err != nil {
		return done, err
	}
	return done, keys.Retire()
}

// renewRotation acquires or renews the lease, so that only one process rotates keys.
// It returns an error if another process holds the lease.
func renewRotation(ctx context.Context, db *store.DB, holder string) error {
	held, err := db.Lease(ctx, rotation, holder, rotationLease)
	if err == nil && !held {
		err = fmt.Errorf("another rotate-key is running, or was killed less than %s ago; try again later", rotationLease)
	}
	return err
}
