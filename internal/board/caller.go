package board

import (
	"slices"
	"strings"
)

// Scope is a permission of an API token, granted by the person who created it.
type Scope string

// The scopes. Admin does not include write.
const (
	ScopeRead  Scope = "read"
	ScopeWrite Scope = "write"
	ScopeAdmin Scope = "admin"
)

// ParseScopes parses a list of scopes. The result always includes read and is in
// the order read, write, admin.
func ParseScopes(words []string) ([]Scope, error) {
	out := []Scope{ScopeRead}
	for _, s := range []Scope{ScopeWrite, ScopeAdmin} {
		if slices.Contains(words, string(s)) {
			out = append(out, s)
		}
	}
	for _, w := range words {
		if !slices.Contains([]string{"read", "write", "admin"}, w) {
			return nil, Invalid("scopes: %q is not a scope. Use read, write or admin.", strings.ToValidUTF8(w, "?")).
				In("scopes", RuleValue)
		}
	}
	return out, nil
}

// WorkScopes returns the scopes that a program needs to work on boards. The service
// suggests only these scopes to programs (RFC 6750, 3).
func WorkScopes() []Scope { return []Scope{ScopeRead, ScopeWrite} }

// ScopeText formats scopes as OAuth does (RFC 6749, 3.3).
func ScopeText(scopes []Scope) string {
	words := make([]string, len(scopes))
	for i, s := range scopes {
		words[i] = string(s)
	}
	return strings.Join(words, " ")
}

// ActorType is the kind of actor that caused a change.
type ActorType string

// The kinds of actors.
const (
	ActorPerson     ActorType = "person"
	ActorAutomation ActorType = "automation"
	ActorGuest      ActorType = "guest"
	ActorSystem     ActorType = "system"
)

// Actor is the originator of a change. ID is a user id for a person, a rule id
// for automation, and nil for a guest of a public page and for the system.
type Actor struct {
	Type ActorType `json:"type" enum:"person,automation,guest,system" doc:"The kind of actor." example:"person"`
	ID   *string   `json:"id" doc:"The id of the user or the automation rule; null for a guest or the system." example:"usr_01jb2m3n4p5q6r7s8t9v0w1x2y"`
}

// Caller identifies the originator of a call and its permissions.
type Caller struct {
	Actor       Actor
	UserID      string  // empty for the system, and for callers without an account
	TokenID     string  // empty if no token was used
	TokenName   string  // the name given by its owner, or that of the connected app
	Connected   bool    // the token belongs to a connected app
	Assistant   bool    // the request came over MCP; searches are then strict and in order of relevance
	SessionID   string  // empty if the caller is not signed in with a browser
	Scopes      []Scope // the scopes of the token; all scopes for a session
	WorkspaceID string  // if not empty, the only workspace that the token can reach
	Plan        Plan    // determines the rate limits
	Address     string  // IP address of the request
	Network     string  // network whose rate limits the request counts against; empty outside of requests
	Device      []byte  // hash of the browser's device cookie; nil for none
	Replaces    []byte  // hash of the session that this sign-in replaces in the browser; nil for none
	RequestID   string
	UserAgent   string // of the request
	Client      string // the browser tab that sent the request; "" for none
	Cause       string // for automation: the original cause and the rules triggered since; "" otherwise
	Guest       *Guest // the guest, for a caller with the key of a public page; nil otherwise
	System      bool   // internal work: has every role, but missing objects are still not found
}

// System returns the caller for the service's own work. No request has this caller.
func System() Caller {
	return Caller{Actor: Actor{Type: ActorSystem}, Scopes: []Scope{ScopeRead, ScopeWrite, ScopeAdmin}, System: true}
}

// Nobody returns a caller that is not signed in. It may call only operations that need
// no account.
func Nobody() Caller { return Caller{Actor: Actor{Type: ActorGuest}} }

// Person returns the caller for the given person.
func Person(userID string, scopes ...Scope) Caller {
	return Caller{Actor: Actor{Type: ActorPerson, ID: &userID}, UserID: userID, Scopes: scopes}
}

// ByRule returns the caller for a run of an automation rule. It has the
// permissions of the rule's owner in the workspace, but no more than write access to
// content. The cause names the original cause and the rules triggered since.
func ByRule(ruleID, ownerID, workspaceID, cause string) Caller {
	return Caller{Actor: Actor{Type: ActorAutomation, ID: &ruleID}, UserID: ownerID, WorkspaceID: workspaceID,
		Scopes: []Scope{ScopeRead, ScopeWrite}, Cause: cause}
}

// Person returns the caller's user id as the author of new objects, or nil if
// the caller is not a person.
func (c Caller) Person() *string {
	if c.Actor.Type != ActorPerson {
		return nil
	}
	return c.Actor.ID
}

// KeyOwner returns the owner of the call's idempotency keys.
func (c Caller) KeyOwner() string {
	if c.Guest != nil {
		return c.Guest.keyOwner()
	}
	return c.UserID
}

// Has reports whether the caller has the given scope.
func (c Caller) Has(s Scope) bool { return slices.Contains(c.Scopes, s) }

// Needs returns an insufficient_scope error if the caller lacks the given scope.
// What, the subject of the message, names the field or action that requires the scope.
func (c Caller) Needs(s Scope, what string) error {
	if c.Has(s) {
		return nil
	}
	f := Refuse(CodeInsufficientScope, "%s requires a token with the %s scope.", what, s)
	f.Scope = s
	return f
}
