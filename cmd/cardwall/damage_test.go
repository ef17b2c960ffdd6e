package main

import (
	"bytes"
	"crypto/rand"
	"database/sql"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/sqldb"
)

// Every command that opens a damaged SQLite file names the file, says what is wrong with it and
// what to do, and only then repeats the error of SQLite. The backup that it advises to restore can
// be restored over the damaged file.
func TestCommandsExplainDamagedFiles(t *testing.T) {
	t.Parallel()
	c := cli{t, t.TempDir()}
	c.must("demo")
	file, backup := filepath.Join(c.data, "cardwall.db"), filepath.Join(c.data, "x.backup")
	c.must("backup", backup)
	db := apptest.OpenStore(t, file)
	root, err := strconv.Atoi(apptest.Select(t, db, "SELECT CAST(rootpage AS TEXT) FROM sqlite_schema WHERE name = 'users'")[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	key := c.key() + "\n"
	intact, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	commands := [][]string{
		{"doctor"}, {"doctor", "--repair"}, {"backup", backup + ".new"}, {"user", "add", "--email", "x@example.com", "--name", "X"},
		{"migrate"}, {"serve", "--addr", "127.0.0.1:0"},
	}
	const malformed, foreign = "database disk image is malformed (11)", "file is not a database (26)"
	for _, damage := range []struct {
		name     string
		change   func(content []byte) []byte
		want     string // after the name of the file
		last     string // the error of SQLite
		commands [][]string
	}{
		{"half", func(b []byte) []byte { return b[:len(b)/2] }, " is damaged, or its disk is failing", malformed, commands},
		{"uneven", func(b []byte) []byte { return b[:len(b)/2-77] }, " is damaged, or its disk is failing", malformed, commands},
		{"first bytes", func(b []byte) []byte { return append([]byte("XXXX"), b[4:]...) },
			" is not a database, or its first bytes are damaged", foreign, commands},
		{"page size", func(b []byte) []byte { b[16], b[17] = 0, 3; return b },
			" is not a database, or its first bytes are damaged", foreign, commands},
		{"schema", func(b []byte) []byte { copy(b[100:], bytes.Repeat([]byte{0xff}, 64)); return b },
			" is damaged, or its disk is failing", malformed, commands},
		{"other file", func([]byte) []byte { b := make([]byte, 9000); _, _ = rand.Read(b); return b },
			" is not a database, or its first bytes are damaged", foreign, commands},
		{"page", func(b []byte) []byte { copy(b[(root-1)*4096:], bytes.Repeat([]byte{0xff}, 64)); return b },
			" is damaged, or its disk is failing", malformed, commands[1:4]}, // the doctor lists the damage, and the server starts
	} {
		c := cli{t, t.TempDir()} // the old file is moved to a name that must be new
		file := filepath.Join(c.data, "cardwall.db")
		for name, content := range map[string][]byte{file: damage.change(slices.Clone(intact)), c.keyFile(): []byte(key)} {
			if err := os.WriteFile(name, content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for _, args := range damage.commands {
			status, _, stderr := c.run("", args...)
			lines := strings.Split(strings.TrimSpace(stderr), "\n")
			line := lines[len(lines)-1]
			if status != 1 || !strings.Contains(line, file+damage.want+"; stop the server and restore the latest backup with "+
				"cardwall restore --replace BACKUP: ") || !strings.HasSuffix(line, ": "+damage.last) || strings.Contains(line, "--no-backup") {
				t.Errorf("%s: %v: got status %d and %s, want %q, what to do, and then %q", damage.name, args, status, line, damage.want, damage.last)
			}
		}
		if out := c.must("restore", "--replace", backup); !strings.Contains(out, "Restored ") {
			t.Errorf("%s: restore printed %s", damage.name, out)
		}
		if out := c.must("doctor"); out != "No problems found." {
			t.Errorf("%s: doctor printed %s after the restore", damage.name, out)
		}
	}
}

// A folder in place of the database file, and an empty file, are named as such. An empty file beside
// a log with content is not opened, because SQLite would remove the log. The server does not wait
// for PostgreSQL.
func TestCommandsExplainMissingContent(t *testing.T) {
	t.Parallel()
	c := cli{t, t.TempDir()}
	file := filepath.Join(c.data, "cardwall.db")
	check := func(want string, commands ...[]string) {
		t.Helper()
		for _, args := range commands {
			status, _, stderr := c.run("", args...)
			if status != 1 || !strings.Contains(stderr, want) {
				t.Errorf("%v: got status %d and %s, want %q", args, status, stderr, want)
			}
		}
	}
	doctor, add, serve := []string{"doctor"}, []string{"user", "add", "--email", "x@example.com", "--name", "X"},
		[]string{"serve", "--addr", "127.0.0.1:0"}
	backup := []string{"backup", filepath.Join(c.data, "x.backup")}

	check("there is no database at "+file+"; check --data, or restore the latest backup", doctor)
	if _, err := os.Stat(file); err == nil {
		t.Error("the doctor created a database")
	}
	if err := os.Mkdir(file, 0o700); err != nil {
		t.Fatal(err)
	}
	check("the database file "+file+" cannot be opened, read or written; it must be a file", doctor, add, serve, backup)
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{file, file + "-wal"} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	check("the database file "+file+" is empty; restore the latest backup", doctor)
	log := []byte("content")
	if err := os.WriteFile(file+"-wal", log, 0o600); err != nil {
		t.Fatal(err)
	}
	check("the database file "+file+" has lost its content; stop the server and restore the latest backup", add, serve)
	if got, err := os.ReadFile(file + "-wal"); err != nil || !bytes.Equal(got, log) {
		t.Errorf("got log %q (%v), want %q", got, err, log)
	}
}

// If a database contains tables of another program, migrate says that Cardwall needs one of its own.
func TestMigrateExplainsForeignTables(t *testing.T) {
	t.Parallel()
	apptest.EmptyDatabases(t, func(t *testing.T, database string) {
		driver, flags := "pgx", []string{"--data", t.TempDir(), "--database", database}
		if !sqldb.IsPostgres(database) {
			driver, flags = "sqlite", []string{"--data", filepath.Dir(database)}
		}
		db, err := sql.Open(driver, database)
		if err != nil {
			t.Fatal(err)
		}
		_, err = db.Exec("CREATE TABLE users (name TEXT)")
		if err := errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
		var stderr bytes.Buffer
		status := run(append([]string{"migrate"}, flags...), strings.NewReader(""), io.Discard, &stderr)
		if status != 1 || !strings.Contains(stderr.String(), "create the tables, in a database that must be empty and used only by Cardwall") {
			t.Errorf("migrate: got status %d and %s", status, &stderr)
		}
	})
}
