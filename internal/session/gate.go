package session

import (
	"context"
	"crypto/sha256"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// cacheFor is how long the database's answer about a token or a cookie is
// believed. It is counted from before the query, so that no answer is older.
const cacheFor = 900 * time.Millisecond

// askTime is how long the database has for that.
const askTime = 10 * time.Second

// touchEvery is how exact the last use of a token or session is.
const touchEvery = time.Minute

// Gate lets callers in.
type Gate struct {
	db      *store.DB
	log     *slog.Logger
	rates   *counts
	cookie  cookie
	origin  *http.CrossOriginProtection
	proxies []netip.Prefix
	metrics *Metrics

	asked singleflight.Group // by what is known

	mu      sync.Mutex
	known   map[[sha256.Size]byte]known
	touched map[string]time.Time
	unnamed map[string]bool // neighbors that were warned about
	writing sync.WaitGroup
	stop    chan struct{}
	stopped sync.Once
}

type known struct {
	caller board.Caller
	ok     bool
	until  time.Time
}

// Options of a gate.
type Options struct {
	BaseURL   string         // where browsers find the server: decides what the cookie is called, and which site is ours
	Unlimited bool           // no rate limits
	Proxies   []netip.Prefix // our own, whose X-Forwarded-For says where a request came from
	Metrics   *Metrics       // nil for none
}

// NewGate makes the gate of a server.
func NewGate(db *store.DB, log *slog.Logger, o Options) *Gate {
	if o.Metrics == nil {
		o.Metrics = NewMetrics()
	}
	g := &Gate{
		metrics: o.Metrics,
		db:      db, log: log, rates: newCounts(o.Unlimited, true), stop: make(chan struct{}), cookie: cookieFor(o.BaseURL), origin: ownOrigin(o.BaseURL), proxies: o.Proxies,
		known: map[[sha256.Size]byte]known{}, touched: map[string]time.Time{}, unnamed: map[string]bool{},
	}
	g.rates.refused = o.Metrics.refused
	if g.rates.share(db); g.rates.db != nil {
		g.writing.Go(g.tellCounts)
	}
	return g
}

// Close tells the other servers what was counted here, and waits for what the
// gate still writes.
func (g *Gate) Close() {
	g.stopped.Do(func() { close(g.stop) })
	g.writing.Wait()
}

// tellCounts tells the other servers what this one counts.
func (g *Gate) tellCounts() {
	tick := time.NewTicker(tellEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			g.rates.tellAll(g.db.Now())
		case <-g.stop:
			g.rates.tellAll(g.db.Now())
			return
		}
	}
}

// Admit finds out who sent a request and counts it. The rate is there for the
// headers of every answer, refusals too. It refuses with unauthenticated and
// rate_limited.
func (g *Gate) Admit(r *http.Request, class Class) (board.Caller, Rate, error) {
	now := g.db.Now()
	caller, err := g.authenticate(r)
	if err == nil && caller.SessionID != "" {
		err = g.sameSite(r)
	}
	address, network := g.from(r)
	if err != nil {
		rate, ok := g.spendNetwork("address", address, network, strangerLimit, now)
		if !ok && board.IsCode(err, board.CodeUnauthenticated) {
			return board.Caller{}, rate, limited("requests", rate, now)
		}
		return board.Caller{}, rate, err
	}
	caller.Address, caller.Network = address, network
	if caller.SessionID != "" {
		caller.Device = g.device(r)
		rate, err := g.spendSession(caller, class, now)
		return caller, rate, err
	}
	rate, err := g.spend(requestsOf(caller), searchesOf(caller), class, now)
	if err != nil {
		return board.Caller{}, rate, err
	}
	return caller, rate, nil
}

func requestsOf(c board.Caller) Subject {
	return perMinute("user", c.UserID, c.Plan.Limits().RequestsPerMinute)
}

func searchesOf(c board.Caller) Subject {
	return perMinute("search", c.UserID, c.Plan.Limits().SearchesPerMinute)
}

// spend counts a request, and a search in both budgets. What either refuses is
// counted in neither. It returns the rate that limits the caller most.
func (g *Gate) spend(requests, searches Subject, class Class, now time.Time) (Rate, error) {
	if class != Searches {
		rate, ok := g.rates.spend(requests, now)
		if !ok {
			return rate, limited("requests", rate, now)
		}
		return rate, nil
	}
	search, ok := g.rates.spend(searches, now)
	if !ok {
		return search, limited("searches", search, now)
	}
	rate, ok := g.rates.spend(requests, now)
	switch {
	case !ok:
		g.rates.forgive(searches, false, now)
		return rate, limited("requests", rate, now)
	case rate.Remaining < search.Remaining:
		return rate, nil
	}
	return search, nil
}

// AdmitSearch counts a search of a token's owner whose request was admitted as
// an ordinary one, before anybody knew that it searches. It refuses with
// rate_limited, and then the request no longer counts either.
func (g *Gate) AdmitSearch(caller board.Caller) error {
	now := g.db.Now()
	rate, ok := g.rates.spend(searchesOf(caller), now)
	if !ok {
		g.rates.forgive(requestsOf(caller), false, now)
		return limited("searches", rate, now)
	}
	return nil
}

// AdmitAnybody counts a request to what is open to all. Its caller is nobody,
// whatever else it carries. It refuses with forbidden what another site's page
// had a browser send, and with rate_limited.
func (g *Gate) AdmitAnybody(r *http.Request, _ Class) (board.Caller, Rate, error) {
	return g.admitNobody(r, "anybody", anybodyLimit)
}

// AdmitVisitor admits the caller of a session, and anyone else as nobody. It
// refuses what AdmitAnybody refuses.
func (g *Gate) AdmitVisitor(r *http.Request, class Class) (board.Caller, Rate, error) {
	if _, ok := g.cookie.read(r); !ok || len(r.Header.Values("Authorization")) > 0 {
		return g.AdmitAnybody(r, class)
	}
	caller, rate, err := g.Admit(r, class)
	if board.IsCode(err, board.CodeUnauthenticated) {
		return g.AdmitAnybody(r, class)
	}
	return caller, rate, err
}

// AdmitGuest is AdmitAnybody for public pages, whose requests are counted apart:
// who looks at many keeps nobody from signing in.
func (g *Gate) AdmitGuest(r *http.Request, _ Class) (board.Caller, Rate, error) {
	return g.admitNobody(r, "guest", guestLimit)
}

func (g *Gate) admitNobody(r *http.Request, what string, limit int) (board.Caller, Rate, error) {
	now := g.db.Now()
	caller := board.Nobody()
	caller.Address, caller.Network = g.from(r)
	caller.Device, caller.Replaces = g.device(r), g.replaced(r)
	rate, ok := g.spendNetwork(what, caller.Address, caller.Network, limit, now)
	if !ok {
		return caller, rate, limited("requests", rate, now)
	}
	return caller, rate, g.sameSite(r)
}

// spendNetwork counts a request of nobody in particular. The rate is that of the
// network, unless the proxy that it came through is used up.
func (g *Gate) spendNetwork(what, address, network string, limit int, now time.Time) (rate Rate, ok bool) {
	for i, s := range perNetwork(minutely(what, limit), address, network) {
		each, allowed := g.rates.spend(s, now)
		if !allowed {
			return each, false
		}
		if i == 0 {
			rate = each
		}
	}
	return rate, true
}

// AdmitProgram counts a request to an address at which programs connect, and that
// reads no cookie: the page of any site may have a browser send it. It answers
// the network address that it came from, and refuses with rate_limited.
func (g *Gate) AdmitProgram(r *http.Request) (address string, err error) {
	now := g.db.Now()
	address, network := g.from(r)
	if rate, ok := g.spendNetwork("program", address, network, programLimit, now); !ok {
		return address, limited("requests", rate, now)
	}
	return address, nil
}

// Stranger is the rate of a request that needs no token.
func (g *Gate) Stranger(r *http.Request) Rate {
	address, network := g.from(r)
	return g.rates.look(perNetwork(minutely("address", strangerLimit), address, network)[0], g.db.Now())
}

// authenticate finds out who sent a request: by its token, or where it has none
// by its cookie.
func (g *Gate) authenticate(r *http.Request) (board.Caller, error) {
	hash, ask, ok := g.credential(r)
	if !ok {
		return board.Caller{}, board.Unauthenticated()
	}
	key := [sha256.Size]byte(hash)
	now := g.db.Now()
	g.mu.Lock()
	k, cached := g.known[key]
	g.mu.Unlock()
	fresh := cached && !now.After(k.until)
	g.metrics.lookup(fresh)
	if !fresh {
		var err error
		if k, err = g.askOnce(r.Context(), ask, key, now); err != nil {
			return board.Caller{}, err
		}
	}
	if !k.ok {
		return board.Caller{}, board.Unauthenticated()
	}
	g.touch(k.caller, r, now)
	return k.caller, nil
}

// asking finds a caller by a fingerprint.
type asking func(v *store.View, ctx context.Context, hash []byte) (board.Caller, bool, error)

// credential is the fingerprint of what a request carries. A header that holds
// no token is not made up for by a cookie.
func (g *Gate) credential(r *http.Request) (hash []byte, ask asking, ok bool) {
	if len(r.Header.Values("Authorization")) == 0 {
		hash, ok = g.cookie.read(r)
		return hash, (*store.View).CallerOfSession, ok
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") || len(r.Header.Values("Authorization")) != 1 {
		return nil, nil, false
	}
	hash, ok = board.TokenHash(strings.TrimSpace(token))
	return hash, (*store.View).CallerOfToken, ok
}

// askOnce has the requests that find an answer too old at the same time share the
// next one.
func (g *Gate) askOnce(ctx context.Context, ask asking, key [sha256.Size]byte, now time.Time) (known, error) {
	answer, err, _ := g.asked.Do(string(key[:]), func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTime) // who goes leaves the others
		defer cancel()
		k, err := g.ask(ctx, ask, key[:], now)
		if err == nil {
			g.keep(key, k, now)
		}
		return k, err
	})
	if err != nil {
		return known{}, err
	}
	if k := answer.(known); !g.db.Now().After(k.until) {
		return k, nil
	}
	return g.ask(ctx, ask, key[:], g.db.Now()) // it took so long that it is too old by now
}

func (g *Gate) ask(ctx context.Context, ask asking, hash []byte, now time.Time) (k known, err error) {
	k.until = now.Add(cacheFor)
	err = g.db.Read(ctx, board.System(), func(v *store.View) (err error) {
		k.caller, k.ok, err = ask(v, ctx, hash)
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

// touch notes the use of a token or session, once in a while and beside the
// request.
func (g *Gate) touch(c board.Caller, r *http.Request, now time.Time) {
	id, from, agent := c.TokenID+c.SessionID, g.address(r), r.UserAgent() // it has one of the two
	g.mu.Lock()
	last, seen := g.touched[id]
	due := !seen || now.Sub(last) >= touchEvery
	if due {
		if len(g.touched) > 10_000 {
			for old, at := range g.touched {
				if now.Sub(at) >= touchEvery {
					delete(g.touched, old)
				}
			}
		}
		g.touched[id] = now
	}
	g.mu.Unlock()
	if !due {
		return
	}
	g.writing.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		err := g.db.Write(ctx, board.System(), func(tx *store.Tx) error {
			if c.SessionID != "" {
				return tx.TouchSession(ctx, c.SessionID, from, agent)
			}
			return tx.TouchToken(ctx, c.TokenID)
		})
		if err != nil {
			g.log.Warn("note the use of a token or session", "id", id, "error", err)
		}
	})
}
