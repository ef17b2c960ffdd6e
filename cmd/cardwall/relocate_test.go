package main

import (
	"context"
	crand "crypto/rand"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

// withData returns a crashServer of the same installation with another data folder, other flags and
// no recorded requests. It copies the encryption key to the folder.
func (c *crashServer) withData(data string, flags ...string) *crashServer {
	c.t.Helper()
	if data != c.data {
		key, err := os.ReadFile(filepath.Join(c.data, "secret.key"))
		if err == nil {
			err = os.WriteFile(filepath.Join(data, "secret.key"), key, 0o600)
		}
		if err != nil {
			c.t.Fatal(err)
		}
	}
	return &crashServer{t: c.t, binary: c.binary, data: data, flags: flags, list: c.list, client: c.client,
		sent: map[string]bool{}, acknowledged: map[string]string{}}
}

// acknowledgedCards returns a copy of the acknowledged cards, by idempotency key.
func (c *crashServer) acknowledgedCards() map[string]string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.acknowledged)
}

// checkAcknowledged checks that the list has every acknowledged card. It returns the number of
// cards in the list.
func (c *crashServer) checkAcknowledged(context string, acknowledged map[string]string) (count int) {
	c.t.Helper()
	cards := map[string]string{} // ids by title
	for cursor, more := "", true; more; more = cursor != "" {
		var page struct {
			Data       []struct{ ID, Title string }
			NextCursor string
		}
		c.get("/boards/"+c.board()+"/cards?view=compact&limit=200&cursor="+cursor, &page)
		for _, card := range page.Data {
			cards[card.Title] = card.ID
		}
		cursor = page.NextCursor
	}
	for key, id := range acknowledged {
		if cards[key] != id {
			c.t.Errorf("%s: %s was acknowledged as card %s, but the list contains card %q for it", context, key, id, cards[key])
		}
	}
	return len(cards)
}

// A backup of a server under load is a consistent snapshot, which can be restored into either
// database.
func TestSystemBackupUnderLoad(t *testing.T) {
	t.Parallel()
	for _, source := range []string{"sqlite", "postgres"} {
		t.Run(source, func(t *testing.T) {
			t.Parallel()
			var flags, other []string
			if source == "postgres" {
				flags = []string{"--database", apptest.PostgresURL(t)}
			} else {
				other = []string{"--database", apptest.EmptyPostgresURL(t)}
			}
			c := newCrashServer(t, flags...)
			stop := c.start()
			type backup struct {
				file         string
				acknowledged map[string]string // cards that were acknowledged when the backup began
				sent         int               // number of requests that were sent when the backup ended
			}
			var backups []backup
			c.load(0, func() {
				for n := range 3 {
					c.awaitWrites(1 + rand.IntN(200))
					b := backup{file: filepath.Join(c.data, fmt.Sprintf("%d.backup", n)), acknowledged: c.acknowledgedCards()}
					if out := c.command("backup", b.file); !strings.Contains(out, "complete and verified") {
						t.Errorf("backup printed %q, want it to contain %q", out, "complete and verified")
					}
					c.mu.Lock()
					b.sent = len(c.sent)
					c.mu.Unlock()
					backups = append(backups, b)
				}
			})
			stop()
			for n, b := range backups {
				restored := c.withData(t.TempDir())
				if n == len(backups)-1 {
					restored = c.withData(t.TempDir(), other...)
				}
				restored.command("restore", b.file)
				if out := restored.command("doctor"); out != "No problems found." {
					t.Errorf("doctor printed %q, want %q", out, "No problems found.")
				}
				stop := restored.start()
				cards := restored.checkAcknowledged("restored backup", b.acknowledged)
				if cards < len(b.acknowledged) || cards > b.sent {
					t.Errorf("backup %d has %d cards, want %d (acknowledged before it began) to %d (sent before it ended)", n, cards,
						len(b.acknowledged), b.sent)
				}
				if _, err := restored.create("after-restore"); err != nil {
					t.Errorf("create a card after the restore: %v", err)
				}
				stop()
				t.Logf("backup %d: %d cards, of which %d were acknowledged before it began", n, cards, len(b.acknowledged))
			}
		})
	}
}

const migrationRounds = 10

// TestSystemMigrateUnderLoad kills the migration to PostgreSQL ten times at random moments, while a
// server on the SQLite file serves reads and writes. Running the command again must complete the
// migration, and PostgreSQL must then have all acknowledged cards. Each of the ten rounds takes some
// seconds: two migrations, a check of all data and the start of two servers.
func TestSystemMigrateUnderLoad(t *testing.T) {
	t.Parallel()
	first := newCrashServer(t)
	stop := first.start()
	first.load(0, func() { first.awaitWrites(1000) })
	stop()
	file := filepath.Join(first.data, "cardwall.db")
	first.command("doctor") // checkpoints the write-ahead log, so that copying one file is enough
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	duration := 2 * time.Second // duration of the last complete migration
	states := map[string]int{}
	for round := range migrationRounds {
		c := first.withData(t.TempDir())
		maps.Copy(c.acknowledged, first.acknowledged)
		if err := os.WriteFile(filepath.Join(c.data, "cardwall.db"), content, 0o600); err != nil {
			t.Fatal(err)
		}
		target := apptest.PostgresURL(t)
		if round == 0 {
			target = apptest.EmptyPostgresURL(t) // the migration creates the schema first
		}
		stop := c.start()
		stopReading := c.startReading()
		var state string
		c.load(round+1, func() {
			c.awaitWrites(crashWriters)
			migrate := exec.CommandContext(t.Context(), c.binary, "migrate", "--from", "sqlite", "--to", target, "--data", c.data)
			if err := migrate.Start(); err != nil {
				t.Error(err)
				return
			}
			time.Sleep(time.Duration(rand.Int64N(int64(duration) * 5 / 4))) // a random moment, sometimes after the end
			_ = migrate.Process.Kill()
			_ = migrate.Wait()
			state = c.migrationState(target)
			states[state]++
			if state == "moved" {
				return
			}
			started := time.Now()
			if out, err := exec.CommandContext(t.Context(), c.binary, "migrate", "--from", "sqlite", "--to", target, "--data",
				c.data).CombinedOutput(); err != nil {
				t.Errorf("round %d: migrate again after a kill that left state %q: %v\n%s", round, state, err, out)
			}
			duration = time.Since(started)
		})
		if n := stopReading(); n == 0 {
			t.Error("no read succeeded during the migration")
		}
		if state := c.migrationState(target); state != "moved" {
			t.Errorf("round %d: after the migration, the state is %q, want %q", round, state, "moved")
		}
		stop()
		migrated := c.withData(c.data, "--database", target)
		if out := migrated.command("doctor"); out != "No problems found." {
			t.Errorf("doctor printed %q, want %q", out, "No problems found.")
		}
		stop = migrated.start()
		migrated.checkAcknowledged(fmt.Sprintf("round %d", round), c.acknowledgedCards())
		stop()
	}
	t.Logf("%d kills, which left these states: %v; the last migration took %s", migrationRounds, states, duration)
}

// migrationState returns the state of a migration: "moved" if PostgreSQL is writable, "marked" if
// neither database is, and otherwise "empty" or, if PostgreSQL already has the rows, "arriving". It
// fails the test if both databases are writable, or if neither is and running migrate again would
// not fix it. It tries to create a card in SQLite.
func (c *crashServer) migrationState(target string) string {
	c.t.Helper()
	_, sqliteErr := c.create("after-" + crand.Text())
	postgres := "empty"
	db, err := store.Open(context.Background(), store.Options{Database: target})
	switch {
	case err == nil:
		if db.Read(context.Background(), board.System(), func(v *store.View) error {
			_, err := v.UserByEmail(context.Background(), "ada@example.com")
			return err
		}) == nil {
			postgres = "ready"
		}
		_ = db.Close()
	case strings.Contains(err.Error(), "has not finished"):
		postgres = "arriving"
	}
	switch {
	case sqliteErr == nil && postgres == "ready":
		c.t.Errorf("both databases are writable")
	case sqliteErr == nil:
		return postgres
	case postgres == "ready":
		return "moved"
	case postgres == "arriving":
		return "marked"
	default:
		c.t.Errorf("neither database is writable: %v, and PostgreSQL is %s (%v)", sqliteErr, postgres, err)
	}
	return "neither"
}

// startReading reads boards repeatedly in a goroutine. The returned function stops the goroutine and
// returns the number of successful reads.
func (c *crashServer) startReading() (stop func() int64) {
	var n atomic.Int64
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-done:
				return
			default:
			}
			if err := c.do("GET", "/boards", "", nil, nil); err != nil {
				c.t.Errorf("read during the migration: %v", err)
				return
			}
			n.Add(1)
			time.Sleep(5 * time.Millisecond) // leave processor time for the migration
		}
	}()
	return func() int64 { close(done); <-ended; return n.Load() }
}

func TestBackupRestoreAndMigrateCommands(t *testing.T) {
	t.Parallel()
	c := cli{t, t.TempDir()}
	c.wantError("--to must be postgres://", "migrate", "--from", "sqlite")
	c.wantError("there is no database at", "backup", filepath.Join(c.data, "x.backup"))
	c.must("demo")
	out := c.must("backup", filepath.Join(c.data, "x.backup"))
	if !strings.Contains(out, "complete and verified") || !strings.Contains(out, "not in the backup") ||
		strings.Contains(out, c.key()) {
		t.Errorf("backup printed %q, want a complete backup without the key", out)
	}
	c.wantError("not empty", "restore", filepath.Join(c.data, "x.backup"))
	status, text, stderr := c.run("", "backup", "-")
	if status != 0 {
		t.Fatal(stderr)
	}
	other := cli{t, t.TempDir()}
	for _, from := range []string{"-", "x"} {
		args := []string{"restore", from}
		if from == "x" {
			args[1] = filepath.Join(c.data, "x.backup")
		}
		// run trimmed the final line break of the backup.
		if status, _, stderr := other.run(text+"\n", args...); status == 0 ||
			!strings.Contains(stderr, "key of this backup is missing") {
			t.Errorf("restore without the key: status %d, printed %q; want an error about the missing key", status, stderr)
		}
	}
	if _, err := os.Stat(other.keyFile()); err == nil {
		t.Error("restore created a key although the key of the backup is missing")
	}
	if err := os.WriteFile(other.keyFile(), []byte(c.key()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if status, out, stderr := other.run(text+"\n", "restore", "-"); status != 0 || !strings.Contains(out, "Restored ") {
		t.Errorf("restore from standard input: status %d, printed %q and %q; want success", status, out, stderr)
	}
	if got := other.must("doctor"); got != "No problems found." {
		t.Errorf("doctor printed %q, want %q", got, "No problems found.")
	}
	if got := other.must("restore", "--replace", filepath.Join(c.data, "x.backup")); !strings.Contains(got,
		"before-restore") {
		t.Errorf("restore --replace printed %q, want it to contain %q", got, "before-restore")
	}
	if got := other.must("doctor", "--repair"); !strings.Contains(got, "Backed up to") ||
		!strings.Contains(got, "Problems repaired: 0.") {
		t.Errorf("doctor --repair printed %q, want a backup and no repaired problems", got)
	}
	target := apptest.EmptyPostgresURL(t)
	if got := c.must("migrate", "--to", target, "--dry-run"); !strings.Contains(got, "To move: ") ||
		!strings.Contains(got, "from a sample") || strings.Contains(got, "Moved") {
		t.Errorf("migrate --dry-run printed %q, want only an estimate", got)
	}
	if got := c.must("migrate", "--from", "sqlite", "--to", target); !strings.Contains(got,
		"row counts and checksums of each table match") {
		t.Errorf("migrate printed %q, want it to contain %q", got, "row counts and checksums of each table match")
	}
	c.wantError("has moved", "user", "add", "--email", "x@example.com", "--name", "X")
	c.data = other.data // has the same key
	if got := c.must("doctor", "--database", target); got != "No problems found." {
		t.Errorf("doctor printed %q, want %q", got, "No problems found.")
	}
}
