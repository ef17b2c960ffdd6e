package store

import (
	"context"
	"database/sql"
	"errors"
	"sync"

	"cardwall/internal/board"
	"cardwall/internal/sqldb"
)

// A request for a cached response still has to find out whether the caller may see the board,
// and whether the response is current. If nothing was committed since the same caller last
// asked, the answer is the same. So it is cached together with the version of the data, and such
// a request needs no statement. On PostgreSQL, that version is unknown.

// cachedAccesses is the maximum number of entries of an accessCache. One has about 400 bytes.
const cachedAccesses = 10_000

// accessKey identifies the query for a person's access to the board of a record.
type accessKey struct{ text, recordID, userID string }

// accessCache holds the results of access queries for one version of the data.
type accessCache struct {
	mu      sync.Mutex
	version sqldb.DataVersion
	entries map[accessKey]board.Access
}

// noTransaction is the Runner of a view that reads only what is cached.
type noTransaction struct {
	sqldb.Runner
	failed bool // whether there was a statement
}

var errNoTransaction = errors.New("the view has no transaction")

func (n *noTransaction) Query(context.Context, string, ...any) (*sql.Rows, error) {
	n.failed = true
	return nil, errNoTransaction
}

func (n *noTransaction) Expect(string, ...any) {}

// ReadCached is Read for queries whose responses are cached (see View.Cached). It first runs fn
// without a transaction, on cached values alone, and runs it again if that is not enough.
func (db *DB) ReadCached(ctx context.Context, caller board.Caller, fn func(*View) error) error {
	version := db.engine.DataVersion()
	if version == (sqldb.DataVersion{}) || db.cache == nil {
		return db.Read(ctx, caller, fn)
	}
	var none noTransaction
	cached := db.view(&none, caller, nil)
	cached.version = version
	if err := fn(cached); !none.failed {
		return err
	}
	return db.Read(ctx, caller, func(v *View) error {
		v.version = version
		return fn(v)
	})
}

// cachedAccess returns the result of an access query if the view has no transaction and the
// result is cached for its version.
func (v *View) cachedAccess(key accessKey) (a board.Access, ok bool) {
	if _, ok := v.run.(*noTransaction); !ok {
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

// cacheAccess caches the result of an access query if the view has a version. If the transaction
// sees a newer one, nothing uses the result, because no version comes back.
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
