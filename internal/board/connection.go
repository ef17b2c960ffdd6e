package board

import (
	"bytes"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"slices"
	"strings"
	"time"
)

// How long what connects a program lives.
const (
	AccessLifetime  = time.Hour           // of an access token; RFC 9700, 2.2.1 wants it short
	RefreshLifetime = 90 * 24 * time.Hour // of a refresh token that is not used
	RefreshReuse    = time.Minute         // in which the refresh token before the last gets the last response again
	CodeLifetime    = 5 * time.Minute     // of an authorization code; RFC 6749, 4.1.2 allows ten
	CodeKept        = 24 * time.Hour      // during which a code that was used is known when it comes again
	DeviceLifetime  = 15 * time.Minute    // of a device code
	DevicePause     = 5 * time.Second     // between two questions of a device (RFC 8628, 3.2)
)

// How long a program that registered itself is remembered: without anybody's
// consent, and after the last one's.
const (
	ClientUnused = 7 * 24 * time.Hour
	ClientKept   = 365 * 24 * time.Hour
)

// The kinds of grants that are served (RFC 6749, 4.1 and 6; RFC 8628, 3.4).
const (
	GrantCode    = "authorization_code"
	GrantRefresh = "refresh_token"
	GrantDevice  = "urn:ietf:params:oauth:grant-type:device_code"
)

// Client is a program that may ask people for access. All are public: they keep
// no secret of their own (RFC 6749, 2.1).
type Client struct {
	ID           string // made here, or the https address of its metadata document
	Name         string // what it calls itself; may be empty
	URI          string // of a page about it; may be empty
	RedirectURIs []string
	GrantTypes   []string
}

// May tells whether the client said that it uses a kind of grant.
func (c Client) May(grantType string) bool { return slices.Contains(c.GrantTypes, grantType) }

// Consent is what a person allowed a program.
type Consent struct {
	ClientID    string
	ClientName  string // as it was shown
	Host        string // that the program was shown to belong to, or to return to
	Resource    string // that was asked for (RFC 8707); empty for none
	Scopes      []Scope
	UserID      string
	WorkspaceID string // empty for all of the person's
	Refreshes   bool   // whether the program gets refresh tokens
}

// AuthorizationCode is one without its text.
type AuthorizationCode struct {
	Consent
	RedirectURI string
	Challenge   string // of PKCE, by S256 (RFC 7636, 4.2)
	Expired     bool
	TokenID     string // that it was redeemed for; empty for none yet
}

// DeviceState is how far the question of a device has come.
type DeviceState string

// The states of a device's question.
const (
	DeviceAsked   DeviceState = "asked"
	DeviceAllowed DeviceState = "allowed"
	DeviceDenied  DeviceState = "denied"
)

// Device is the question of a program without a browser (RFC 8628). Before it
// was allowed its scopes are those that were asked for, and nobody is its user.
type Device struct {
	Consent
	ID       string
	State    DeviceState
	Pause    time.Duration // that the program must keep between two questions
	PolledAt Instant
	Expired  bool
	TokenID  string // that it was redeemed for; empty for none yet
}

// Grant is what a program has: the token of this id, and the right to renew it.
type Grant struct {
	TokenID  string
	ClientID string
	UserID   string
	Resource string
	Scopes   []Scope
	Current  bool // whether the refresh token that was shown is the last one
	Ended    bool // revoked or expired, or its owner gone

	Refresh     []byte  // the hash of the last refresh token
	RenewedAt   Instant // when that was given
	TokenScopes []Scope // of the access token
	TokenUntil  Instant // when that expires
}

// Repeats reports whether a refresh token that is not the last one was replaced
// by the last one so recently that it gets the same response again: a client
// whose response got lost, or two tabs that renew at once, are no thieves. The
// successor is the hash of the token that replaced it.
func (g Grant) Repeats(successor []byte, now Instant) bool {
	return now < g.RenewedAt+Instant(RefreshReuse.Milliseconds()) && subtle.ConstantTimeCompare(successor, g.Refresh) == 1
}

// Renewal makes the access token and the refresh token that replace a refresh
// token. They follow from that token and a key of the server's, so that the same
// request gets the same response without the server keeping what it gave.
func Renewal(key []byte, refresh string) (access, next string) {
	family, _ := FamilyOf(refresh)
	random, err := hkdf.Key(sha256.New, key, nil, "oauth renewal "+refresh, 256)
	if err != nil {
		panic(err) // only for a length that HKDF does not reach
	}
	source := bytes.NewBuffer(random)
	secret := base32.StdEncoding.EncodeToString(source.Next(20))[:secretLength]
	return tokenFrom(source), family + secret
}

// ConnectedApp is a program that a person let in, as the person sees it.
type ConnectedApp struct {
	ID          string   `json:"id" doc:"The id of its token." example:"tok_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Name        string   `json:"name" doc:"The name the program gives itself." example:"Example Assistant"`
	Host        string   `json:"host" doc:"The host that the person was redirected to, or that the program belongs to; empty for a device." example:"assistant.example.com"`
	Scopes      []Scope  `json:"scopes" doc:"Its scopes." example:"[\"read\",\"write\"]"`
	WorkspaceID *string  `json:"workspaceId" doc:"The workspace it is restricted to; null for all workspaces of its owner." example:"wsp_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	ConnectedAt Instant  `json:"connectedAt" format:"date-time" doc:"When the person authorized it." example:"2026-03-02T09:00:00.000Z"`
	LastUsedAt  *Instant `json:"lastUsedAt" format:"date-time" doc:"When it was last used, to the minute; null for never." example:"2026-03-02T09:00:00.000Z"`
	ExpiresAt   Instant  `json:"expiresAt" format:"date-time" doc:"When it is disconnected unless it renews its token." example:"2026-05-31T09:00:00.000Z"`
}

// RefreshPrefix begins every refresh token.
const RefreshPrefix = "cwr_"

// secretLength is that of NewSecret.
const secretLength = 26

// NewFamily makes the part of refresh tokens that stays the same from the first
// to the last of one consent: by it a used one is known when it comes again.
func NewFamily() string { return RefreshPrefix + NewSecret() }

// FamilyOf is the part of a refresh token that all of its consent share. It is
// false for text that cannot be a refresh token.
func FamilyOf(refresh string) (family string, ok bool) {
	if len(refresh) != len(RefreshPrefix)+2*secretLength || !strings.HasPrefix(refresh, RefreshPrefix) {
		return "", false
	}
	return refresh[:len(RefreshPrefix)+secretLength], true
}

// userCodeAlphabet has no vowels, so that no code is a word, and is typed on any
// keyboard (RFC 8628, 6.1).
const userCodeAlphabet = "BCDFGHJKLMNPQRSTVWXZ"

// userCodeLength gives 20^8 codes (34.5 bits): RFC 8628, 5.2 wants them and the
// limit of guesses looked at together.
const userCodeLength = 8

// NewUserCode makes what a person types for a device, as WDJB-MJHT.
func NewUserCode() string {
	var b strings.Builder
	for b.Len() < userCodeLength+1 {
		if b.Len() == userCodeLength/2 {
			b.WriteByte('-')
		}
		var raw [1]byte
		_, _ = rand.Read(raw[:]) // never fails
		if n := int(raw[0]); n < 256-256%len(userCodeAlphabet) {
			b.WriteByte(userCodeAlphabet[n%len(userCodeAlphabet)])
		}
	}
	return b.String()
}

// UserCodeHash is the fingerprint of what a person typed, whatever its case and
// whatever stands between the letters. It is false for what cannot be a code.
func UserCodeHash(typed string) ([]byte, bool) {
	var letters []byte
	for _, r := range strings.ToUpper(typed) {
		switch {
		case strings.ContainsRune(userCodeAlphabet, r):
			letters = append(letters, byte(r))
		case r >= 'A' && r <= 'Z' || r >= '0' && r <= '9':
			return nil, false
		}
	}
	if len(letters) != userCodeLength {
		return nil, false
	}
	sum := sha256.Sum256(letters)
	return sum[:], true
}
