package board

import (
	"strings"
	"unicode"
)

// User is a person's account.
type User struct {
	ID        string  `json:"id" doc:"The user's id." example:"usr_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Name      string  `json:"name" doc:"The display name." example:"Ada Lovelace"`
	Email     string  `json:"email" doc:"The email address used to sign in." example:"ada@example.com"`
	TimeZone  string  `json:"timeZone" doc:"The IANA time zone that decides what today is." example:"Europe/London"`
	CreatedAt Instant `json:"createdAt" format:"date-time" doc:"When the account was created." example:"2026-01-05T09:00:00.000Z"`
}

// Token is a personal API token as its owner sees it. The token's text is shown
// only once, when it is created.
type Token struct {
	ID          string   `json:"id" doc:"The token's id." example:"tok_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Name        string   `json:"name" doc:"The name given by its owner." example:"Deploy script"`
	Scopes      []Scope  `json:"scopes" doc:"The scopes; read is always included." example:"[\"read\",\"write\"]"`
	WorkspaceID *string  `json:"workspaceId" doc:"The workspace it is restricted to; null for all workspaces of its owner." example:"wsp_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	ExpiresAt   *Instant `json:"expiresAt" format:"date-time" doc:"When it expires; null for never." example:"2027-01-05T09:00:00.000Z"`
	LastFour    string   `json:"lastFour" doc:"Its last four characters." example:"9sXk"`
	CreatedAt   Instant  `json:"createdAt" format:"date-time" doc:"When it was created." example:"2026-01-05T09:00:00.000Z"`
}

// UsedToken is a token with the time of its last use.
type UsedToken struct {
	Token
	LastUsedAt *Instant `json:"lastUsedAt" format:"date-time" doc:"When it was last used, to the minute; null for never." example:"2026-03-02T09:00:00.000Z"`
}

// UserRef names a person inside another record.
type UserRef struct {
	ID   string `json:"id" doc:"The user's id." example:"usr_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Name string `json:"name" doc:"The display name." example:"Ada Lovelace"`
}

// notInAddress reports whether a character cannot occur in an email address.
func notInAddress(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune(`<>,;"`, r) || unwanted(r) != ""
}

// NormalEmail returns the form in which email addresses are stored and
// compared. It refuses obviously invalid addresses. Only an email sent to the
// address can show whether it works.
func NormalEmail(s string) (string, error) {
	s = strings.ToLower(strings.TrimSpace(s))
	local, domain, ok := strings.Cut(s, "@")
	if !ok || local == "" || !strings.Contains(domain, ".") && domain != "localhost" || strings.Contains(domain, "@") ||
		strings.ContainsFunc(s, notInAddress) || len(s) > 254 {
		return "", Invalid("email must be an email address such as ada@example.com.").In("email", RuleValue)
	}
	return s, nil
}
