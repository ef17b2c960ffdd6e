package store

import (
	"context"
	"slices"

	"github.com/maypok86/otter/v2"

	"cardwall/internal/board"
)

// Encoded responses that show only one board are cached in memory. What a board shows
// depends on the board's version and on people's names, which have a version of their own.
// Every call finds both versions together with the caller's permissions: in the database or, on
// SQLite, in a cache that ends with the next commit. So a cached response is correct on every
// server, even if another server has changed the board.

// defaultCacheSize is the default of Options.CacheSize.
const defaultCacheSize board.Bytes = 32 << 20

// entryOverhead is the approximate size of a cache entry without the response, in bytes.
const entryOverhead = 256

// Edition identifies the state of everything that a board shows.
type Edition struct {
	BoardID string
	Version int64 // the board's version
	Names   int64 // the version of people's names
}

// cacheKey identifies a part of what a board shows.
type cacheKey struct {
	boardID string
	part    [32]byte
}

type cacheEntry struct {
	edition Edition
	body    []byte
}

// responseCache is a cache of responses. A nil *responseCache caches nothing.
type responseCache = otter.Cache[cacheKey, cacheEntry]

// newResponseCache returns a cache with the given size limit. It returns nil if the limit is
// negative.
func newResponseCache(limit board.Bytes) (*responseCache, error) {
	if limit < 0 {
		return nil, nil
	}
	if limit == 0 {
		limit = defaultCacheSize
	}
	return otter.New(&otter.Options[cacheKey, cacheEntry]{
		MaximumWeight: uint64(limit),
		Weigher:       func(_ cacheKey, b cacheEntry) uint32 { return uint32(len(b.body) + entryOverhead) },
	})
}

// CachedBytes returns the size of the cache: all responses, with entryOverhead for each.
func (db *DB) CachedBytes() board.Bytes {
	if db.cache == nil {
		return 0
	}
	db.cache.CleanUp() // evicts entries beyond the limit
	return board.Bytes(db.cache.WeightedSize())
}

// Edition returns the edition of a board from which a loader of this view has loaded a
// record. The view remembers the first one, and how many queries it took, for ReadCached.
func (v *View) Edition(boardID string) Edition {
	a := v.On(boardID)
	e := Edition{BoardID: boardID, Version: a.Version, Names: a.NamesVersion}
	if v.edition == (Edition{}) {
		v.edition, v.editionQueries = e, v.queries
	}
	return e
}

// Cached returns the encoded form of a part of what a board shows. It calls encode if the
// part is not cached for the current edition, and always in a Tx. A loader of this view
// must have loaded a record of the board. The caller must not change the result.
func (v *View) Cached(boardID string, part [32]byte, encode func() ([]byte, error)) ([]byte, error) {
	if v.db.cache == nil || v.writes {
		return encode()
	}
	key, edition := cacheKey{boardID, part}, v.Edition(boardID)
	k, ok := v.db.cache.GetIfPresent(key)
	ok = ok && k.edition == edition
	if ok && v.db.opts.CheckCached == nil {
		return k.body, nil
	}
	body, err := encode()
	if ok && err == nil {
		v.db.opts.CheckCached(k.body, body)
	}
	if err == nil {
		v.db.cache.Set(key, cacheEntry{edition, slices.Clone(body)}) // body may have much spare capacity
	}
	return body, err
}

// namesVersion is an SQL expression for the version of people's names.
const namesVersion = "COALESCE((SELECT CAST(s.value AS BIGINT) FROM settings s WHERE s.key = 'names_version'), 0)"

// BoardOfCard returns the id of a card's board. It returns an error unless the caller has
// the capability on the board.
func (v *View) BoardOfCard(ctx context.Context, cardID string, need board.Capability) (string, error) {
	return v.authorize(ctx, need, cardAccess, cardID)
}
