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

	"cardwall/internal/dbtool"
	"cardwall/internal/seal"
	"cardwall/internal/sqldb"
)

type backupCommand struct {
	File    string `arg:"" help:"Target: a file, an existing folder (the file is named after the current time), or - for standard output."`
	Keep    int    `placeholder:"N" help:"If the target is a folder: remove all but the N newest backups in it (default: keep all)."`
	FilesTo string `placeholder:"FOLDER" help:"Folder that receives the attached files, or none (default: files in the target folder, if the server stores files in a folder)."`
}

func (backupCommand) Help() string {
	return "Writes a consistent snapshot of all data to one file and verifies it. Servers can keep running. " +
		"The format does not depend on the database: cardwall restore can load a backup into SQLite or PostgreSQL. " +
		"An existing backup with the same name is replaced once the new one is complete.\n\n" +
		"The backup does not contain the encryption key for secrets. Store secret.key separately.\n\n" +
		"Attached files are copied after the data, to a folder that all backups share. Files that are already there are not " +
		"copied again. Without --files-to, they are copied to the folder files in the target folder, but only if the target " +
		"is a folder and the files are not stored in a bucket. If a file is missing or damaged, the others are copied and " +
		"the command fails. Beside the backup, FILE.files lists the files that it needs. " +
		"To check them, run sha256sum --check FILE.files in their folder.\n\n" +
		"With --keep, files in the target folder that no backup needs are removed, too. Nothing is removed if the command fails.\n\n" +
		"Examples:\n" +
		"  cardwall backup --keep 14 /var/backups/cardwall\n" +
		"  cardwall backup --files-to /mnt/cardwall-files cardwall-$(date +%F).backup\n" +
		"  cardwall backup - | ssh vault 'cat > cardwall.backup'"
}

func (c *backupCommand) Run(ctx context.Context, g *globals) (err error) {
	file, folder := c.File, ""
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		folder = file
		file = filepath.Join(folder, backupPrefix+time.Now().UTC().Format(backupTime)+backupSuffix)
		c.File = file
	}
	if c.Keep < 0 || c.Keep > 0 && folder == "" {
		return errors.New("--keep must be a positive number, and requires an existing folder as the target")
	}
	files, err := c.folderForFiles(g, folder)
	if err != nil {
		return err
	}
	if file == "-" {
		folder, err := os.MkdirTemp(g.tempFolder(), "cardwall-backup-")
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
		file = filepath.Join(folder, "cardwall.backup")
	} else if err := checkList(file + listSuffix); err != nil {
		return err
	}
	m, err := g.backup(ctx, file)
	if err != nil {
		return err
	}
	tell := g.reportProgress
	if c.File == "-" {
		err = g.writeOutput(file)
	} else {
		tell = func(message string) { g.print("%s", message) }
		tell(summarize(m, c.File))
		err = writeList(ctx, file, file+listSuffix)
	}
	if err != nil {
		return err
	}
	if files == "" {
		tell(g.notCopied())
	} else if err := g.copyFiles(ctx, file, g.filesAddress(), files, tell); err != nil {
		return fmt.Errorf("the backup of the database is complete, but not that of the files: %w", err)
	}
	if c.Keep > 0 {
		err = g.pruneBackups(folder, c.Keep)
		if own := filepath.Join(folder, filesFolder); err == nil && files != "" && sameFolder(files, own) {
			err = g.pruneFiles(ctx, folder, files)
		}
	}
	return errors.Join(err, g.recordBackup(ctx, m))
}

// writeOutput copies a file to standard output.
func (g *globals) writeOutput(file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	_, err = io.Copy(g.stdout, f)
	return errors.Join(err, f.Close())
}

// The file name of a backup in a folder consists of the prefix, the time in UTC and
// the suffix.
const (
	backupPrefix = "cardwall-"
	backupTime   = "20060102T150405Z"
	backupSuffix = ".backup"
)

// pruneBackups removes all but the keep newest backups from a folder, with their lists of files.
// It ignores files that are not named like a backup.
func (g *globals) pruneBackups(folder string, keep int) error {
	entries, err := os.ReadDir(folder) // sorted by name and therefore by time
	if err != nil {
		return err
	}
	var backups []string
	for _, e := range entries {
		at, ok := strings.CutPrefix(strings.TrimSuffix(e.Name(), backupSuffix), backupPrefix)
		if !ok || !strings.HasSuffix(e.Name(), backupSuffix) || !e.Type().IsRegular() {
			continue
		}
		if _, err := time.Parse(backupTime, at); err == nil {
			backups = append(backups, e.Name())
		}
	}
	for _, name := range backups[:max(0, len(backups)-keep)] {
		// The list comes first, because no later run would remove a list without a backup.
		err := os.Remove(filepath.Join(folder, name+listSuffix))
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			err = os.Remove(filepath.Join(folder, name))
		}
		if err != nil {
			return fmt.Errorf("remove old backup: %w", err)
		}
		g.print("Removed %s.", filepath.Join(folder, name))
	}
	return nil
}

// recordBackup records the time of the backup in the database, where servers
// read it for a metric. It only logs a failure to do so, because the backup
// itself is complete.
func (g *globals) recordBackup(ctx context.Context, m dbtool.Manifest) error {
	database, err := g.address()
	if err != nil {
		return err
	}
	if err := dbtool.RecordBackup(ctx, database, m.MadeAt); err != nil {
		g.log.Warn("backup complete, but its time was not recorded for the metrics", "error", err)
	}
	return nil
}

// backup writes a backup of the command's database.
func (g *globals) backup(ctx context.Context, file string) (dbtool.Manifest, error) {
	database, err := g.address()
	if err != nil {
		return dbtool.Manifest{}, err
	}
	return dbtool.Backup(ctx, dbtool.BackupOptions{
		Database: database, File: file, Program: apiVersion(), Clock: time.Now, Progress: g.reportProgress,
	})
}

// tempFolder returns the folder for temporary files, which can be as large as the
// database. It is the data folder, or "" (the system's default) if the data folder
// does not exist.
func (g *globals) tempFolder() string {
	if _, err := os.Stat(g.Data); err != nil {
		return ""
	}
	return g.Data
}

// reportProgress prints a message about a long operation to standard error.
func (g *globals) reportProgress(message string) { _, _ = fmt.Fprintln(g.stderr, message) }

// summarize returns a summary of the backup for the operator.
func summarize(m dbtool.Manifest, file string) string {
	text := fmt.Sprintf("%s: %d rows in %d tables (schema %d, %s) in %s, complete and verified.",
		file, m.Rows(), len(m.Tables), m.Schema, m.Source, formatSize(m.Bytes))
	if len(m.Keys) > 0 {
		text += fmt.Sprintf("\nRestoring it requires these encryption keys, which are not in the backup: %s.",
			strings.Join(m.Keys, ", "))
	}
	return text
}

// formatSize returns a number of bytes in KiB, MiB or GiB.
func formatSize(n int64) string {
	switch {
	case n >= 10<<30:
		return fmt.Sprintf("%d GiB", n>>30)
	case n >= 10<<20:
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d KiB", (n+1023)>>10)
}

type restoreCommand struct {
	File      string `arg:"" help:"Backup file, or - for standard input."`
	Replace   bool   `help:"SQLite: replace existing data. The old file is kept under another name."`
	FilesFrom string `placeholder:"FOLDER" help:"Folder with the attached files, or none (default: files beside the backup, if it exists)."`
}

func (restoreCommand) Help() string {
	return "Restores a backup of SQLite or PostgreSQL into an empty SQLite or PostgreSQL database, " +
		"and migrates it to this program's schema. Restores either all data or none. " +
		"Stop all servers first, and provide the encryption key of the backup, " +
		"either as secret.key in the data folder or in CARDWALL_SECRET_KEY.\n\n" +
		"Attached files are copied to the storage before the database changes. Each is compared with its hash. " +
		"Files that are already there are not copied again. If the copy fails, for example because the disk is full, " +
		"the database is not restored. Run the command again to continue. " +
		"If files are missing or damaged in the folder, everything else is restored. The command then fails and names them.\n\n" +
		"Examples:\n" +
		"  cardwall restore cardwall-2026-03-02.backup\n" +
		"  cardwall restore cardwall-2026-03-02.backup --files-from /mnt/cardwall-files\n" +
		"  cardwall restore cardwall-2026-03-02.backup --database postgres://cardwall@db/cardwall"
}

func (c *restoreCommand) Run(ctx context.Context, g *globals) (err error) {
	if err := os.MkdirAll(g.Data, 0o700); err != nil {
		return fmt.Errorf("create the data folder: %w", err)
	}
	database, err := g.address()
	if err != nil {
		return err
	}
	if c.Replace && sqldb.IsPostgres(database) {
		return errors.New("--replace works only with SQLite; for PostgreSQL, create a new database and pass its address")
	}
	files, err := c.folderWithFiles()
	if err != nil {
		return err
	}
	file := c.File
	if file == "-" {
		if file, err = g.saveInput(); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.Remove(file)) }()
	}
	keys, err := g.existingKeys()
	if err != nil {
		return err
	}
	var incomplete error
	m, previous, err := dbtool.Restore(ctx, dbtool.RestoreOptions{
		Backup: file, Database: database, Replace: c.Replace, Keys: keys, Clock: time.Now, Progress: g.reportProgress,
		Before: func(ctx context.Context) (err error) {
			incomplete, err = c.restoreFiles(ctx, g, file, files)
			return err
		},
	})
	if err != nil {
		return err
	}
	g.print("Restored %d rows in %d tables, as of %s.",
		m.Rows(), len(m.Tables), m.MadeAt.Format("2 January 2006 at 15:04:05 UTC"))
	if previous != "" {
		g.print("The previous data is in %s.", previous)
	}
	if incomplete != nil {
		return fmt.Errorf("the database is restored, but not all of its files: %w", incomplete)
	}
	return nil
}

// saveInput copies standard input to a temporary file and returns its path.
func (g *globals) saveInput() (string, error) {
	f, err := os.CreateTemp(g.tempFolder(), ".cardwall-input-*")
	if err != nil {
		return "", err
	}
	_, err = io.Copy(f, g.stdin)
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}

// existingKeys returns the configured keys, or nil if there are none. Unlike
// loadKeys, it does not create a key file. A new key could not decrypt the backup's
// secrets, and the operator would have to remove the file first.
func (g *globals) existingKeys() (*seal.Keyring, error) {
	if g.SecretKey == "" {
		if _, err := os.Stat(g.keyFile()); errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
	}
	err := g.loadKeys()
	return g.keys, err
}
