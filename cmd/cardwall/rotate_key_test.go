package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cardwall/internal/apptest"
	"cardwall/internal/dbtool"
	"cardwall/internal/seal"
	"cardwall/internal/sqldb"
	"cardwall/internal/store"
)

func (c cli) keyFile() string { return filepath.Join(c.data, "secret.key") }

func (c cli) key() string {
	c.t.Helper()
	text, err := os.ReadFile(c.keyFile())
	if err != nil {
		c.t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

// wantError runs a command that must fail with one line that contains want and
// shows no key.
func (c cli) wantError(want string, args ...string) {
	c.t.Helper()
	status, out, problems := c.run("", args...)
	line := problems[strings.LastIndex(strings.TrimSuffix(problems, "\n"), "\n")+1:]
	if status == 0 || !strings.Contains(line, want) || out != "" {
		c.t.Errorf("cardwall %v: status %d, printed %q and %q, want %q", args, status, out, line, want)
	}
	for _, arg := range args {
		for _, key := range strings.Split(arg, ",") {
			if len(key) >= 40 && key != c.data && strings.Contains(problems, key) {
				c.t.Errorf("cardwall shows a key: %q", problems)
			}
		}
	}
}

func TestSecretKeyFile(t *testing.T) {
	t.Parallel()
	c := cli{t, t.TempDir()}
	c.must("version")
	c.must("openapi")
	if _, err := os.Stat(c.keyFile()); err == nil {
		t.Error("a command that opens no store created a key")
	}
	c.must("migrate")
	first := c.key()
	if info, err := os.Stat(c.keyFile()); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file has mode %v (%v)", info.Mode(), err)
	}
	c.must("doctor")
	if c.key() != first {
		t.Error("the second command created another key")
	}
	// The file's key also works from the environment; another key does not.
	c.must("doctor", "--secret-key", first)
	c.wantError("set CARDWALL_SECRET_KEY to that key", "doctor", "--secret-key", seal.NewKey())
	c.wantError("CARDWALL_SECRET_KEY: secret key number 1 is not 32 bytes", "doctor", "--secret-key",
		strings.Repeat("correct-horse-", 4))
	if err := os.Chmod(c.keyFile(), 0o644); err != nil {
		t.Fatal(err)
	}
	c.wantError("chmod 600", "doctor")
	// A lost key is not silently replaced by a new one.
	if err := os.Remove(c.keyFile()); err != nil {
		t.Fatal(err)
	}
	c.wantError("put its secret.key back into the data folder", "doctor")
}

func TestRotateKeyFile(t *testing.T) {
	t.Parallel()
	c := cli{t, t.TempDir()}
	c.must("migrate")
	first := c.key()
	out := c.must("rotate-key")
	second := c.key()
	if second == first || strings.Contains(second, "\n") || !strings.Contains(out, "Re-encrypted 0 secrets") ||
		strings.Contains(out, second) {
		t.Errorf("the file contains %q and then %q; the command printed %q", first, second, out)
	}
	c.wantError("set CARDWALL_SECRET_KEY", "doctor", "--secret-key", first)
	c.must("doctor")

	// The command is killed after the new key was written, and after everything was sealed with
	// it.
	k, err := seal.FromFile(c.keyFile())
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Renew(); err != nil {
		t.Fatal(err)
	}
	third, _, _ := strings.Cut(c.key(), "\n")
	c.must("doctor")
	c.must("rotate-key")
	if c.key() != third {
		t.Errorf("the file contains %q, want the key of the interrupted rotation, %q", c.key(), third)
	}
	if err := k.Renew(); err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(t.Context(), store.Options{Database: filepath.Join(c.data, "cardwall.db"), Keys: k})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dbtool.Reseal(t.Context(), db, func() error { return nil }); err != nil {
		t.Error(err)
	}
	// While one command rotates the key, no other may write the file.
	if held, err := db.Lease(t.Context(), rotation, "another", time.Minute); err != nil || !held {
		t.Error(held, err)
	}
	c.wantError("another rotate-key is running", "rotate-key")
	if _, err := db.Lease(t.Context(), rotation, "another", -time.Minute); err != nil {
		t.Error(err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	c.must("rotate-key")
	if fourth := c.key(); strings.Contains(fourth, "\n") || fourth == third {
		t.Errorf("the file contains %q", fourth)
	}
	c.must("doctor")
}

func TestRotateKeyOfTheEnvironment(t *testing.T) {
	t.Parallel()
	c := cli{t, t.TempDir()}
	old, fresh := seal.NewKey(), seal.NewKey()
	c.must("migrate", "--secret-key", old)
	c.wantError("put a new key and a comma before it", "rotate-key", "--secret-key", old)
	if out := c.must("rotate-key", "--secret-key", fresh+","+old); !strings.Contains(out, "all but the first key") ||
		strings.Contains(out, fresh) {
		t.Errorf("the command printed %q", out)
	}
	c.must("doctor", "--secret-key", fresh)
	c.must("doctor", "--secret-key", old+","+fresh)
	c.wantError("set CARDWALL_SECRET_KEY", "doctor", "--secret-key", old)
	if _, err := os.Stat(c.keyFile()); err == nil {
		t.Error("a key file was created although the environment has a key")
	}
	// Move the key from the environment to the file.
	if k, err := seal.FromFile(c.keyFile()); err != nil {
		t.Fatal(k, err)
	}
	c.must("rotate-key", "--secret-key", c.key()+","+fresh)
	c.must("doctor")
}

// Several servers need the key in the environment. A server on PostgreSQL whose key is in a
// file logs a warning.
func TestKeyFileWarning(t *testing.T) {
	t.Parallel()
	apptest.Databases(t, func(t *testing.T, database string) {
		for _, key := range []string{"", seal.NewKey()} {
			var out bytes.Buffer
			g := globals{Data: t.TempDir(), SecretKey: key, log: newLog(&out, "warn")}
			if err := g.loadKeys(); err != nil {
				t.Fatal(err)
			}
			db, err := store.Open(t.Context(), store.Options{Database: database, Migrate: true})
			if err != nil {
				t.Fatal(err)
			}
			g.warnOfKeyFile(db)
			if said := strings.Contains(out.String(), "CARDWALL_SECRET_KEY"); said != (sqldb.IsPostgres(database) && key == "") {
				t.Errorf("with the key %q the log is %q", key, &out)
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}
