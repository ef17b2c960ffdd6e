package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cardwall/internal/apptest"
	"cardwall/perf/fleet"
	"cardwall/perf/server"
)

const (
	fleetKills     = 20 // number of times to kill the single server on SQLite
	fleetTakeovers = 10 // number of times to kill one of three servers on PostgreSQL
)

// TestSystemKillUnderLoad repeatedly kills the server with SIGKILL while clients change cards and
// each new card of a board triggers a rule. Acknowledged changes must exist, once. Every committed
// change must be delivered, with one id in all attempts, and nothing else. The rule must run once for
// each card.
func TestSystemKillUnderLoad(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 1, "")
	f.must(f.AddRule(f.Boards[0]))
	stop := f.StartWriters(0)
	for range fleetKills {
		f.awaitWrites(1 + rand.IntN(100))
		f.Servers[0].Kill()
		f.start(0)
	}
	f.importDuringLoad()
	stop()
	f.check()
}

// TestSystemKillOneOfThreeUnderLoad repeatedly kills one of three servers on PostgreSQL. The other
// servers must take over its deliveries. In some rounds, the server is killed soon after it has
// started, when it has no webhooks yet. In the others, it gets them after four seconds or more, so the
// test takes half a minute.
func TestSystemKillOneOfThreeUnderLoad(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 3, apptest.PostgresURL(t))
	apptest.Await(t, "all servers have webhooks", func() (holders []string, done bool) {
		holders = f.webhookHolders()
		return holders, len(holders) == len(f.Servers)
	})
	stop := f.StartWriters(10 * time.Millisecond)
	known := f.webhookHolders()
	for round := range fleetTakeovers {
		f.awaitWrites(1 + rand.IntN(200))
		if round%3 == 0 && round > 0 { // also in the last round
			apptest.Eventually(t, "the new server has webhooks", func() bool {
				return slices.ContainsFunc(f.webhookHolders(), func(holder string) bool { return !slices.Contains(known, holder) })
			})
		}
		known = append(known, f.webhookHolders()...)
		f.Servers[0].Kill()
		f.awaitWrites(1 + rand.IntN(100))
		f.start(0)
	}
	stop()
	f.check()
}

// TestSystemKillThreeWhileRulesRun kills three servers in turn with SIGKILL while each new card of
// three boards triggers two rules. Most of the time, servers start and wait for the leases of a
// killed one.
func TestSystemKillThreeWhileRulesRun(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 3, apptest.PostgresURL(t))
	for _, b := range f.Boards[:3] {
		f.must(f.AddRule(b))
		f.must(f.AddRule(b))
	}
	stop := f.StartWriters(10 * time.Millisecond)
	for round := range 9 {
		f.awaitWrites(1 + rand.IntN(100))
		f.Servers[round%3].Kill()
		f.start(round % 3)
	}
	stop()
	f.check()
}

// testFleet is the fleet of a test.
type testFleet struct {
	*fleet.Fleet
	t        *testing.T
	database string
}

// newFleet starts servers on one database, and creates boards with webhooks. At the end of the test,
// it kills the servers, and fails the test if one of them logged an error.
func newFleet(t *testing.T, servers int, database string, env ...string) *testFleet {
	t.Helper()
	data, logs := t.TempDir(), t.TempDir()
	all := make([]*server.Server, servers)
	for i := range all {
		all[i] = &server.Server{
			Binary: program(t), Data: data, Database: database, Addr: apptest.ReserveAddress(t),
			LogPath: filepath.Join(logs, fmt.Sprintf("server-%d.log", i)),
			Env: append([]string{"CARDWALL_MAX_OPEN_CARDS=200000", "CARDWALL_WEBHOOK_ALLOW=127.0.0.1", "CARDWALL_WEBHOOK_PACE=0",
				"CARDWALL_WEBHOOK_RETRY_PAUSES=200ms,200ms,200ms,200ms,200ms,200ms,200ms,200ms"}, env...),
		}
		t.Cleanup(func() { endServer(t, all[i]) })
	}
	f, err := fleet.New(t.Context(), all...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	for _, s := range all[1:] {
		if _, err := s.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	return &testFleet{f, t, database}
}

// endServer kills a server. It fails the test if the server logged an error.
func endServer(t *testing.T, s *server.Server) {
	s.Kill()
	log, err := os.ReadFile(s.LogPath)
	if text := string(log); err != nil || strings.Contains(text, `"level":"ERROR"`) || strings.Contains(text, "panic") {
		t.Errorf("the server logged an error (%v):\n%s", err, text)
	}
}

func (f *testFleet) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

// start starts server i, which must not be running.
func (f *testFleet) start(i int) {
	f.t.Helper()
	_, err := f.Servers[i].Start(f.t.Context())
	f.must(err)
}

// awaitWrites waits until n more changes have been acknowledged.
func (f *testFleet) awaitWrites(n int) {
	f.t.Helper()
	before := f.Ledger.Acknowledged()
	apptest.Eventually(f.t, fmt.Sprintf("%d changes are acknowledged", n), func() bool {
		return f.Ledger.Acknowledged() >= before+n
	})
}

// importDuringLoad exports a board and imports it into the same workspace, which must not cause
// deliveries.
func (f *testFleet) importDuringLoad() {
	f.t.Helper()
	var document json.RawMessage
	f.must(f.Read("/boards/"+f.Confidential.ID+"/export", &document))
	file := filepath.Join(f.t.TempDir(), "board.json")
	f.must(os.WriteFile(file, document, 0o600))
	var board struct{ Data struct{ WorkspaceID string } }
	f.must(f.Read("/boards/"+f.Boards[0].ID, &board))
	_, err := f.Servers[0].Run(f.t.Context(), "import", "cardwall", file, "--workspace", board.Data.WorkspaceID)
	f.must(err)
}

// check compares the data and the deliveries with the acknowledged changes.
func (f *testFleet) check() {
	f.t.Helper()
	r, err := f.Audit()
	f.must(err)
	for _, problem := range r.Problems[:min(len(r.Problems), 10)] {
		f.t.Error(problem)
	}
	if r.Acknowledged < 100 || f.Receiver.MaxAttempts() < 2 {
		f.t.Errorf("too little load: %d acknowledged changes, at most %d attempts per delivery; want at least 100 and 2",
			r.Acknowledged, f.Receiver.MaxAttempts())
	}
	f.t.Logf("%d acknowledged changes, %s", r.Acknowledged, f.Receiver.Summary())
}

// webhookHolders returns the names of the servers that have leased webhooks.
func (f *testFleet) webhookHolders() []string {
	f.t.Helper()
	return strings.Fields(f.query("SELECT string_agg(DISTINCT holder, ' ') FROM leases WHERE name LIKE 'webhooks:shard:%'"))
}

// query runs a query on the fleet's PostgreSQL database and returns the result.
func (f *testFleet) query(text string) string {
	f.t.Helper()
	out, err := apptest.QueryPostgres(f.t.Context(), f.database, text)
	f.must(err)
	return out
}
