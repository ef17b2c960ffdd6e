// Package asset serves static content with gzip compression and entity tags.
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

// Asset is a response body, uncompressed and compressed. Each encoding has its own
// entity tag, because a strong tag identifies exact bytes (RFC 9110, 8.8.3).
type Asset struct {
	// Hash is a short hash of the body.
	Hash string

	kind       string
	plain      []byte
	compressed []byte // compressed with gzip; nil if there is no compressed form
}

// New returns an Asset with a body of the given media type. It compresses the body if
// that saves more than a tenth of its size.
func New(body []byte, kind string) (*Asset, error) {
	var buffer bytes.Buffer
	z, err := gzip.NewWriterLevel(&buffer, gzip.BestCompression)
	if err != nil {
		return nil, fmt.Errorf("create gzip writer: %w", err)
	}
	if _, err := z.Write(body); err != nil {
		return nil, fmt.Errorf("compress asset: %w", err)
	}
	if err := z.Close(); err != nil {
		return nil, fmt.Errorf("compress asset: %w", err)
	}
	if buffer.Len() >= len(body)*9/10 {
		return Precompressed(body, nil, kind), nil
	}
	return Precompressed(body, buffer.Bytes(), kind), nil
}

// Precompressed returns an Asset with a body and its gzip form, which may be nil.
func Precompressed(body, compressed []byte, kind string) *Asset {
	sum := sha256.Sum256(body)
	return &Asset{Hash: hex.EncodeToString(sum[:8]), kind: kind, plain: body, compressed: compressed}
}

// ServeHTTP responds to GET and HEAD with the body, or with 304 if If-None-Match
// contains its entity tag. The caller must set other headers, such as Cache-Control,
// before it calls ServeHTTP.
func (a *Asset) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.ServeStatus(w, r, http.StatusOK) }

// ServeStatus is like ServeHTTP but responds with the given status. It responds with
// 304 only if that status is 200.
func (a *Asset) ServeStatus(w http.ResponseWriter, r *http.Request, status int) {
	body, tag := a.plain, `"`+a.Hash+`"`
	h := w.Header()
	h.Add("Vary", "Accept-Encoding")
	useGzip := a.compressed != nil && acceptsGzip(r.Header.Values("Accept-Encoding"))
	if useGzip {
		body, tag = a.compressed, `"`+a.Hash+`-gzip"`
	}
	h.Set("ETag", tag)
	if status == http.StatusOK && matches(r.Header.Values("If-None-Match"), tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	if useGzip {
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("Content-Type", a.kind)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // fails only if the client has disconnected
	}
}

// matches reports whether the values of If-None-Match match a tag. The comparison is
// weak (RFC 9110, 13.1.2).
func matches(headers []string, tag string) bool {
	for entry := range strings.SplitSeq(strings.Join(headers, ","), ",") {
		entry = strings.TrimSpace(entry)
		if entry == "*" || strings.TrimPrefix(entry, "W/") == tag {
			return true
		}
	}
	return false
}

// acceptsGzip reports whether the values of Accept-Encoding allow gzip (RFC 9110,
// 12.5.3). An entry for gzip takes precedence over "*". A weight of 0 forbids the
// encoding.
func acceptsGzip(headers []string) bool {
	star := false
	for entry := range strings.SplitSeq(strings.Join(headers, ","), ",") {
		name, params, _ := strings.Cut(entry, ";")
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
