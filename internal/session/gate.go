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

// cacheTTL is how long the result of a lookup is valid. The time is measured from before
// the query, so that no result is older.
const cacheTTL = 900 * time.Millisecond

// lookupTimeout limits a lookup in the database.
const lookupTimeout = 10 * time.Second

// touchInterval is the precision of the recorded time of the last use of a token or
// session.
const touchInterval = time.Minute

// Gate authenticates callers and counts their requests.
type Gate struct {
	db      *store.DB
	log     *slog.Logger
	rates   *counts
	cookie  cookie
	origin  *http.CrossOriginProtection
	proxies []netip.Prefix
	metrics *Metrics

	lookups singleflight.Group // by hash of the credential

	mu        sync.Mutex
	known     map[[sha256.Size]byte]known // by hash of the credential
	touched   map[string]time.Time        // last recorded use, by id of the token or session
	untrusted map[string]bool             // untrusted proxies that the log has warned about
	writing   sync.WaitGroup
	stop      chan struct{}
	stopped   sync.Once
}

// known is the cached result of a lookup.
type known struct {
	caller board.Caller
	ok     bool
	until  time.Time
}

// Options configures a Gate.
type Options struct {
	BaseURL   string         // determines the name of the cookie and the trusted origin
	Unlimited bool           // disable rate limits
	Proxies   []netip.Prefix // trusted proxies, whose X-Forwarded-For is used
	Metrics   *Metrics       // may be nil
}

// NewGate returns the gate of a server. The caller must call Close.
func NewGate(db *store.DB, log *slog.Logger, o Options) *Gate {
	if o.Metrics == nil {
		o.Metrics = NewMetrics()
	}
	g := &Gate{
		db: db, log: log, metrics: o.Metrics, rates: newCounts(o.Unlimited, true), stop: make(chan struct{}),
		cookie: cookieFor(o.BaseURL), origin: ownOrigin(o.BaseURL), proxies: o.Proxies,
		known: map[[sha256.Size]byte]known{}, touched: map[string]time.Time{}, untrusted: map[string]bool{},
	}
	g.rates.refused = o.Metrics.refused
	if g.rates.share(db); g.rates.db != nil {
		g.writing.Go(g.syncCounts)
	}
	return g
}

// Close synchronizes the counts with the other servers and waits for writes in
// progress.
func (g *Gate) Close() {
	g.stopped.Do(func() { close(g.stop) })
	g.writing.Wait()
}

// syncCounts periodically synchronizes the counts with the other servers.
func (g *Gate) syncCounts() {
	tick := time.NewTicker(syncInterval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			g.rates.syncAll(g.db.Now())
		case <-g.stop:
			g.rates.syncAll(g.db.Now())
			return
		}
	}
}

// Admit authenticates and counts a request. If there is an error, the caller is zero.
// The rate is for the headers of the response and is valid even if there is an error.
// The error is unauthenticated, forbidden, rate_limited or an error of the database.
func (g *Gate) Admit(r *http.Request, of board.Resource) (board.Caller, Rate, error) {
	now := g.db.Now()
	caller, err := g.authenticate(r)
	if err == nil && caller.SessionID != "" {
		err = g.sameSite(r)
	}
	address, network := g.from(r)
	if err != nil {
		rate, ok := g.spendNetwork("address", address, network, unauthenticatedLimit, now)
		if !ok && board.IsCode(err, board.CodeUnauthenticated) {
			return board.Caller{}, rate, limited(rate, now)
		}
		return board.Caller{}, rate, err
	}
	caller.Address, caller.Network = address, network
	if caller.SessionID != "" {
		caller.Device = g.device(r)
	}
	rate, err := g.spend(caller, of, now)
	if err != nil {
		return board.Caller{}, rate, err
	}
	return caller, rate, nil
}

// spend counts a request against the general budget and, if its kind has a separate
// budget, against that one. If either is used up, spend counts nothing. It returns the
// rate of the budget that has less remaining.
func (g *Gate) spend(c board.Caller, of board.Resource, now time.Time) (Rate, error) {
	if of == board.ResourceGeneral {
		rate, ok := g.spendOne(c, of, now)
		if !ok {
			return rate, limited(rate, now)
		}
		return rate, nil
	}
	own, ok := g.spendOne(c, of, now)
	if !ok {
		return own, limited(own, now)
	}
	rate, ok := g.spendOne(c, board.ResourceGeneral, now)
	switch {
	case !ok:
		g.rates.refund(subjectOf(c, of), false, now)
		return rate, limited(rate, now)
	case rate.Remaining < own.Remaining:
		return rate, nil
	}
	return own, nil
}

func (g *Gate) spendOne(c board.Caller, of board.Resource, now time.Time) (Rate, bool) {
	rate, ok := g.rates.spend(subjectOf(c, of), now)
	rate.Resource = of
	return rate, ok
}

// Spend counts a request against the separate budget of its kind, after the request
// was counted against the general budget. The rate is valid even if there is an
// error. If the separate budget is used up, Spend also undoes the general count and
// returns a rate_limited error.
func (g *Gate) Spend(c board.Caller, of board.Resource) (Rate, error) {
	now := g.db.Now()
	rate, ok := g.spendOne(c, of, now)
	if !ok {
		g.rates.refund(subjectOf(c, board.ResourceGeneral), false, now)
		return rate, limited(rate, now)
	}
	return rate, nil
}

// SpendMore counts a batch, which was counted as one request, as n more requests. If they exceed the limit, it
// undoes the first count and returns an error. The rate is valid even if there is an error.
func (g *Gate) SpendMore(c board.Caller, n int) (Rate, error) {
	now, s := g.db.Now(), subjectOf(c, board.ResourceGeneral)
	rate, ok := g.rates.spendMany(s, n, now)
	rate.Resource = board.ResourceGeneral
	if ok {
		return rate, nil
	}
	g.rates.refund(s, false, now)
	if n+1 > rate.Limit {
		return rate, board.Invalid("operations must have at most %d elements, which is the limit of requests per minute.", rate.Limit).
			In("operations", board.RuleValue)
	}
	return rate, limited(rate, now)
}

// Refund undoes the count of a request that another kind of limit rejected, such as the
// limit on concurrent exports. It returns the rate of the request's budget.
func (g *Gate) Refund(c board.Caller, of board.Resource) Rate {
	now := g.db.Now()
	g.rates.refund(subjectOf(c, board.ResourceGeneral), false, now)
	own := subjectOf(c, of)
	if of != board.ResourceGeneral {
		g.rates.refund(own, false, now)
	}
	rate := g.rates.peek(own, now)
	rate.Resource = of
	return rate
}

// AdmitAnonymous counts a request without authenticating it. The caller is
// board.Nobody, or zero if there is an error. The rate is valid even if there is an
// error. The error is rate_limited, or forbidden if a page of another site requests a
// change.
func (g *Gate) AdmitAnonymous(r *http.Request, _ board.Resource) (board.Caller, Rate, error) {
	return g.admitNobody(r, "anybody", anonymousLimit)
}

// AdmitVisitor admits the person of a session, and any other caller as board.Nobody.
// If there is an error, the caller is zero and the rate is valid. The errors are those of
// Admit, except unauthenticated.
func (g *Gate) AdmitVisitor(r *http.Request, of board.Resource) (board.Caller, Rate, error) {
	if _, ok := g.cookie.read(r); !ok || len(r.Header.Values("Authorization")) > 0 {
		return g.AdmitAnonymous(r, of)
	}
	caller, rate, err := g.Admit(r, of)
	if board.IsCode(err, board.CodeUnauthenticated) {
		return g.AdmitAnonymous(r, of)
	}
	return caller, rate, err
}

// AdmitGuest is like AdmitAnonymous, but for public pages. Requests to them are
// counted separately, so heavy browsing of public pages cannot lock people out of
// signing in.
func (g *Gate) AdmitGuest(r *http.Request, _ board.Resource) (board.Caller, Rate, error) {
	return g.admitNobody(r, "guest", guestLimit)
}

func (g *Gate) admitNobody(r *http.Request, what string, limit int) (board.Caller, Rate, error) {
	now := g.db.Now()
	caller := board.Nobody()
	caller.Address, caller.Network = g.from(r)
	caller.Device, caller.Replaces = g.device(r), g.replaced(r)
	rate, ok := g.spendNetwork(what, caller.Address, caller.Network, limit, now)
	if !ok {
		return board.Caller{}, rate, limited(rate, now)
	}
	if err := g.sameSite(r); err != nil {
		return board.Caller{}, rate, err
	}
	return caller, rate, nil
}

// spendNetwork counts an unauthenticated request. It returns the rate of the network.
// If the limit of an untrusted proxy is used up, or the proxy names no client, it
// returns the rate of the proxy. It counts nothing if either limit is used up.
func (g *Gate) spendNetwork(what, address, network string, limit int, now time.Time) (rate Rate, ok bool) {
	return g.rates.spendAll(now, perNetwork(minutely(what, limit), address, network)...)
}

// AdmitProgram counts a request to an endpoint for programs. Such an endpoint reads
// no cookie, so pages of any site may use it. AdmitProgram returns the client's IP
// address, or "" if there is an error. The error is rate_limited.
func (g *Gate) AdmitProgram(r *http.Request) (address string, err error) {
	now := g.db.Now()
	address, network := g.from(r)
	if rate, ok := g.spendNetwork("program", address, network, programLimit, now); !ok {
		return "", limited(rate, now)
	}
	return address, nil
}

// AnonymousRate returns the rate of a request without a valid token. It does not
// count the request.
func (g *Gate) AnonymousRate(r *http.Request) Rate {
	address, network := g.from(r)
	return g.rates.peek(perNetwork(minutely("address", unauthenticatedLimit), address, network)[0], g.db.Now())
}

// Reauthenticate returns an error if the caller of a request is no longer
// authenticated, for example because the token was revoked during a long response. It
// counts nothing.
func (g *Gate) Reauthenticate(r *http.Request) error {
	_, err := g.authenticate(r)
	return err
}

// authenticate returns the caller that the request's token identifies or, without a
// token, its cookie.
func (g *Gate) authenticate(r *http.Request) (board.Caller, error) {
	hash, find, ok := g.credential(r)
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
		if k, err = g.lookUpOnce(r.Context(), find, key, now); err != nil {
			return board.Caller{}, err
		}
	}
	if !k.ok {
		return board.Caller{}, board.Unauthenticated()
	}
	g.touch(k.caller, r, now)
	return k.caller, nil
}

// finder finds the caller of a credential by its hash.
type finder func(v *store.View, ctx context.Context, hash []byte) (board.Caller, bool, error)

// credential returns the hash of a request's token or cookie. If there is an
// Authorization header, the cookie is ignored even if the header has no token.
func (g *Gate) credential(r *http.Request) (hash []byte, find finder, ok bool) {
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

// lookUpOnce looks up a credential. Concurrent requests with the same credential
// share one lookup.
func (g *Gate) lookUpOnce(ctx context.Context, find finder, key [sha256.Size]byte, now time.Time) (known, error) {
	result, err, _ := g.lookups.Do(string(key[:]), func() (any, error) {
		// A client that disconnects must not cancel the lookup for other requests.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookupTimeout)
		defer cancel()
		k, err := g.lookUp(ctx, find, key[:], now)
		if err == nil {
			g.keep(key, k, now)
		}
		return k, err
	})
	if err != nil {
		return known{}, err
	}
	if k := result.(known); !g.db.Now().After(k.until) {
		return k, nil
	}
	return g.lookUp(ctx, find, key[:], g.db.Now()) // the shared lookup took so long that its result is too old
}

func (g *Gate) lookUp(ctx context.Context, find finder, hash []byte, now time.Time) (k known, err error) {
	k.until = now.Add(cacheTTL)
	err = g.db.Read(ctx, board.System(), func(v *store.View) (err error) {
		k.caller, k.ok, err = find(v, ctx, hash)
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

// touch records the use of a token or session in the background, at most once per
// touchInterval.
func (g *Gate) touch(c board.Caller, r *http.Request, now time.Time) {
	id, from, agent := c.TokenID+c.SessionID, g.address(r), r.UserAgent() // a caller has only one of the two ids
	g.mu.Lock()
	last, ok := g.touched[id]
	due := !ok || now.Sub(last) >= touchInterval
	if due {
		if len(g.touched) > 10_000 {
			for old, at := range g.touched {
				if now.Sub(at) >= touchInterval {
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
			g.log.Warn("last use of a token or session not recorded", "id", id, "error", err)
		}
	})
}
