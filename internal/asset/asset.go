// Package asset serves bytes that do not change while the program runs: packed
// once, and answered by their entity tag.
package asset

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// Asset is one body in both encodings. Each encoding has an entity tag of its
// own, since a strong tag names exact bytes (RFC 9110, 8.8.3).
type Asset struct {
	// Hash is short and changes with the body.
	Hash string

	kind   string
	plain  []byte
	packed []byte // gzip; nil when that is hardly smaller
}

// New packs a body of a media type.
func New(body []byte, kind string) (*Asset, error) {
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return nil, fmt.Errorf("asset: %w", err)
	}
	if _, err := z.Write(body); err != nil {
		return nil, fmt.Errorf("asset: pack: %w", err)
	}
	if err := z.Close(); err != nil {
		return nil, fmt.Errorf("asset: pack: %w", err)
	}
	if packed.Len() >= len(body)*9/10 {
		return Packed(body, nil, kind), nil
	}
	return Packed(body, packed.Bytes(), kind), nil
}

// Packed takes a body together with its gzip form, packed before the program was
// built; nil is none.
func Packed(body, packed []byte, kind string) *Asset {
	sum := sha256.Sum256(body)
	return &Asset{Hash: hex.EncodeToString(sum[:8]), kind: kind, plain: body, packed: packed}
}

// ServeHTTP answers GET and HEAD with the body, or with 304 for who has it. What
// else the answer says, as how long it may be kept, is for the caller to set first.
func (a *Asset) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.ServeStatus(w, r, http.StatusOK) }

// ServeStatus is ServeHTTP with another status in place of 200. Only 200 can turn
// into 304.
func (a *Asset) ServeStatus(w http.ResponseWriter, r *http.Request, status int) {
	body, tag := a.plain, `"`+a.Hash+`"`
	h := w.Header()
	h.Add("Vary", "Accept-Encoding")
	packed := a.packed != nil && acceptsGzip(r.Header.Values("Accept-Encoding"))
	if packed {
		body, tag = a.packed, `"`+a.Hash+`-gzip"`
	}
	h.Set("ETag", tag)
	if status == http.StatusOK && matches(r.Header.Values("If-None-Match"), tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	if packed {
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("Content-Type", a.kind)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // the reader may have left; there is nobody to tell
	}
}

// matches compares weakly, as RFC 9110, 13.1.2 asks for If-None-Match.
func matches(headers []string, tag string) bool {
	for one := range strings.SplitSeq(strings.Join(headers, ","), ",") {
		one = strings.TrimSpace(one)
		if one == "*" || strings.TrimPrefix(one, "W/") == tag {
			return true
		}
	}
	return false
}

// acceptsGzip reads Accept-Encoding (RFC 9110, 12.5.3): gzip by name decides,
// else the star; a weight of zero refuses.
func acceptsGzip(headers []string) bool {
	star := false
	for one := range strings.SplitSeq(strings.Join(headers, ","), ",") {
		name, params, _ := strings.Cut(one, ";")
		ok := true
		if key, q, found := strings.Cut(strings.TrimSpace(params), "="); found && strings.EqualFold(strings.TrimSpace(key), "q") {
			weight, err := strconv.ParseFloat(strings.TrimSpace(q), 64)
			ok = err == nil && weight > 0
		}
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "gzip", "x-gzip":
			return ok
		case "*":
			star = ok
		}
	}
	return star
}
