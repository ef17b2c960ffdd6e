package board

import (
	"strings"
	"unicode"
)

// User is a person's account.
type User struct {
	ID        string  `json:"id" doc:"The user's id." example:"usr_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Name      string  `json:"name" doc:"The person's display name." example:"Ada Lovelace"`
	Email     string  `json:"email" doc:"The email address used to sign in." example:"ada@example.com"`
	TimeZone  string  `json:"timeZone" doc:"The IANA time zone that determines the current day." example:"Europe/London"`
	CreatedAt Instant `json:"createdAt" format:"date-time" doc:"When the account was created." example:"2026-01-05T09:00:00.000Z"`
}

// Token is a personal API token as its owner sees it. The token itself is shown
// only once, when it is created.
type Token struct {
	ID          string   `json:"id" doc:"The token's id." example:"tok_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Name        string   `json:"name" doc:"The name that its owner gave the token." example:"Deploy script"`
	Scopes      []Scope  `json:"scopes" doc:"The token's scopes; read is always included." example:"[\"read\",\"write\"]"`
	WorkspaceID *string  `json:"workspaceId" doc:"The id of the workspace that the token is limited to; null if it can access all of its owner's workspaces." example:"wsp_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	ExpiresAt   *Instant `json:"expiresAt" format:"date-time" doc:"When the token expires; null if it never expires." example:"2027-01-05T09:00:00.000Z"`
	LastFour    string   `json:"lastFour" doc:"The token's last four characters." example:"9sXk"`
	CreatedAt   Instant  `json:"createdAt" format:"date-time" doc:"When the token was created." example:"2026-01-05T09:00:00.000Z"`
}

// UsedToken is a token with the time of its last use.
type UsedToken struct {
	Token
	LastUsedAt *Instant `json:"lastUsedAt" format:"date-time" doc:"When the token was last used, to the minute; null if it has never been used." example:"2026-03-02T09:00:00.000Z"`
}

// UserRef names a person inside another record.
type UserRef struct {
	ID   string `json:"id" doc:"The user's id." example:"usr_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Name string `json:"name" doc:"The person's display name." example:"Ada Lovelace"`
}

// notInAddress reports whether a character cannot occur in an email address.
func notInAddress(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune(`<>,;"`, r) || unwanted(r) != ""
}

// NormalEmail returns the form in which email addresses are stored and compared. It
// returns an error for obviously invalid addresses. Only sending an email can show
// whether an address works.
func NormalEmail(s string) (string, error) {
	s = strings.ToLower(strings.TrimSpace(s))
	local, domain, ok := strings.Cut(s, "@")
	if !ok || local == "" || !strings.Contains(domain, ".") && domain != "localhost" || strings.Contains(domain, "@") ||
		strings.ContainsFunc(s, notInAddress) || len(s) > 254 {
		return "", Invalid("email must be an email address such as ada@example.com.").In("email", RuleValue)
	}
	return s, nil
}
