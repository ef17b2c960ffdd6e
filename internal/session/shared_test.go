package session_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/rest"
	"cardwall/internal/session"
	"cardwall/internal/store"
)

// newNodes returns three servers that share a PostgreSQL database. Their clock is
// stopped, so that the entire test runs in one window.
func newNodes(t *testing.T) []*apptest.Service {
	t.Helper()
	s := apptest.New(t, apptest.PostgresURL(t), apptest.Options{RateLimits: true})
	s.Clock.Stop()
	return []*apptest.Service{s, s.Node(), s.Node()}
}

// admitted sends a cheap request that counts toward the limit and reports whether it
// was admitted. It is safe for concurrent use.
func admitted(p *apptest.Person) bool {
	r := httptest.NewRequest(http.MethodDelete, rest.Prefix+"/me", nil)
	r.Header.Set("Authorization", "Bearer "+p.Token)
	w := httptest.NewRecorder()
	p.Handler.ServeHTTP(w, r)
	return w.Code != http.StatusTooManyRequests
}

// All servers share a plan's limit. They never reject a client below the limit. For each
// additional server, they may exceed the limit by 1%, or by one request if that is more.
func TestPlanLimitIsSharedByAllServers(t *testing.T) {
	t.Parallel()
	nodes := newNodes(t)
	for plan, limit := range map[board.Plan]int{board.PlanFree: 60, board.PlanTeam: 300, board.PlanBusiness: 1200} {
		for _, order := range []struct {
			name string
			node func(i int) int
		}{
			{"in turn", func(i int) int { return i % 3 }},
			{"one after the other", func(i int) int { return min(2, i/(limit/3)) }},
			{"mostly on one server", func(i int) int { return max(0, i%10-7) }},
		} {
			t.Run(fmt.Sprintf("%s %s", plan, order.name), func(t *testing.T) {
				p := nodes[0].Person(fmt.Sprintf("P%d", time.Now().UnixNano()))
				p.Workspace("Engines", plan)
				at := []*apptest.Person{p, p.At(nodes[1]), p.At(nodes[2])}
				var sent, accepted, firstRejected atomic.Int64
				var clients sync.WaitGroup
				firstRejected.Store(-1)
				for range 6 {
					clients.Go(func() {
						for {
							i := sent.Add(1) - 1
							if i >= int64(limit)*3/2 {
								return
							}
							if admitted(at[order.node(int(i))]) {
								accepted.Add(1)
							} else {
								firstRejected.CompareAndSwap(-1, accepted.Load())
							}
						}
					})
				}
				clients.Wait()
				over := 2 * max(1, limit/100)
				if n := int(accepted.Load()); n < limit || n > limit+over {
					t.Errorf("got %d admitted requests, want %d to %d", n, limit, limit+over)
				}
				if n := int(firstRejected.Load()); n < limit-6 { // six are in flight
					t.Errorf("the first request was rejected after %d admitted ones, want at least %d", n, limit-6)
				}
				t.Logf("%d of %d requests were admitted", accepted.Load(), limit)
			})
		}
	}
}

// Soon, the headers of one server include the requests to another, to within 1% per server.
func TestRateHeadersIncludeAllServers(t *testing.T) {
	t.Parallel()
	nodes := newNodes(t)
	ada := nodes[0].Person("Ada")
	ada.Workspace("Engines", board.PlanTeam)
	for range 150 {
		admitted(ada)
	}
	for range 20 { // so that the second server synchronizes
		admitted(ada.At(nodes[1]))
	}
	sent := 170
	apptest.Await(t, "the second server has counted all requests", func() (remaining int, done bool) {
		_, remaining, _ = rate(t, ada.At(nodes[1]).Must("get_me", nil))
		sent++
		if remaining < 300-sent {
			t.Fatalf("second server: got %d remaining after %d requests, want at least %d", remaining, sent, 300-sent)
		}
		return remaining, remaining <= 300-sent+2*3
	})
}

// A server that no longer responds reduces the limit of the others at most by the requests
// that it counted. The next window has the full limit again.
func TestDeadServerDoesNotReduceTheLimit(t *testing.T) {
	t.Parallel()
	nodes := newNodes(t)
	ada := nodes[0].Person("Ada")
	ada.Workspace("Engines", board.PlanTeam)
	other := apptest.New(t, nodes[0].Database, apptest.Options{RateLimits: true})
	for range 40 {
		admitted(ada.At(other)) // its clock is not stopped, so its windows can differ from those of the nodes
	}
	accepted := 0
	for range 400 {
		if admitted(ada) {
			accepted++
		}
	}
	if accepted < 300-40 {
		t.Errorf("got %d admitted requests after another server admitted 40 and died, want at least %d", accepted, 300-40)
	}
	nodes[0].Clock.Advance(2 * time.Minute) // the window may be that of the other server, whose clock differs
	accepted = 0
	for i := range 400 {
		if admitted(ada.At(nodes[i%3])) {
			accepted++
		}
	}
	if accepted < 300 || accepted > 306 {
		t.Errorf("got %d admitted requests in the next window, want 300 to 306", accepted)
	}
}

// Sign-in attempts are counted exactly across all servers. A successful sign-in resets
// the count everywhere.
func TestSignInAttemptsAreSharedByAllServers(t *testing.T) {
	t.Parallel()
	nodes := newNodes(t)
	attempts := make([]*session.Attempts, 3)
	for i := range attempts {
		attempts[i] = session.NewAttempts(false)
	}
	guess := session.Subject{Limit: session.Limit{Name: "guess", Most: 10, Window: 15 * time.Minute}, Of: "ada"}
	wide := session.Subject{Limit: session.Limit{Name: "wide", Most: 50, Window: 15 * time.Minute}, Of: "net"}
	spend := func(i int) error { return attempts[i].Spend(nodes[i].DB, guess, wide) }
	for round := range 2 {
		for n := range 10 {
			if err := spend(n % 3); err != nil {
				t.Fatalf("round %d, guess %d: %v", round, n+1, err)
			}
		}
		for i := range 3 {
			f, ok := board.AsFault(spend(i))
			if !ok || f.Code != board.CodeRateLimited || f.RetryAfter < 14*time.Minute || f.RetryAfter > 15*time.Minute ||
				!strings.Contains(f.Message, " in 15 min.") {
				t.Errorf("round %d: the eleventh guess on server %d: got %v, want rate_limited for 15 minutes", round, i, f)
			}
		}
		nodes[0].Clock.Advance(time.Second)
		attempts[1].Refund(nodes[1].DB, guess, wide)
		nodes[0].Clock.Advance(time.Second)
	}
}

// While the database is unreachable, each server counts separately. Its limits are
// those of a single server.
func TestLimitsWorkWithoutTheDatabase(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, apptest.PostgresURL(t), apptest.Options{})
	db, err := store.Open(t.Context(), store.Options{Database: s.Database})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	a := session.NewAttempts(false)
	guess := session.Subject{Limit: session.Limit{Name: "guess", Most: 10, Window: time.Hour}, Of: "ada"}
	for n := range 10 {
		if err := a.Spend(db, guess); err != nil {
			t.Fatalf("guess %d: %v", n+1, err)
		}
	}
	if err := a.Spend(db, guess); !board.IsCode(err, board.CodeRateLimited) {
		t.Errorf("the eleventh guess: got error %v, want code %s", err, board.CodeRateLimited)
	}
}

// BenchmarkCountedRequest measures the cost of counting a request. With SQLite, the server
// counts in memory. With PostgreSQL, it also synchronizes the counts with other servers.
func BenchmarkCountedRequest(b *testing.B) {
	for name, database := range map[string]func() string{
		"sqlite":   func() string { return b.TempDir() + "/cardwall.db" },
		"postgres": func() string { return apptest.PostgresURL(b) },
	} {
		for _, limits := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s limits=%v", name, limits), func(b *testing.B) {
				s := apptest.New(b, database(), apptest.Options{RateLimits: limits})
				people := make([]*apptest.Person, 20)
				for i := range people {
					people[i] = s.Person(fmt.Sprint("P", i))
					people[i].Workspace("Engines", board.PlanBusiness)
				}
				n, before := 0, processorTime()
				for b.Loop() {
					if n++; n%(20*1000) == 0 {
						b.StopTimer()
						s.Clock.Advance(time.Minute)
						b.StartTimer()
					}
					if !admitted(people[n%20]) {
						b.Fatal("got a rate-limited request")
					}
				}
				b.ReportMetric(float64(processorTime()-before)/float64(b.N), "cpu-ns/op") // independent of other processes' load
			})
		}
	}
}

// processorTime returns the CPU time that this process has used.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
