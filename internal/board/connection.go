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

// Lifetimes of the tokens and codes of connected programs.
const (
	AccessLifetime  = time.Hour           // how long an access token is valid; RFC 9700, 2.2.1 recommends a short time
	RefreshLifetime = 90 * 24 * time.Hour // how long an unused refresh token is valid
	RefreshReuse    = time.Minute         // how long the previous refresh token still gets the last response
	CodeLifetime    = 5 * time.Minute     // how long an authorization code is valid; RFC 6749, 4.1.2 allows ten minutes
	CodeKept        = 24 * time.Hour      // how long a used code is stored, to detect reuse
	DeviceLifetime  = 15 * time.Minute    // how long a device code is valid
	DevicePause     = 5 * time.Second     // minimum pause between two polls by a device (RFC 8628, 3.2)
)

// How long a program that registered itself is stored: without a consent, and after
// its last consent has ended.
const (
	ClientUnused = 7 * 24 * time.Hour
	ClientKept   = 365 * 24 * time.Hour
)

// The supported grant types (RFC 6749, 4.1 and 6; RFC 8628, 3.4).
const (
	GrantCode    = "authorization_code"
	GrantRefresh = "refresh_token"
	GrantDevice  = "urn:ietf:params:oauth:grant-type:device_code"
)

// Client is a program that may ask people for access. All clients are public:
// they have no secret (RFC 6749, 2.1).
type Client struct {
	ID           string // created by this service, or the https URL of its metadata document
	Name         string // the name it gives itself; may be empty
	URI          string // URL of a page about it; may be empty
	RedirectURIs []string
	GrantTypes   []string
}

// May reports whether the client registered the given grant type.
func (c Client) May(grantType string) bool { return slices.Contains(c.GrantTypes, grantType) }

// Consent is the access that a person granted to a program.
type Consent struct {
	ClientID    string
	ClientName  string // the name at the time of consent
	Host        string // host of the program or of its redirect URI, as shown to the person
	Resource    string // the requested resource (RFC 8707); empty for none
	Scopes      []Scope
	UserID      string
	WorkspaceID string // empty for all workspaces of the person
	Refreshes   bool   // whether the program gets refresh tokens
}

// AuthorizationCode is what is stored about an authorization code. It does not contain
// the code itself.
type AuthorizationCode struct {
	Consent
	RedirectURI string
	Challenge   string // the PKCE challenge, method S256 (RFC 7636, 4.2)
	Expired     bool
	TokenID     string // the token it was redeemed for; empty if not yet redeemed
}

// DeviceState is the state of a device's authorization request.
type DeviceState string

// The states of a device's authorization request.
const (
	DevicePending DeviceState = "asked"
	DeviceAllowed DeviceState = "allowed"
	DeviceDenied  DeviceState = "denied"
)

// Device is the authorization request of a program without a browser (RFC
// 8628). Until it is allowed, Scopes holds the requested scopes and UserID is
// empty.
type Device struct {
	Consent
	ID       string
	State    DeviceState
	Pause    time.Duration // minimum pause between two polls
	PolledAt Instant
	Expired  bool
	TokenID  string // the token it was redeemed for; empty if not yet redeemed
}

// Grant is the access of a program: an access token and permission to refresh
// it.
type Grant struct {
	TokenID  string
	ClientID string
	UserID   string
	Resource string
	Scopes   []Scope
	Current  bool // whether the presented refresh token is the current one
	Ended    bool // revoked, expired, or the owner's account is gone

	Refresh     []byte  // hash of the current refresh token
	RenewedAt   Instant // when the current refresh token was issued
	TokenScopes []Scope // of the access token
	TokenUntil  Instant // when the access token expires
}

// Repeats reports whether an old refresh token gets the same response again. Its
// successor must be the current token, issued less than RefreshReuse ago. A client that
// lost the response, or two tabs that refresh at the same time, must not be mistaken for
// token theft. Successor is the hash of the token that replaced the old one.
func (g Grant) Repeats(successor []byte, now Instant) bool {
	return now < g.RenewedAt+Instant(RefreshReuse.Milliseconds()) && subtle.ConstantTimeCompare(successor, g.Refresh) == 1
}

// Renewal derives the access token and the refresh token that replace the given
// refresh token. It uses only that token and a server key, so that a retry gets
// the same tokens although the server stores neither.
func Renewal(key []byte, refresh string) (access, next string) {
	family, _ := FamilyOf(refresh)
	random, err := hkdf.Key(sha256.New, key, nil, "oauth renewal "+refresh, 256)
	if err != nil {
		panic(err) // happens only for lengths beyond the HKDF limit
	}
	source := bytes.NewBuffer(random)
	secret := base32.StdEncoding.EncodeToString(source.Next(20))[:secretLength]
	return tokenFrom(source), family + secret
}

// ConnectedApp is a program with access to an account, as the account's owner
// sees it.
type ConnectedApp struct {
	ID          string   `json:"id" doc:"The id of the app's token." example:"tok_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Name        string   `json:"name" doc:"The name that the app gives itself. It is not verified." example:"Example Assistant"`
	Host        string   `json:"host" doc:"The host of the app's metadata document, or else the host or scheme of its redirect URI; empty for a device whose app has no metadata document." example:"assistant.example.com"`
	Scopes      []Scope  `json:"scopes" doc:"The scopes granted to the app." example:"[\"read\",\"write\"]"`
	WorkspaceID *string  `json:"workspaceId" doc:"The id of the workspace that the app is limited to; null if it can access all of its owner's workspaces." example:"wsp_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	ConnectedAt Instant  `json:"connectedAt" format:"date-time" doc:"When the person authorized the app." example:"2026-03-02T09:00:00.000Z"`
	LastUsedAt  *Instant `json:"lastUsedAt" format:"date-time" doc:"When the app last used its access, to the minute; null if it never has." example:"2026-03-02T09:00:00.000Z"`
	ExpiresAt   Instant  `json:"expiresAt" format:"date-time" doc:"When the app is disconnected unless it refreshes its token." example:"2026-05-31T09:00:00.000Z"`
}

// RefreshPrefix starts every refresh token.
const RefreshPrefix = "cwr_"

// secretLength is the length of a secret from NewSecret.
const secretLength = 26

// NewFamily returns a new family: the part of a refresh token that all tokens of one
// consent share. The family of an old token shows which access to end if it is reused.
func NewFamily() string { return RefreshPrefix + NewSecret() }

// FamilyOf returns the part of a refresh token that all tokens of its consent
// share. It returns false if the string cannot be a refresh token.
func FamilyOf(refresh string) (family string, ok bool) {
	if len(refresh) != len(RefreshPrefix)+2*secretLength || !strings.HasPrefix(refresh, RefreshPrefix) {
		return "", false
	}
	return refresh[:len(RefreshPrefix)+secretLength], true
}

// userCodeAlphabet has no vowels, so that no code spells a word. It has only letters
// that are on every keyboard (RFC 8628, 6.1).
const userCodeAlphabet = "BCDFGHJKLMNPQRSTVWXZ"

// userCodeLength is the number of letters of a code: 20^8 codes (34.5 bits). RFC 8628,
// 5.2 relates the length to the number of allowed guesses.
const userCodeLength = 8

// NewUserCode returns a code that a person types to authorize a device, such as
// WDJB-MJHT.
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

// UserCodeHash returns the hash of a code that a person typed. It ignores case
// and all characters except ASCII letters and digits. It returns false if the
// string cannot be a code.
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
