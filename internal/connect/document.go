package connect

import (
	"context"
	"crypto/tls"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"cardwall/internal/board"
)

const (
	maxDocument        = 5 << 10 // bytes, as the draft of client ID metadata documents recommends
	documentTimeout    = 5 * time.Second
	documentTTL        = 10 * time.Minute
	maxCachedDocuments = 1_000
)

// documents fetches client ID metadata documents
// (draft-ietf-oauth-client-id-metadata-document). It caches documents in memory,
// but not failures.
type documents struct {
	check  func(ctx context.Context, address string) error
	client *http.Client

	mu    sync.Mutex
	cache map[string]cachedDocument
}

type cachedDocument struct {
	client board.Client
	until  time.Time
}

func newDocuments(o Options) *documents {
	dial := o.Dial
	if dial == nil {
		dial = func(context.Context, string, string) (net.Conn, error) {
			return nil, newError(invalidClient, "This server does not fetch client metadata documents.")
		}
	}
	return &documents{
		check: o.Check, cache: map[string]cachedDocument{},
		client: &http.Client{
			Timeout: documentTimeout,
			// The document must be served at the client id itself.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			Transport: &http.Transport{
				DialContext: dial, TLSClientConfig: &tls.Config{RootCAs: o.Roots, MinVersion: tls.VersionTLS12},
				DisableKeepAlives: true, TLSHandshakeTimeout: documentTimeout,
				ResponseHeaderTimeout: documentTimeout, MaxResponseHeaderBytes: 16 << 10,
			},
		},
	}
}

// get returns the client whose metadata document is at the address id. It calls allow
// before it fetches a document that is not cached.
func (k *documents) get(ctx context.Context, id string, now time.Time, allow func() error) (board.Client, error) {
	if problem := checkDocumentID(id); problem != "" {
		return board.Client{}, newError(invalidClient, "client_id "+problem+".")
	}
	k.mu.Lock()
	found, ok := k.cache[id]
	k.mu.Unlock()
	if ok && now.Before(found.until) {
		return found.client, nil
	}
	if err := allow(); err != nil {
		return board.Client{}, err
	}
	c, err := k.fetch(ctx, id)
	if err != nil {
		return c, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.cache) >= maxCachedDocuments {
		clear(k.cache) // simpler than finding the oldest, and a miss costs only one request
	}
	k.cache[id] = cachedDocument{c, now.Add(documentTTL)}
	return c, nil
}

// checkDocumentID returns why an address cannot be a client id, or "" if it can (section
// 3 of the draft).
func checkDocumentID(id string) string {
	u, err := url.Parse(id)
	switch {
	case err != nil || u.Scheme != "https" || u.Host == "" || u.Opaque != "":
		return "is not an https address"
	case u.User != nil || strings.Contains(id, "#"):
		return "has a user name or a fragment"
	case u.Path == "" || u.Path == "/":
		return "has no path"
	case strings.TrimSuffix(u.Path, "/") != path.Clean(u.Path):
		return "has a path with dot segments or double slashes"
	}
	return ""
}

func (k *documents) fetch(ctx context.Context, id string) (c board.Client, err error) {
	if k.check == nil {
		return c, newError(invalidClient, "This server does not fetch client metadata documents.")
	}
	if err := k.check(ctx, id); err != nil {
		if _, ok := board.AsFault(err); ok {
			return c, newError(invalidClient, "client_id must be an https address on port 443 of a public host.")
		}
		return c, err
	}
	ctx, cancel := context.WithTimeout(ctx, documentTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, id, http.NoBody)
	if err != nil {
		return c, newError(invalidClient, "client_id is not an https address.")
	}
	r.Header.Set("Accept", "application/json")
	r.Header.Set("User-Agent", "Cardwall")
	w, err := k.client.Do(r)
	if err != nil {
		return c, newError(invalidClient, "The document at client_id could not be fetched.")
	}
	defer func() { _ = w.Body.Close() }()
	kind, _, err := mime.ParseMediaType(w.Header.Get("Content-Type"))
	if w.StatusCode != http.StatusOK || err != nil || kind != "application/json" && !strings.HasSuffix(kind, "+json") {
		return c, newError(invalidClient, "The address in client_id must return status 200 and application/json.")
	}
	body, err := io.ReadAll(io.LimitReader(w.Body, maxDocument+1))
	if err != nil || len(body) > maxDocument {
		return c, newError(invalidClient, "The document at client_id is larger than 5 KiB or incomplete.")
	}
	return readDocument(id, body)
}

// readDocument returns the client described by the document at the address id.
func readDocument(id string, body []byte) (board.Client, error) {
	var m clientMetadata
	if err := json.Unmarshal(body, &m); err != nil {
		return board.Client{}, newError(invalidClient, "The document at client_id is not a JSON object of client metadata.")
	}
	switch {
	case m.ID != id: // compared as text (section 4.1 of the draft)
		return board.Client{}, newError(invalidClient, "The document at client_id names another client_id.")
	case m.Secret != "" || m.AuthMethod != "" && m.AuthMethod != "none":
		return board.Client{}, newError(invalidClient,
			"The document at client_id requires client authentication. Only the none method is supported.")
	}
	c, err := m.client()
	if err != nil {
		return c, newError(invalidClient, "The document at client_id is invalid. "+asOAuthError(err).text)
	}
	return c, nil
}
