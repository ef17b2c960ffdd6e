package session

import (
	"context"
	"crypto/sha256"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// cacheFor is how long a token's answer from the database is believed. It is
// counted from before the query, so that no answer is older.
const cacheFor = 900 * time.Millisecond

// touchEvery is how exact a token's last use is.
const touchEvery = time.Minute

// Gate lets callers in.
type Gate struct {
	db    *store.DB
	log   *slog.Logger
	rates *rates

	mu      sync.Mutex
	known   map[[sha256.Size]byte]known
	touched map[string]time.Time
	writing sync.WaitGroup
}

type known struct {
	caller board.Caller
	ok     bool
	until  time.Time
}

// NewGate makes the gate of a server. Unlimited switches rate limits off.
func NewGate(db *store.DB, log *slog.Logger, unlimited bool) *Gate {
	return &Gate{
		db: db, log: log, rates: newRates(unlimited),
		known: map[[sha256.Size]byte]known{}, touched: map[string]time.Time{},
	}
}

// Close waits for what the gate still writes.
func (g *Gate) Close() { g.writing.Wait() }

// Admit finds out who sent a request and counts it. The rate is there for the
// headers of every answer, refusals too. It refuses with unauthenticated and
// rate_limited.
func (g *Gate) Admit(r *http.Request, class Class) (board.Caller, Rate, error) {
	now := g.db.Now()
	caller, err := g.authenticate(r)
	if err != nil {
		rate, ok := g.rates.spend("address "+address(r), strangerLimit, now)
		if !ok && board.IsCode(err, board.CodeUnauthenticated) {
			return board.Caller{}, rate, limited(rate, now)
		}
		return board.Caller{}, rate, err
	}
	limits := caller.Plan.Limits()
	rate, ok := g.rates.spend("user "+caller.UserID, limits.RequestsPerMinute, now)
	if ok && class == Searches {
		if searches, ok := g.rates.spend("search "+caller.UserID, limits.SearchesPerMinute, now); !ok {
			return board.Caller{}, searches, limited(searches, now)
		}
	}
	if !ok {
		return board.Caller{}, rate, limited(rate, now)
	}
	return caller, rate, nil
}

// Stranger is the rate of a request that needs no token.
func (g *Gate) Stranger(r *http.Request) Rate {
	return g.rates.look("address "+address(r), strangerLimit, g.db.Now())
}

func (g *Gate) authenticate(r *http.Request) (board.Caller, error) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") || len(r.Header.Values("Authorization")) != 1 {
		return board.Caller{}, board.Unauthenticated()
	}
	hash, ok := board.TokenHash(strings.TrimSpace(token))
	if !ok {
		return board.Caller{}, board.Unauthenticated()
	}
	key := [sha256.Size]byte(hash)
	now := g.db.Now()
	g.mu.Lock()
	k, cached := g.known[key]
	g.mu.Unlock()
	if !cached || now.After(k.until) {
		var err error
		if k, err = g.ask(r.Context(), hash, now); err != nil {
			return board.Caller{}, err
		}
		g.keep(key, k, now)
	}
	if !k.ok {
		return board.Caller{}, board.Unauthenticated()
	}
	g.touch(k.caller, now)
	return k.caller, nil
}

func (g *Gate) ask(ctx context.Context, hash []byte, now time.Time) (k known, err error) {
	k.until = now.Add(cacheFor)
	err = g.db.Read(ctx, board.System(), func(v *store.View) (err error) {
		k.caller, k.ok, err = v.CallerOfToken(ctx, hash)
		return err
	})
	return k, err
}

func (g *Gate) keep(key [sha256.Size]byte, k known, now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.known) > 10_000 {
		for old, k := range g.known {
			if now.After(k.until) {
				delete(g.known, old)
			}
		}
	}
	g.known[key] = k
}

// touch notes a token's use, once in a while and beside the request.
func (g *Gate) touch(c board.Caller, now time.Time) {
	g.mu.Lock()
	last, seen := g.touched[c.TokenID]
	due := !seen || now.Sub(last) >= touchEvery
	if due {
		g.touched[c.TokenID] = now
	}
	g.mu.Unlock()
	if !due {
		return
	}
	g.writing.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := g.db.Write(ctx, board.System(), func(tx *store.Tx) error { return tx.TouchToken(ctx, c.TokenID) }); err != nil {
			g.log.Warn("note the use of a token", "token", c.TokenID, "error", err)
		}
	})
}

// address is the network address a request came from.
func address(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}
