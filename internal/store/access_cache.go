package store

import (
	"context"
	"errors"
	"sync"

	"cardwall/internal/board"
	"cardwall/internal/sqldb"
	"cardwall/internal/trace"
)

// Even if a response is cached, the server must determine whether the caller may see the board
// and whether the response is current. Both can change only with a commit. So the caller's access
// is cached together with the version of the data, and a request that finds both in the cache
// needs no statement. On PostgreSQL, the version is unknown, and no access is cached. Then the
// access query is the only statement of such a request, and needs no transaction.

// cachedAccesses is the maximum number of entries of an accessCache. An entry has about 400 bytes.
const cachedAccesses = 10_000

// accessKey identifies the query for a person's access to the board of a record.
type accessKey struct{ text, recordID, userID string }

// accessCache holds the results of access queries for one version of the data.
type accessCache struct {
	mu      sync.Mutex
	version sqldb.DataVersion
	entries map[accessKey]board.Access
}

// ReadCached is Read for queries whose responses are cached (see View.Cached). If all that fn needs
// is likely to be cached, fn first runs without a transaction, and again in one if that was not
// enough. The request identifies the query and its arguments.
func (db *DB) ReadCached(ctx context.Context, caller board.Caller, request [32]byte, fn func(*View) error) error {
	version := db.engine.DataVersion()
	known := version != sqldb.DataVersion{}
	if db.cache != nil && (known || db.isLikelyCurrent(request)) {
		if err := db.probe(ctx, caller, version, fn); !errors.Is(err, sqldb.ErrProbe) {
			return err
		}
	}
	return db.Read(ctx, caller, func(v *View) error {
		v.version = version
		err := fn(v)
		if err == nil && !known && v.editionQueries == 1 {
			db.noteCurrent(request, v.edition)
		}
		return err
	})
}

// probe runs fn without a transaction.
func (db *DB) probe(ctx context.Context, caller board.Caller, version sqldb.DataVersion, fn func(*View) error) error {
	ctx, span := trace.Begin(ctx, "cached read", trace.Internal)
	err := fault(db.engine.Probe(ctx, func(r sqldb.Runner) error {
		v := db.view(r, caller, nil)
		v.version, v.probe = version, true
		return fn(v)
	}))
	if errors.Is(err, sqldb.ErrProbe) {
		span.End()
	} else {
		db.ended(span, "read", err)
	}
	return err
}

// On PostgreSQL, a probe that does not find a current response costs a round trip more than a
// transaction alone. So there is a probe only if a response to the request is cached, one query was
// enough to authorize it, and the board has not changed since, as far as this server knows. Two
// entries of the response cache record that: one for the request, without a board, and one for the
// board, without a request.

func (db *DB) isLikelyCurrent(request [32]byte) bool {
	cached, ok := db.cache.GetIfPresent(cacheKey{part: request})
	if !ok {
		return false
	}
	newest, ok := db.cache.GetIfPresent(cacheKey{boardID: cached.edition.BoardID})
	return ok && newest.edition == cached.edition
}

func (db *DB) noteCurrent(request [32]byte, e Edition) {
	if db.cache != nil {
		db.cache.Set(cacheKey{part: request}, cacheEntry{edition: e})
		db.cache.Set(cacheKey{boardID: e.BoardID}, cacheEntry{edition: e})
	}
}

// noteChanged records that this server has changed a board.
func (db *DB) noteChanged(boardID string) {
	if db.cache != nil {
		db.cache.Invalidate(cacheKey{boardID: boardID})
	}
}

// cachedAccess returns the result of an access query if the view has no transaction and the
// result is cached for its version.
func (v *View) cachedAccess(key accessKey) (a board.Access, ok bool) {
	if !v.probe {
		return a, false // the transaction may see a newer version
	}
	c := &v.db.accesses
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.version != v.version {
		return a, false
	}
	a, ok = c.entries[key]
	return a, ok
}

// cacheAccess caches the result of an access query if the view has a version. The transaction may
// see a newer one. Then only calls that began before that commit can use the result.
func (v *View) cacheAccess(key accessKey, a board.Access) {
	if v.version == (sqldb.DataVersion{}) {
		return
	}
	c := &v.db.accesses
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.version != v.version || len(c.entries) == cachedAccesses {
		c.version, c.entries = v.version, map[accessKey]board.Access{}
	}
	c.entries[key] = a
}
