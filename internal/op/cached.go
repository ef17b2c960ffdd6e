package op

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"

	"cardwall/internal/store"
)

// Basis is what a response depends on besides its input. The zero Basis means that the response must
// not be cached.
type Basis struct {
	BoardID string // the board whose content the response depends on
	Values  string // other values that it depends on, such as the meaning of the words me and today
}

// Cached caches the responses of a query in memory and gives them an entity tag. Fn authorizes the caller
// and returns the basis of the response. Responses with the same input and basis must be the same for
// all authorized callers.
func Cached[I any](fn func(ctx context.Context, v *store.View, in I) (Basis, error)) Option {
	return option(func(o *Operation) {
		o.basis = func(ctx context.Context, v *store.View, in any) (Basis, error) { return fn(ctx, v, *in.(*I)) }
	})
}

// cachedResponse returns the response of a query that has the Cached option. It returns false if the
// query must run instead.
func (e *Engine) cachedResponse(ctx context.Context, v *store.View, c Call, in any) (r Response, ok bool, err error) {
	if c.Operation.basis == nil {
		return r, false, nil
	}
	basis, err := c.Operation.basis(ctx, v, in)
	if err != nil || basis.BoardID == "" {
		return r, false, err
	}
	part := c.fingerprint(true)
	if basis.Values != "" {
		part = sha256.Sum256(append(part[:], basis.Values...))
	}
	r.Tag = e.tag(v.Edition(basis.BoardID), part)
	if matches(c.Match, r.Tag) {
		r.Same = true
		return r, true, nil
	}
	r.Body, err = v.Cached(basis.BoardID, part, func() ([]byte, error) {
		out, err := c.Operation.query(ctx, v, in)
		if err != nil {
			return nil, err
		}
		return e.encode(c, out, 0)
	})
	return r, true, err
}

// tag returns the entity tag of a response. The tag is weak, because responses are compressed for
// some clients.
func (e *Engine) tag(edition store.Edition, part [32]byte) string {
	h := sha256.New()
	// Writing to a hash never fails.
	_, _ = fmt.Fprintf(h, "%s %s %d %d %x", e.o.Version, edition.BoardID, edition.Version, edition.Names, part)
	return `W/"` + base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:18]) + `"`
}

// matches reports whether the value of an If-None-Match header matches an entity tag (RFC 9110,
// 13.1.2).
func matches(header, tag string) bool {
	for one := range strings.SplitSeq(header, ",") {
		one = strings.TrimSpace(one)
		if one == "*" || strings.TrimPrefix(one, "W/") == strings.TrimPrefix(tag, "W/") {
			return true
		}
	}
	return false
}
