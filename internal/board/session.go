package board

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"time"
)

// Lifetimes of a session: since its last use, and in total.
const (
	SessionIdle     = 30 * 24 * time.Hour
	SessionLifetime = 90 * 24 * time.Hour
)

// RecentFor is how long a sign-in counts as recent. Operations that protect an
// account require a recent sign-in.
const RecentFor = 10 * time.Minute

// How long the links in emails about an account work.
const (
	VerifyLifetime = 24 * time.Hour
	ResetLifetime  = time.Hour
)

// sessionBytes is the length of a session's secret (256 bits).
const sessionBytes = 32

// NewSessionSecret returns a new value for the session cookie.
func NewSessionSecret() string {
	raw := make([]byte, sessionBytes)
	_, _ = rand.Read(raw) // never fails
	return base64.RawURLEncoding.EncodeToString(raw)
}

// SessionHash returns the hash under which a session is stored. It returns false if the
// string cannot be a session secret.
func SessionHash(secret string) ([]byte, bool) {
	raw, err := base64.RawURLEncoding.DecodeString(secret)
	if err != nil || len(raw) != sessionBytes {
		return nil, false
	}
	sum := sha256.Sum256(raw)
	return sum[:], true
}

// Session is one browser in which a person is signed in.
type Session struct {
	ID         string  `json:"id" doc:"The session's id." example:"ses_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	CreatedAt  Instant `json:"createdAt" format:"date-time" doc:"When the person signed in." example:"2026-03-02T09:00:00.000Z"`
	LastUsedAt Instant `json:"lastUsedAt" format:"date-time" doc:"When the session was last used, to the minute." example:"2026-03-02T09:00:00.000Z"`
	UserAgent  string  `json:"userAgent" doc:"The User-Agent header of the browser." example:"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"`
	Address    string  `json:"address" doc:"The IP address that the session was last used from." example:"192.0.2.7"`
	Current    bool    `json:"current" doc:"Whether this is the session of the current request." example:"true"`
}

// WrongPassword is an attempt to sign in to an account with a wrong password.
type WrongPassword struct {
	ID      string  `json:"id" doc:"The attempt's id." example:"aud_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	At      Instant `json:"at" format:"date-time" doc:"When the attempt was made." example:"2026-03-02T09:00:00.000Z"`
	Address string  `json:"address" doc:"The IP address that the attempt came from." example:"192.0.2.7"`
}

// Theme is the color theme of the pages.
type Theme string

// Profile is a person's account as that person sees it.
type Profile struct {
	ID       string `json:"id" doc:"The user's id." example:"usr_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Name     string `json:"name" doc:"The person's display name." example:"Ada Lovelace"`
	Email    string `json:"email" doc:"The email address used to sign in." example:"ada@example.com"`
	TimeZone string `json:"timeZone" doc:"The IANA time zone that determines the current day." example:"Europe/London"`
	Theme    Theme  `json:"theme" enum:"system,light,dark" doc:"The color theme of the pages. system: as set in the operating system." example:"system"`
	Language string `json:"language" doc:"The language of some dates on the pages, as a BCP 47 tag. The pages and emails are in English." example:"en"`
	Operator bool   `json:"operator" doc:"Whether the person is an operator of this server." example:"false"`
	Verified bool   `json:"verified" doc:"Whether the email address is verified." example:"true"`

	Avatar *string `json:"avatar" doc:"The version of the person's picture; null if the person has none." example:"9f86d081884c7d65"`

	HasPassword bool `json:"hasPassword" doc:"Whether the account has a password, in addition to any passkeys and linked identity provider." example:"true"`
}

// Passkey is a WebAuthn credential, stored by a device or a password manager.
type Passkey struct {
	ID         string   `json:"id" doc:"The passkey's id." example:"pky_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Name       string   `json:"name" doc:"The name that its owner gave the passkey." example:"Laptop"`
	CreatedAt  Instant  `json:"createdAt" format:"date-time" doc:"When the passkey was added." example:"2026-03-02T09:00:00.000Z"`
	LastUsedAt *Instant `json:"lastUsedAt" format:"date-time" doc:"When the passkey was last used to sign in; null if it never has been." example:"2026-03-02T09:00:00.000Z"`
}

// SignUp is a request for an account. It becomes an account when its email address is
// verified.
type SignUp struct {
	ID, Email, Name, PasswordHash, TimeZone string
	CreatedAt                               Instant
}
