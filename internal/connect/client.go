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

// grantTypes are the supported grant types.
var grantTypes = []string{board.GrantCode, board.GrantRefresh, board.GrantDevice}

const (
	maxMetadata   = 16 << 10 // bytes of a registration request
	maxClientName = 80       // characters
	maxClientID   = 1_000    // bytes
)

// clientMetadata is the metadata of a client (RFC 7591, 2).
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

// client returns the client that the metadata describes, or an error if the
// metadata is invalid.
func (m clientMetadata) client() (board.Client, error) {
	c := board.Client{ID: m.ID, Name: plainName(m.Name), URI: pageOf(m.URI), RedirectURIs: withoutUnused(m.RedirectURIs)}
	if m.GrantTypes == nil { // RFC 7591, 3.2.1 lets the server choose the default
		m.GrantTypes = []string{board.GrantCode, board.GrantRefresh}
	}
	for _, g := range grantTypes {
		if slices.Contains(m.GrantTypes, g) {
			c.GrantTypes = append(c.GrantTypes, g)
		}
	}
	switch {
	case !c.May(board.GrantCode) && !c.May(board.GrantDevice):
		return c, newError(invalidMetadata, "grant_types must contain authorization_code or "+board.GrantDevice+".")
	case c.May(board.GrantCode) && m.ResponseTypes != nil && !slices.Contains(m.ResponseTypes, "code"):
		return c, newError(invalidMetadata, "response_types must contain code, the only supported type.")
	case c.May(board.GrantCode) && len(c.RedirectURIs) == 0:
		return c, newError(invalidRedirect, "redirect_uris is missing.")
	case len(c.RedirectURIs) > maxRedirects:
		return c, newError(invalidRedirect, "redirect_uris contains more than 10 URIs.")
	}
	for _, address := range c.RedirectURIs {
		if problem := checkRedirect(address); problem != "" {
			return c, newError(invalidRedirect, "A redirect URI "+problem+".")
		}
	}
	return c, nil
}

// plainName returns a name on one line, truncated to maxClientName. It removes characters
// that are invisible or change the text direction, because they could make a name look
// like another.
func plainName(name string) string {
	words := strings.FieldsFunc(strings.ToValidUTF8(name, ""), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	})
	name = strings.Join(words, " ")
	runes := []rune(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == '\u2800' ||
			unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) {
			return -1
		}
		return r
	}, name))
	if len(runes) > maxClientName {
		runes = runes[:maxClientName]
	}
	return strings.TrimSpace(string(runes))
}

// pageOf returns a client_uri if it is a valid https URI, and otherwise "".
func pageOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || len(address) > maxRedirect {
		return ""
	}
	return u.String()
}

// register is the registration endpoint (RFC 7591, 3). It never issues a client
// secret, because every copy of a public app would contain the same secret.
func (d *endpoints) register(ctx context.Context, w http.ResponseWriter, r *http.Request, network string) error {
	if !d.opts.Registration {
		return &oauthError{
			status: http.StatusForbidden, code: accessDenied,
			text: "Dynamic registration is disabled on this server. " +
				"Use the https address of a client ID metadata document as client_id.",
		}
	}
	body, err := jsonBody(w, r)
	if err != nil {
		return err
	}
	var m clientMetadata
	if err := json.UnmarshalRead(bytes.NewReader(body), &m); err != nil {
		return newError(invalidMetadata, "The body is not a JSON object of client metadata (RFC 7591).")
	}
	c, err := m.client()
	if err != nil {
		return err
	}
	if err := d.attempts.Spend(d.db, session.Subject{Limit: registrations, Of: network}); err != nil {
		return err
	}
	c.ID = store.NewID("cli_")
	if err := d.db.Write(ctx, board.Nobody(), func(tx *store.Tx) error { return tx.InsertClient(ctx, c) }); err != nil {
		return err
	}
	registered := clientMetadata{
		ID: c.ID, IssuedAt: d.db.Now().Unix(), Name: c.Name, URI: c.URI, RedirectURIs: c.RedirectURIs,
		GrantTypes: c.GrantTypes, AuthMethod: "none", Scope: "read write admin",
	}
	if c.May(board.GrantCode) {
		registered.ResponseTypes = []string{"code"}
	}
	writeJSON(w, http.StatusCreated, registered)
	return nil
}

func jsonBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return nil, &oauthError{
			status: http.StatusUnsupportedMediaType, code: invalidMetadata, text: "Content-Type must be application/json.",
		}
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxMetadata))
	if err != nil {
		return nil, &oauthError{
			status: http.StatusRequestEntityTooLarge, code: invalidMetadata,
			text: "The body is larger than 16 KiB or incomplete.",
		}
	}
	return body, nil
}

// isDocument reports whether a client id is the address of a metadata document.
func isDocument(id string) bool { return strings.HasPrefix(id, "https://") }

// client returns the client with the given id. If the id is an address, it reads the
// metadata document there; otherwise it reads the database. Fetching a document counts
// against a limit per network.
func (s *Server) client(ctx context.Context, db *store.DB, id, network string) (c board.Client, err error) {
	if id == "" || len(id) > maxClientID {
		return c, newError(invalidRequest, "client_id is missing or too long.")
	}
	if isDocument(id) {
		return s.documents.get(ctx, id, db.Now(), func() error {
			return s.attempts.Spend(db, session.Subject{Limit: fetches, Of: network})
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

func unknownClient() *oauthError {
	return newError(invalidClient, "The client does not exist. A client that nobody authorizes within a week is deleted. Register again.")
}
