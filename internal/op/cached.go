package op

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"

	"cardwall/internal/store"
)

// Basis is what a response depends on besides its input. The zero Basis means that the response must
// not be cached.
type Basis struct {
	BoardID string // the board whose content the response depends on
	Values  string // other values that it depends on, such as the meaning of the words me and today
}

// Cached caches the responses of a query in memory. The entity tag of a list also depends on the basis then,
// so that a matching If-None-Match saves reading the list. Fn authorizes the caller and returns the basis of
// the response. Responses with the same input and basis must be the same for all authorized callers.
func Cached[I any](fn func(ctx context.Context, v *store.View, in I) (Basis, error)) Option {
	return option(func(o *Operation) {
		o.basis = func(ctx context.Context, v *store.View, in any) (Basis, error) { return fn(ctx, v, *in.(*I)) }
	})
}

// cachedResponse returns the response of a query that has the Cached option. Part is the fingerprint of
// the call. It returns false if the query must run instead.
func (e *Engine) cachedResponse(ctx context.Context, v *store.View, c Call, in any, part [32]byte) (r Response, ok bool, err error) {
	basis, err := c.Operation.basis(ctx, v, in)
	if err != nil || basis.BoardID == "" {
		return r, false, err
	}
	if basis.Values != "" {
		part = sha256.Sum256(append(part[:], basis.Values...))
	}
	if !c.Operation.returnsRecord() {
		r.Tag = e.tag(v.Edition(basis.BoardID), part)
		if r = r.tagged(c.Match); r.Same {
			return r, true, nil
		}
	}
	r.Body, err = v.Cached(basis.BoardID, part, func() ([]byte, error) {
		out, err := c.Operation.query(ctx, v, in)
		if err != nil {
			return nil, err
		}
		return e.encode(c, out, 0)
	})
	if err != nil || r.Tag != "" {
		return r, true, err
	}
	return r.tagged(c.Match), true, nil
}

// tag returns the entity tag of a response that was not encoded. The tag is weak, because it does not
// depend on the encoding.
func (e *Engine) tag(edition store.Edition, part [32]byte) string {
	h := sha256.New()
	// Writing to a hash never fails.
	_, _ = fmt.Fprintf(h, "%s %s %d %d %x", e.o.Version, edition.BoardID, edition.Version, edition.Names, part)
	return `W/"` + base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:18]) + `"`
}
