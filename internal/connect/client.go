package connect

import (
	"bytes"
	"context"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"

	"cardwall/internal/board"
	"cardwall/internal/session"
	"cardwall/internal/store"
)

// grantTypes are those that are served.
var grantTypes = []string{board.GrantCode, board.GrantRefresh, board.GrantDevice}

const (
	maxMetadata   = 16 << 10 // bytes of a registration
	maxClientName = 80       // characters
	maxClientID   = 1_000
)

// clientMetadata is what a program says of itself (RFC 7591, 2).
type clientMetadata struct {
	ID            string   `json:"client_id,omitempty"`
	IssuedAt      int64    `json:"client_id_issued_at,omitempty"`
	Name          string   `json:"client_name,omitempty"`
	URI           string   `json:"client_uri,omitempty"`
	RedirectURIs  []string `json:"redirect_uris,omitempty"`
	GrantTypes    []string `json:"grant_types,omitempty"`
	ResponseTypes []string `json:"response_types,omitempty"`
	AuthMethod    string   `json:"token_endpoint_auth_method,omitempty"`
	Secret        string   `json:"client_secret,omitempty"`
	Scope         string   `json:"scope,omitempty"`
}

// client is the program that metadata describes, or why there can be none.
func (m clientMetadata) client() (board.Client, error) {
	c := board.Client{ID: m.ID, Name: plainName(m.Name), URI: pageOf(m.URI), RedirectURIs: withoutSpare(m.RedirectURIs)}
	if m.GrantTypes == nil { // RFC 7591, 3.2.1 lets the server say what it takes for granted
		m.GrantTypes = []string{board.GrantCode, board.GrantRefresh}
	}
	for _, g := range grantTypes {
		if slices.Contains(m.GrantTypes, g) {
			c.GrantTypes = append(c.GrantTypes, g)
		}
	}
	switch {
	case !c.May(board.GrantCode) && !c.May(board.GrantDevice):
		return c, refuse(invalidMetadata, "grant_types holds none of authorization_code and "+board.GrantDevice+".")
	case c.May(board.GrantCode) && m.ResponseTypes != nil && !slices.Contains(m.ResponseTypes, "code"):
		return c, refuse(invalidMetadata, "response_types must hold code; there is no other.")
	case c.May(board.GrantCode) && len(c.RedirectURIs) == 0:
		return c, refuse(invalidRedirect, "redirect_uris is missing.")
	case len(c.RedirectURIs) > maxRedirects:
		return c, refuse(invalidRedirect, "redirect_uris holds more than 10 addresses.")
	}
	for _, address := range c.RedirectURIs {
		if problem := checkRedirect(address); problem != "" {
			return c, refuse(invalidRedirect, "One of redirect_uris "+problem+".")
		}
	}
	return c, nil
}

// plainName is a name without what would make a page show it as another.
func plainName(name string) string {
	name = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(name, ""), func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	runes := []rune(strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) || r == '\u2800' || !unicode.IsPrint(r) {
			// Invisible, or turns the direction of the text.
			return -1
		}
		return r
	}, name))
	if len(runes) > maxClientName {
		runes = runes[:maxClientName]
	}
	return strings.TrimSpace(string(runes))
}

// pageOf is the address of a page about a program, if it is one by https.
func pageOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || len(address) > maxRedirect {
		return ""
	}
	return u.String()
}

// register writes a program that describes itself (RFC 7591, 3). Its wish for a
// secret is answered with none: each copy of such a program has the same one.
func (d *door) register(ctx context.Context, w http.ResponseWriter, r *http.Request, network string) error {
	if !d.opts.Registration {
		return &refusal{status: http.StatusForbidden, code: accessDenied, text: "Programs cannot register themselves at this server; use the https address of a client ID metadata document as client_id."}
	}
	body, err := jsonBody(w, r)
	if err != nil {
		return err
	}
	var m clientMetadata
	if err := json.UnmarshalRead(bytes.NewReader(body), &m); err != nil {
		return refuse(invalidMetadata, "The body is not the JSON object of RFC 7591.")
	}
	c, err := m.client()
	if err != nil {
		return err
	}
	if err := d.attempts.Take(d.db, session.Subject{Limit: registrations, Of: network}); err != nil {
		return err
	}
	c.ID = store.NewID("cli_")
	if err := d.db.Write(ctx, board.Nobody(), func(tx *store.Tx) error { return tx.InsertClient(ctx, c) }); err != nil {
		return err
	}
	said := clientMetadata{
		ID: c.ID, IssuedAt: d.db.Now().Unix(), Name: c.Name, URI: c.URI, RedirectURIs: c.RedirectURIs, GrantTypes: c.GrantTypes,
		AuthMethod: "none", Scope: "read write admin",
	}
	if c.May(board.GrantCode) {
		said.ResponseTypes = []string{"code"}
	}
	answer(w, http.StatusCreated, said)
	return nil
}

func jsonBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return nil, &refusal{status: http.StatusUnsupportedMediaType, code: invalidMetadata, text: "Content-Type must be application/json."}
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxMetadata))
	if err != nil {
		return nil, &refusal{status: http.StatusRequestEntityTooLarge, code: invalidMetadata, text: "The body is larger than 16 KiB, or did not arrive whole."}
	}
	return body, nil
}

// isDocument tells whether a client's id is the address of its document.
func isDocument(id string) bool { return strings.HasPrefix(id, "https://") }

// client finds a program by its id: in the database, or where the id says. What
// is fetched counts for the network that asks.
func (s *Server) client(ctx context.Context, db *store.DB, id, network string) (c board.Client, err error) {
	if id == "" || len(id) > maxClientID {
		return c, refuse(invalidRequest, "client_id is missing or too long.")
	}
	if isDocument(id) {
		return s.documents.get(ctx, id, db.Now(), func() error {
			return s.attempts.Take(db, session.Subject{Limit: fetches, Of: network})
		})
	}
	err = db.Read(ctx, board.System(), func(v *store.View) (err error) {
		c, err = v.Client(ctx, id)
		return err
	})
	if board.IsCode(err, board.CodeNotFound) {
		err = unknownClient()
	}
	return c, err
}

func unknownClient() *refusal {
	return refuse(invalidClient, "There is no such client; one that nobody used for a week is forgotten. Register again.")
}
