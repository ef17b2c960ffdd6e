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

// roundTripCounter returns the URL of a proxy in front of a PostgreSQL server, and the number of
// times that its clients have sent something and waited for the response.
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
			waits := new(atomic.Bool) // whether the client waits for a response
			go func() {
				relay(server, client, func() {
					if !waits.Swap(true) {
						trips.Add(1)
					}
				})
			}()
			go relay(client, server, func() { waits.Store(false) })
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

// relay copies until one side ends, and calls fn before each piece.
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

// Round trips to PostgreSQL are most of the time that an operation takes, and that it locks a
// board. A number may fall; a higher one needs a reason.
func TestRoundTripsOnPostgres(t *testing.T) {
	database, trips := roundTripCounter(t, apptest.PostgresURL(t))
	s := apptest.New(t, database, apptest.Options{})
	ada := s.Person("Ada")
	workspace := ada.Workspace("Engines", board.PlanTeam)
	boardID := ada.Must("create_board", fields{"workspaceId": workspace, "name": "Launch"}).ID()
	list := ada.Must("create_list", fields{"boardId": boardID, "name": "To do"}).ID()
	card := ada.Must("create_card", fields{"listId": list, "title": "Rocket"}).ID()
	for _, c := range []struct {
		operation string
		arguments fields
		vary      func(arguments fields, call int) // makes each call a change; nil for none
		most      int64
	}{
		{"get_card", fields{"cardId": card}, nil, 5},
		{"list_cards", fields{"boardId": boardID}, nil, 6},
		{"create_card", fields{"listId": list, "title": "Engine"}, nil, 4},
		{"update_card", fields{"cardId": card}, func(a fields, i int) { a["title"] = fmt.Sprint("Rocket ", i) }, 4},
		{"move_card", fields{"cardId": card, "listId": list}, func(a fields, i int) { a["position"] = []string{"top", "bottom"}[i%2] }, 4},
		{"add_comment", fields{"cardId": card, "text": "Yes."}, nil, 6},
	} {
		// The first call prepares statements. Work in the background can only add round trips.
		least := int64(1 << 20)
		for i := range 8 {
			arguments := maps.Clone(c.arguments)
			if c.vary != nil {
				c.vary(arguments, i)
			}
			before := trips.Load()
			if r := ada.Call(c.operation, arguments); r.Status >= 300 {
				t.Fatalf("%s: %d %s", c.operation, r.Status, r.Raw)
			}
			least = min(least, trips.Load()-before)
		}
		if least > c.most {
			t.Errorf("%s takes %d round trips, want at most %d", c.operation, least, c.most)
		} else if least < c.most {
			t.Logf("%s takes %d round trips; lower its limit", c.operation, least)
		}
	}
}
