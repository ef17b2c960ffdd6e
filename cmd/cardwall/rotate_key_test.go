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

// wantError runs a command that must fail with an error line that contains want.
// The error must not contain a key from the arguments.
func (c cli) wantError(want string, args ...string) {
	c.t.Helper()
	status, out, stderr := c.run("", args...)
	line := stderr[strings.LastIndex(strings.TrimSuffix(stderr, "\n"), "\n")+1:]
	if status == 0 || !strings.Contains(line, want) || out != "" {
		c.t.Errorf("cardwall %v: status %d, printed %q and %q, want an error line that contains %q", args, status, out, line, want)
	}
	for _, arg := range args {
		for _, key := range strings.Split(arg, ",") {
			if len(key) >= 40 && key != c.data && strings.Contains(stderr, key) {
				c.t.Errorf("the error contains a key: %q", stderr)
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
		t.Error("a command that does not use the store created a key")
	}
	c.must("migrate")
	first := c.key()
	if info, err := os.Stat(c.keyFile()); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key file has mode %v (%v), want 0600", info.Mode(), err)
	}
	c.must("doctor")
	if c.key() != first {
		t.Error("the second command replaced the key")
	}
	// The same key also works as a setting. A different key does not.
	c.must("doctor", "--secret-key", first)
	c.wantError("set CARDWALL_SECRET_KEY to that key", "doctor", "--secret-key", seal.NewKey())
	c.wantError("CARDWALL_SECRET_KEY: secret key number 1 is not 32 bytes", "doctor", "--secret-key",
		strings.Repeat("correct-horse-", 4))
	if err := os.Chmod(c.keyFile(), 0o644); err != nil {
		t.Fatal(err)
	}
	c.wantError("chmod 600", "doctor")
	// A lost key must not be silently replaced by a new one.
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
		t.Errorf("rotate-key changed the key from %q to %q and printed %q; want one new key that is not printed", first, second, out)
	}
	c.wantError("set CARDWALL_SECRET_KEY", "doctor", "--secret-key", first)
	c.must("doctor")

	// Create the state that a rotation leaves if it is killed after it has written the new key.
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
	// Create the state that a rotation leaves if it is killed after it has re-encrypted all secrets.
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
	// While one command holds the lease, another must not rotate the key.
	if held, err := db.Lease(t.Context(), rotation, "another", time.Minute); err != nil || !held {
		t.Errorf("acquire the lease: got %v, %v, want true", held, err)
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
		t.Errorf("the file contains %q, want one new key", fourth)
	}
	c.must("doctor")
}

func TestRotateKeyInTheEnvironment(t *testing.T) {
	t.Parallel()
	c := cli{t, t.TempDir()}
	oldKey, newKey := seal.NewKey(), seal.NewKey()
	c.must("migrate", "--secret-key", oldKey)
	c.wantError("put a new key and a comma before it", "rotate-key", "--secret-key", oldKey)
	if out := c.must("rotate-key", "--secret-key", newKey+","+oldKey); !strings.Contains(out, "all but the first key") ||
		strings.Contains(out, newKey) {
		t.Errorf("rotate-key printed %q, want advice on the old keys without the new key", out)
	}
	c.must("doctor", "--secret-key", newKey)
	c.must("doctor", "--secret-key", oldKey+","+newKey)
	c.wantError("set CARDWALL_SECRET_KEY", "doctor", "--secret-key", oldKey)
	if _, err := os.Stat(c.keyFile()); err == nil {
		t.Error("a key file was created although --secret-key was set")
	}
	// Move the key from the environment to the file.
	if k, err := seal.FromFile(c.keyFile()); err != nil {
		t.Fatal(k, err)
	}
	c.must("rotate-key", "--secret-key", c.key()+","+newKey)
	c.must("doctor")
}

// A server on PostgreSQL logs a warning if its key is in a file, because other servers need the same
// key.
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
			g.warnAboutKeyFile(db)
			if warned := strings.Contains(out.String(), "CARDWALL_SECRET_KEY"); warned != (sqldb.IsPostgres(database) && key == "") {
				t.Errorf("with --secret-key %q, the log is %q; want a warning only without a key on PostgreSQL", key, &out)
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}
