package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"cardwall/internal/seal"
	"cardwall/internal/store"
)

type backupCommand struct {
	File string `arg:"" help:"Where to: a file, a folder that is there, in which the file gets the time as its name, or - for standard output."`
	Keep int    `placeholder:"N" help:"With a folder: keep the newest N backups that were made in it this way, and remove older ones. All when absent."`
}

func (backupCommand) Help() string {
	return "Writes one state of all data to one file, while servers go on reading and writing, and reads it back. The file is the same of both databases: " +
		"cardwall restore puts it into either. A backup of that name is replaced when the new one is whole.\n\n" +
		"The key that seals secrets is not in it: keep secret.key, apart from the backups.\n\n" +
		"Examples:\n  cardwall backup cardwall-$(date +%F).backup\n  cardwall backup --keep 14 /var/backups/cardwall\n  cardwall backup - | ssh vault 'cat > cardwall.backup'"
}

func (c *backupCommand) Run(ctx context.Context, g *globals) (err error) {
	file, folder := c.File, ""
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		folder = file
		file = filepath.Join(folder, backupPrefix+time.Now().UTC().Format(backupTime)+backupSuffix)
		c.File = file
	}
	if c.Keep < 0 || c.Keep > 0 && folder == "" {
		return errors.New("--keep is a number of backups, and needs a folder as the place of the backup")
	}
	if file == "-" {
		folder, err := os.MkdirTemp(g.temporary(), "cardwall-backup-")
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
		file = filepath.Join(folder, "cardwall.backup")
	}
	m, err := g.backup(ctx, file)
	if err != nil {
		return err
	}
	if c.File != "-" {
		g.print("%s", describe(m, c.File))
		if c.Keep > 0 {
			err = g.pruneBackups(folder, c.Keep)
		}
		return errors.Join(err, g.noteBackup(ctx, m))
	}
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	_, err = io.Copy(g.stdout, f)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return g.noteBackup(ctx, m)
}

// The name of a backup that is made into a folder.
const (
	backupPrefix = "cardwall-"
	backupTime   = "20060102T150405Z"
	backupSuffix = ".backup"
)

// pruneBackups removes all but the newest backups from a folder, of those whose
// names this program gave.
func (g *globals) pruneBackups(folder string, keep int) error {
	entries, err := os.ReadDir(folder) // by name, which is by time
	if err != nil {
		return err
	}
	var made []string
	for _, e := range entries {
		at, ok := strings.CutPrefix(strings.TrimSuffix(e.Name(), backupSuffix), backupPrefix)
		if _, err := time.Parse(backupTime, at); ok && err == nil && strings.HasSuffix(e.Name(), backupSuffix) && e.Type().IsRegular() {
			made = append(made, e.Name())
		}
	}
	for _, name := range made[:max(0, len(made)-keep)] {
		if err := os.Remove(filepath.Join(folder, name)); err != nil {
			return fmt.Errorf("remove an old backup: %w", err)
		}
		g.print("Removed %s.", filepath.Join(folder, name))
	}
	return nil
}

// noteBackup tells the servers when the last backup was made, for the metric that
// shows its age. The backup is good without it.
func (g *globals) noteBackup(ctx context.Context, m store.Manifest) error {
	database, err := g.address()
	if err != nil {
		return err
	}
	if err := store.NoteBackup(ctx, database, m.MadeAt); err != nil {
		g.log.Warn("the backup is made, but its time was not noted in the database for the metrics", "error", err)
	}
	return nil
}

// backup writes a backup of the command's database.
func (g *globals) backup(ctx context.Context, file string) (store.Manifest, error) {
	database, err := g.address()
	if err != nil {
		return store.Manifest{}, err
	}
	return store.Backup(ctx, store.BackupOptions{Database: database, File: file, Program: apiVersion(), Clock: time.Now, Progress: g.say})
}

// temporary is a folder for files as large as the database: that of the data.
func (g *globals) temporary() string {
	if _, err := os.Stat(g.Data); err != nil {
		return ""
	}
	return g.Data
}

// say shows what long work does, on the error output.
func (g *globals) say(message string) { _, _ = fmt.Fprintln(g.stderr, message) }

// describe is what a backup is, for a person.
func describe(m store.Manifest, file string) string {
	text := fmt.Sprintf("%s: %d rows of %d tables (schema %d, %s) in %s, read back and whole.", file, m.Rows(), len(m.Tables), m.Schema, m.Source, size(m.Bytes))
	if len(m.Keys) > 0 {
		text += fmt.Sprintf("\nIts secrets open with the key %s, which is not in it.", strings.Join(m.Keys, " and "))
	}
	return text
}

// size is a number of bytes for a person.
func size(n int64) string {
	switch {
	case n >= 10<<30:
		return fmt.Sprintf("%d GiB", n>>30)
	case n >= 10<<20:
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d KiB", (n+1023)>>10)
}

type restoreCommand struct {
	File    string `arg:"" help:"A backup; - is standard input."`
	Replace bool   `help:"SQLite: also where data is already; the file that is there is kept beside."`
}

func (restoreCommand) Help() string {
	return "Puts a backup into an empty installation, of either database, whichever it was made of, and brings it to this program's schema. It does all or nothing. " +
		"Servers must not run; the key of the backup must be there first, in secret.key of the data folder or in CARDWALL_SECRET_KEY.\n\n" +
		"Examples:\n  cardwall restore cardwall-2026-03-02.backup\n  cardwall restore cardwall-2026-03-02.backup --database postgres://cardwall@db/cardwall"
}

func (c *restoreCommand) Run(ctx context.Context, g *globals) (err error) {
	if err := os.MkdirAll(g.Data, 0o700); err != nil {
		return fmt.Errorf("make the data folder: %w", err)
	}
	database, err := g.address()
	if err != nil {
		return err
	}
	if c.Replace && store.IsPostgres(database) {
		return errors.New("--replace is for SQLite; for PostgreSQL make a new database, and name that")
	}
	file := c.File
	if file == "-" {
		if file, err = g.keepInput(); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.Remove(file)) }()
	}
	keys, err := g.presentKeys()
	if err != nil {
		return err
	}
	m, kept, err := store.Restore(ctx, store.RestoreOptions{Backup: file, Database: database, Replace: c.Replace, Keys: keys, Clock: time.Now, Progress: g.say})
	if err != nil {
		return err
	}
	g.print("Restored %d rows of %d tables, as they were on %s.", m.Rows(), len(m.Tables), m.MadeAt.Format("2 January 2006 at 15:04:05 UTC"))
	if kept != "" {
		g.print("What was there before is in %s.", kept)
	}
	return nil
}

// keepInput puts the standard input into a file.
func (g *globals) keepInput() (string, error) {
	f, err := os.CreateTemp(g.temporary(), ".cardwall-restore-*")
	if err != nil {
		return "", err
	}
	_, err = io.Copy(f, g.stdin)
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}

// presentKeys are the keys that are there; nil for none. No file is made: a new
// key in the place of the one that is missing would only be in its way.
func (g *globals) presentKeys() (*seal.Keyring, error) {
	if g.SecretKey == "" {
		if _, err := os.Stat(g.keyFile()); errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
	}
	err := g.loadKeys()
	return g.keys, err
}
