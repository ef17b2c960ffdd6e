package app_test

import (
	"fmt"
	"io"
	"maps"
	"net"
	"net/url"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

// roundTripCounter starts a proxy in front of a PostgreSQL server. It returns the proxy's URL and a
// counter of the round trips that clients make through the proxy.
func roundTripCounter(t *testing.T, database string) (proxied string, trips *atomic.Int64) {
	t.Helper()
	config, err := pgconn.ParseConfig(database)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	trips = new(atomic.Int64)
	network, address := pgconn.NetworkAddress(config.Host, config.Port)
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial(network, address)
			if err != nil {
				_ = client.Close()
				continue
			}
			waiting := new(atomic.Bool) // whether the client is waiting for a response
			go func() {
				relay(server, client, func() {
					if !waiting.Swap(true) {
						trips.Add(1)
					}
				})
			}()
			go relay(client, server, func() { waiting.Store(false) })
		}
	}()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Del("host")
	q.Set("sslmode", "disable")
	u.Host, u.RawQuery = l.Addr().String(), q.Encode()
	return u.String(), trips
}

// relay copies data until one side closes the connection, and then closes both sides. It calls fn
// before each write.
func relay(to io.WriteCloser, from io.ReadCloser, fn func()) {
	defer func() { _, _ = to.Close(), from.Close() }()
	for buf := make([]byte, 64<<10); ; {
		n, err := from.Read(buf)
		if n > 0 {
			fn()
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// Round trips to PostgreSQL account for most of an operation's duration, and for most of the time for
// which it locks a board. If a change needs to raise a limit, its commit message must say why.
func TestRoundTripsOnPostgres(t *testing.T) {
	database, trips := roundTripCounter(t, apptest.PostgresURL(t))
	s := apptest.New(t, database, apptest.Options{Unchecked: true})
	ada := s.Person("Ada")
	elsewhere := ada.At(s.Node())
	workspace := ada.Workspace("Engines", board.PlanTeam)
	boardID := ada.Must("create_board", fields{"workspaceId": workspace, "name": "Launch"}).ID()
	list := ada.Must("create_list", fields{"boardId": boardID, "name": "To do"}).ID()
	card := ada.Must("create_card", fields{"listId": list, "title": "Rocket"}).ID()
	title := "Rocket"
	rename := func(p *apptest.Person) func(fields, int) {
		return func(fields, int) {
			title += "!"
			p.Must("update_card", fields{"cardId": card, "title": title})
		}
	}
	for _, c := range []struct {
		operation string
		arguments fields
		vary      func(arguments fields, call int) // runs before each call, if not nil
		limit     int64
	}{
		// A cached response takes one round trip. After a change, a transaction takes three. After a change on
		// another server, which only the database knows, the attempt to use the cached response comes first.
		{"get_card", fields{"cardId": card}, nil, 1},
		{"get_card", fields{"cardId": card}, rename(ada), 3},
		{"get_card", fields{"cardId": card}, rename(elsewhere), 4},
		{"list_cards", fields{"boardId": boardID}, nil, 1},
		{"list_cards", fields{"boardId": boardID}, rename(ada), 6},
		{"create_card", fields{"listId": list, "title": "Engine"}, nil, 2},
		{"update_card", fields{"cardId": card}, func(a fields, i int) { a["title"] = fmt.Sprint("Rocket ", i) }, 2},
		{"move_card", fields{"cardId": card, "listId": list},
			func(a fields, i int) { a["position"] = []string{"top", "bottom"}[i%2] }, 3},
		{"add_comment", fields{"cardId": card, "text": "Yes."}, nil, 4},
	} {
		// The first call also prepares statements, and background work adds round trips. The minimum of
		// several calls excludes both.
		least := int64(1 << 20)
		for i := range 8 {
			arguments := maps.Clone(c.arguments)
			if c.vary != nil {
				c.vary(arguments, i)
			}
			before := trips.Load()
			r := ada.Call(c.operation, arguments)
			if r.Status >= 300 || c.operation == "get_card" && r.Text("title") != title {
				t.Fatalf("%s: got status %d, body %s; want success, with the title %s", c.operation, r.Status, r.Raw, title)
			}
			least = min(least, trips.Load()-before)
		}
		if least > c.limit {
			t.Errorf("%s: got %d round trips, want at most %d", c.operation, least, c.limit)
		} else if least < c.limit {
			t.Logf("%s: got %d round trips; its limit can be lowered", c.operation, least)
		}
	}
}
