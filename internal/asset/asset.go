// Package asset serves static bytes, with gzip compression and entity tags.
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

// Asset is one body, plain and compressed. Each encoding has its own entity tag,
// because a strong tag identifies exact bytes (RFC 9110, 8.8.3).
type Asset struct {
	// Hash is a short hash of the body.
	Hash string

	kind   string
	plain  []byte
	packed []byte // gzip; nil if it is hardly smaller
}

// New compresses a body of the given media type.
func New(body []byte, kind string) (*Asset, error) {
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return nil, fmt.Errorf("asset: %w", err)
	}
	if _, err := z.Write(body); err != nil {
		return nil, fmt.Errorf("asset: compress: %w", err)
	}
	if err := z.Close(); err != nil {
		return nil, fmt.Errorf("asset: compress: %w", err)
	}
	if packed.Len() >= len(body)*9/10 {
		return Packed(body, nil, kind), nil
	}
	return Packed(body, packed.Bytes(), kind), nil
}

// Packed returns an Asset of a body and its gzip form, which may be nil.
func Packed(body, packed []byte, kind string) *Asset {
	sum := sha256.Sum256(body)
	return &Asset{Hash: hex.EncodeToString(sum[:8]), kind: kind, plain: body, packed: packed}
}

// ServeHTTP responds to GET and HEAD with the body, or with 304 if the client has
// it. The caller must first set other headers, such as Cache-Control.
func (a *Asset) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.ServeStatus(w, r, http.StatusOK) }

// ServeStatus is like ServeHTTP with another status instead of 200. Only status 200
// can become 304.
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
		_, _ = w.Write(body) // fails only if the client is gone
	}
}

// matches reports whether If-None-Match contains a tag. The comparison is weak (RFC
// 9110, 13.1.2).
func matches(headers []string, tag string) bool {
	for one := range strings.SplitSeq(strings.Join(headers, ","), ",") {
		one = strings.TrimSpace(one)
		if one == "*" || strings.TrimPrefix(one, "W/") == tag {
			return true
		}
	}
	return false
}

// acceptsGzip reports whether Accept-Encoding allows gzip (RFC 9110, 12.5.3). An
// entry for gzip has precedence over the star. A weight of zero means no.
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
