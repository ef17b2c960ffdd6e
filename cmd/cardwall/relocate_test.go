package main

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
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

// at returns the same installation, with the same key, with another data folder.
func (c *crash) at(data string, flags ...string) *crash {
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
	return &crash{t: c.t, binary: c.binary, data: data, flags: flags, token: c.token, list: c.list, client: c.client,
		sent: map[string]bool{}, acknowledged: map[string]string{}}
}

// known returns a copy of what was acknowledged so far.
func (c *crash) known() map[string]string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.acknowledged)
}

// holds checks that the list has a card for every key.
func (c *crash) holds(what string, known map[string]string) (cards int) {
	c.t.Helper()
	there := map[string]string{}
	for cursor, more := "", true; more; more = cursor != "" {
		var page struct {
			Data       []struct{ ID, Title string }
			NextCursor string
		}
		c.fetch("/boards/"+c.board()+"/cards?view=compact&limit=200&cursor="+cursor, &page)
		for _, card := range page.Data {
			there[card.Title] = card.ID
		}
		cursor = page.NextCursor
	}
	for key, id := range known {
		if there[key] != id {
			c.t.Errorf("%s: %s was acknowledged as %s; the list has %q", what, key, id, there[key])
		}
	}
	return len(there)
}

// Every backup of a server under load is a consistent snapshot, for either database and
// restored into either.
func TestBackupInLoad(t *testing.T) {
	t.Parallel()
	for _, of := range []string{"sqlite", "postgres"} {
		t.Run(of, func(t *testing.T) {
			t.Parallel()
			var flags, other []string
			if of == "postgres" {
				flags = []string{"--database", apptest.PostgresURL(t)}
			} else {
				other = []string{"--database", apptest.EmptyPostgresURL(t)}
			}
			c := newCrash(t, flags...)
			stop := c.start()
			type moment struct {
				file  string
				known map[string]string
				most  int
			}
			var moments []moment
			c.load(0, func() {
				for n := range 3 {
					time.Sleep(time.Duration(100+rand.IntN(300)) * time.Millisecond)
					m := moment{file: filepath.Join(c.data, fmt.Sprintf("%d.backup", n)), known: c.known()}
					if said := c.command("backup", m.file); !strings.Contains(said, "complete and verified") {
						t.Errorf("backup printed %q; want it to contain %q", said, "complete and verified")
					}
					c.mu.Lock()
					m.most = len(c.sent)
					c.mu.Unlock()
					moments = append(moments, m)
				}
			})
			stop()
			for n, m := range moments {
				there := c.at(t.TempDir())
				if n == len(moments)-1 {
					there = c.at(t.TempDir(), other...)
				}
				there.command("restore", m.file)
				if said := there.command("doctor"); said != "No problems found." {
					t.Errorf("the doctor printed %q, want %q", said, "No problems found.")
				}
				stop := there.start()
				cards := there.holds("restored", m.known)
				if cards < len(m.known) || cards > m.most {
					t.Errorf("backup %d has %d cards; %d were acknowledged before it, %d sent before it ended", n, cards,
						len(m.known), m.most)
				}
				if _, err := there.create("and-on-it-goes"); err != nil {
					t.Errorf("after the restore: %v", err)
				}
				stop()
				t.Logf("backup %d: %d cards, %d acknowledged before it", n, cards, len(m.known))
			}
		})
	}
}

const moveRounds = 10

// TestMigrateInLoad kills the migration to PostgreSQL ten times at random moments, while a
// server on the SQLite file serves reads and writes. The same command then completes the
// migration, and PostgreSQL has everything that was acknowledged.
func TestMigrateInLoad(t *testing.T) {
	t.Parallel()
	first := newCrash(t)
	stop := first.start()
	first.load(0, func() { time.Sleep(2 * time.Second) })
	stop()
	file := filepath.Join(first.data, "cardwall.db")
	first.command("doctor") // checkpoints everything into the one file, for the copies
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	takes := 2 * time.Second // expected duration of a migration, from earlier rounds
	ended := map[string]int{}
	for round := range moveRounds {
		c := first.at(t.TempDir())
		maps.Copy(c.acknowledged, first.acknowledged)
		if err := os.WriteFile(filepath.Join(c.data, "cardwall.db"), content, 0o600); err != nil {
			t.Fatal(err)
		}
		target := apptest.PostgresURL(t)
		if round == 0 {
			target = apptest.EmptyPostgresURL(t) // the migration creates the schema first
		}
		stop := c.start()
		reads := c.read()
		var state string
		c.load(round+1, func() {
			time.Sleep(50 * time.Millisecond)
			move := exec.CommandContext(t.Context(), c.binary, "migrate", "--from", "sqlite", "--to", target, "--data", c.data)
			if err := move.Start(); err != nil {
				t.Error(err)
				return
			}
			time.Sleep(time.Duration(rand.Int64N(int64(takes) * 5 / 4)))
			_ = move.Process.Kill()
			_ = move.Wait()
			state = c.oneIsWritten(target)
			ended[state]++
			if state == "moved" {
				return
			}
			began := time.Now()
			if out, err := exec.CommandContext(t.Context(), c.binary, "migrate", "--from", "sqlite", "--to", target, "--data",
				c.data).CombinedOutput(); err != nil {
				t.Errorf("round %d: migrate after a kill (%s): %v\n%s", round, state, err, out)
			}
			takes = time.Since(began)
		})
		if n := reads(); n == 0 {
			t.Error("nothing was read during the migration")
		}
		if state := c.oneIsWritten(target); state != "moved" {
			t.Errorf("round %d: after the migration the state is %q, want %q", round, state, "moved")
		}
		stop()
		there := c.at(c.data, "--database", target)
		if said := there.command("doctor"); said != "No problems found." {
			t.Errorf("the doctor printed %q, want %q", said, "No problems found.")
		}
		stop = there.start()
		there.holds(fmt.Sprintf("round %d", round), c.known())
		stop()
	}
	t.Logf("%d kills: %v; a migration takes %s", moveRounds, ended, takes)
}

// oneIsWritten fails if both databases are writable, or if neither is and running
// migrate again would not fix it. It returns how far the move got.
func (c *crash) oneIsWritten(target string) string {
	c.t.Helper()
	_, old := c.create(fmt.Sprintf("after-%d", time.Now().UnixNano()))
	fresh := "empty"
	db, err := store.Open(context.Background(), store.Options{Database: target})
	switch {
	case err == nil:
		if db.Read(context.Background(), board.System(), func(v *store.View) error {
			_, err := v.UserByEmail(context.Background(), "ada@example.com")
			return err
		}) == nil {
			fresh = "ready"
		}
		_ = db.Close()
	case strings.Contains(err.Error(), "has not finished"):
		fresh = "arriving"
	}
	switch {
	case old == nil && fresh == "ready":
		c.t.Errorf("both databases are writable")
	case old == nil:
		return fresh
	case fresh == "ready":
		return "moved"
	case fresh == "arriving":
		return "marked"
	default:
		c.t.Errorf("neither database is writable: %v, and PostgreSQL is %s (%v)", old, fresh, err)
	}
	return "neither"
}

// read reads until the returned function is called, which returns the number of reads.
func (c *crash) read() (end func() int64) {
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
			body, status, err := c.exchange("GET", "/boards", "", nil)
			if err != nil || status != http.StatusOK {
				c.t.Errorf("a read during the migration: %d %s %v", status, body, err)
				return
			}
			n.Add(1)
			time.Sleep(5 * time.Millisecond)
		}
	}()
	return func() int64 { close(done); <-ended; return n.Load() }
}

func TestMovingFromTheCommandLine(t *testing.T) {
	t.Parallel()
	c := cli{t, t.TempDir()}
	c.wantError("--to must be postgres://", "migrate", "--from", "sqlite")
	c.wantError("there is no database at", "backup", filepath.Join(c.data, "x.backup"))
	c.must("demo")
	out := c.must("backup", filepath.Join(c.data, "x.backup"))
	if !strings.Contains(out, "complete and verified") || !strings.Contains(out, "not in the backup") ||
		strings.Contains(out, c.key()) {
		t.Errorf("backup printed %q", out)
	}
	c.wantError("not empty", "restore", filepath.Join(c.data, "x.backup"))
	status, text, problems := c.run("", "backup", "-")
	if status != 0 {
		t.Fatal(problems)
	}
	other := cli{t, t.TempDir()}
	for _, from := range []string{"-", "x"} {
		args := []string{"restore", from}
		if from == "x" {
			args[1] = filepath.Join(c.data, "x.backup")
		}
		// The command line trims its output; the last line ends in a line feed.
		if status, _, problems := other.run(text+"\n", args...); status == 0 ||
			!strings.Contains(problems, "key of this backup is missing") {
			t.Errorf("without the key: %d %q", status, problems)
		}
	}
	if _, err := os.Stat(other.keyFile()); err == nil {
		t.Error("restore created a key instead of reporting the missing one")
	}
	if err := os.WriteFile(other.keyFile(), []byte(c.key()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if status, out, problems := other.run(text+"\n", "restore", "-"); status != 0 || !strings.Contains(out, "Restored ") {
		t.Errorf("from standard input: %d %q %q", status, out, problems)
	}
	if got := other.must("doctor"); got != "No problems found." {
		t.Errorf("doctor printed %q, want %q", got, "No problems found.")
	}
	if got := other.must("restore", "--replace", filepath.Join(c.data, "x.backup")); !strings.Contains(got,
		"before-restore") {
		t.Errorf("restore --replace printed %q; want it to contain %q", got, "before-restore")
	}
	if got := other.must("doctor", "--repair"); !strings.Contains(got, "Backed up to") ||
		!strings.Contains(got, "Repaired 0 problems") {
		t.Errorf("doctor --repair printed %q", got)
	}
	target := apptest.EmptyPostgresURL(t)
	if got := c.must("migrate", "--to", target, "--dry-run"); !strings.Contains(got, "To move: ") ||
		!strings.Contains(got, "from a sample") || strings.Contains(got, "Moved") {
		t.Errorf("migrate --dry-run printed %q", got)
	}
	if got := c.must("migrate", "--from", "sqlite", "--to", target); !strings.Contains(got,
		"row counts and checksums of each table match") {
		t.Errorf("migrate printed %q; want it to contain %q", got, "row counts and checksums of each table match")
	}
	c.wantError("has moved", "user", "add", "--email", "x@example.com", "--name", "X")
	c.data = other.data // with the same key
	if got := c.must("doctor", "--database", target); got != "No problems found." {
		t.Errorf("doctor printed %q, want %q", got, "No problems found.")
	}
}
