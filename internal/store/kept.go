package store

import (
	"context"
	"slices"

	"github.com/maypok86/otter/v2"

	"cardwall/internal/board"
)

// Encoded responses that show only one board are kept in memory. What a board shows
// depends on its version, and on the names of people, which have a version too. Both are
// read with the caller's rights at every call, so a kept response is correct on any server
// without a message from the one that changed the board.

// defaultKept is how much memory kept responses take unless Options.Kept says otherwise.
const defaultKept board.Bytes = 32 << 20

// keptOverhead is about what the cache needs for an entry besides the response.
const keptOverhead = 256

// Edition identifies what a board shows.
type Edition struct {
	BoardID string
	Version int64 // the boardVersion
	Names   int64 // the version of people's names
}

// keptKey is a part of what a board shows.
type keptKey struct {
	boardID string
	part    [32]byte
}

type keptBody struct {
	edition Edition
	body    []byte
}

// kept is a cache of responses. Nil keeps none.
type kept = otter.Cache[keptKey, keptBody]

// newKept returns a cache with a limit. It returns nil if the limit is negative.
func newKept(limit board.Bytes) (*kept, error) {
	if limit < 0 {
		return nil, nil
	}
	if limit == 0 {
		limit = defaultKept
	}
	return otter.New(&otter.Options[keptKey, keptBody]{
		MaximumWeight: uint64(limit),
		Weigher:       func(_ keptKey, b keptBody) uint32 { return uint32(len(b.body) + keptOverhead) },
	})
}

// KeptBytes returns how much memory kept responses take.
func (db *DB) KeptBytes() board.Bytes {
	if db.kept == nil {
		return 0
	}
	db.kept.CleanUp() // of what is over the limit
	return board.Bytes(db.kept.WeightedSize())
}

// Edition returns the edition of a board from which a loader of this view has loaded a
// record.
func (v *View) Edition(boardID string) Edition {
	a := v.On(boardID)
	return Edition{BoardID: boardID, Version: a.Version, Names: a.NamesVersion}
}

// Kept returns a part of what a board shows, encoded. It calls encode if the part is not
// kept for the current edition. A loader of this view must have loaded a record of the
// board. The caller must not change the result.
func (v *View) Kept(boardID string, part [32]byte, encode func() ([]byte, error)) ([]byte, error) {
	if v.db.kept == nil || v.writes {
		return encode()
	}
	key, edition := keptKey{boardID, part}, v.Edition(boardID)
	k, ok := v.db.kept.GetIfPresent(key)
	ok = ok && k.edition == edition
	if ok && v.db.opts.CheckKept == nil {
		return k.body, nil
	}
	body, err := encode()
	if ok && err == nil {
		v.db.opts.CheckKept(k.body, body)
	}
	if err == nil {
		v.db.kept.Set(key, keptBody{edition, slices.Clone(body)}) // without spare capacity
	}
	return body, err
}

// namesVersion is an expression for the version of people's names.
const namesVersion = "COALESCE((SELECT CAST(s.value AS BIGINT) FROM settings s WHERE s.key = 'names_version'), 0)"

// BoardOfCard returns the board of a card on which the caller has the capability.
func (v *View) BoardOfCard(ctx context.Context, cardID string, need board.Capability) (string, error) {
	return v.authorize(ctx, need, cardAccess, cardID)
}
