package store

import (
	"context"
	"database/sql"
	"errors"
	"sync"

	"cardwall/internal/board"
	"cardwall/internal/sqldb"
)

// Even if a response is cached, the server must determine whether the caller may see the board
// and whether the response is current. Both can change only with a commit. So the caller's access
// is cached together with the version of the data, and a request that finds both in the cache
// needs no statement. On PostgreSQL, the version is unknown, and no access is cached.

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

// noTransaction is the Runner of a view that uses only cached values.
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
