package board

import (
	"slices"
	"strings"
)

// Scope is what a token was allowed by the person who made it.
type Scope string

// The scopes. Admin does not include write.
const (
	ScopeRead  Scope = "read"
	ScopeWrite Scope = "write"
	ScopeAdmin Scope = "admin"
)

// ParseScopes reads a list of scopes; read is always part of the result, which
// is sorted read, write, admin.
func ParseScopes(words []string) ([]Scope, error) {
	out := []Scope{ScopeRead}
	for _, s := range []Scope{ScopeWrite, ScopeAdmin} {
		if slices.Contains(words, string(s)) {
			out = append(out, s)
		}
	}
	for _, w := range words {
		if !slices.Contains([]string{"read", "write", "admin"}, w) {
			return nil, Invalid("scopes: %q is not a scope; use read, write, admin.", strings.ToValidUTF8(w, "?"))
		}
	}
	return out, nil
}

// WorkScopes are the scopes that a program needs to work on boards. Programs are
// not asked to request more (RFC 6750, 3).
func WorkScopes() []Scope { return []Scope{ScopeRead, ScopeWrite} }

// ScopeText writes scopes as OAuth does (RFC 6749, 3.3).
func ScopeText(scopes []Scope) string {
	words := make([]string, len(scopes))
	for i, s := range scopes {
		words[i] = string(s)
	}
	return strings.Join(words, " ")
}

// ActorType is what kind of being caused a change.
type ActorType string

// The kinds of actors.
const (
	ActorPerson     ActorType = "person"
	ActorAutomation ActorType = "automation"
	ActorGuest      ActorType = "guest"
	ActorSystem     ActorType = "system"
)

// Actor is who caused a change: a user id for a person, a rule id for
// automation, nothing for a guest of a public page and for the system.
type Actor struct {
	Type ActorType `json:"type" enum:"person,automation,guest,system" doc:"The kind of actor." example:"person"`
	ID   *string   `json:"id" doc:"The id of the user or the automation rule; null for a guest and for the system." example:"usr_01jb2m3n4p5q6r7s8t9v0w1x2y"`
}

// Caller is who is asking, for one call.
type Caller struct {
	Actor       Actor
	UserID      string  // empty for the system
	TokenID     string  // empty where no token was used
	TokenName   string  // as its owner called it
	SessionID   string  // empty where the caller is not signed in
	Scopes      []Scope // what the token allows
	WorkspaceID string  // not empty: the token reaches this workspace alone
	Plan        Plan    // decides the rate limits
	Address     string  // of the network, that the request came from
	Network     string  // that limits count it for; empty outside of requests
	Device      []byte  // hash of the browser's device cookie; nil for none
	Replaces    []byte  // hash of the session that a browser which signs in had before; nil for none
	RequestID   string
	UserAgent   string // of the request
	Client      string // the tab of a browser that asks; "" for none
	Cause       string // of automation: the first cause, and the rules since; "" for anybody else
	Guest       *Guest // who came by the key of a public page; nil for anybody else
	System      bool   // own work: passes every role, never a missing object
}

// System is the service's own work. It is not reachable from outside.
func System() Caller {
	return Caller{Actor: Actor{Type: ActorSystem}, Scopes: []Scope{ScopeRead, ScopeWrite, ScopeAdmin}, System: true}
}

// Nobody is a caller that is not signed in, and may call nothing but what is
// open to all.
func Nobody() Caller { return Caller{Actor: Actor{Type: ActorGuest}} }

// Person is a caller that is a person.
func Person(userID string, scopes ...Scope) Caller {
	return Caller{Actor: Actor{Type: ActorPerson, ID: &userID}, UserID: userID, Scopes: scopes}
}

// ByRule is a rule of automation at work, with the rights of its owner but never
// more than to content. The cause is what set off the rules before, and these.
func ByRule(ruleID, ownerID, workspaceID, cause string) Caller {
	return Caller{Actor: Actor{Type: ActorAutomation, ID: &ruleID}, UserID: ownerID, WorkspaceID: workspaceID, Scopes: []Scope{ScopeRead, ScopeWrite}, Cause: cause}
}

// Person is the caller as the author of what it makes; nil when it is no person.
func (c Caller) Person() *string {
	if c.Actor.Type != ActorPerson {
		return nil
	}
	return c.Actor.ID
}

// KeyOwner is whose the idempotency keys of a call are.
func (c Caller) KeyOwner() string {
	if c.Guest != nil {
		return c.Guest.keyOwner()
	}
	return c.UserID
}

// Has tells whether the caller's token holds a scope.
func (c Caller) Has(s Scope) bool { return slices.Contains(c.Scopes, s) }

// Needs refuses with insufficient_scope when the caller lacks a scope. What is
// the field or the action that needs it, as the sentence's subject.
func (c Caller) Needs(s Scope, what string) error {
	if c.Has(s) {
		return nil
	}
	return Refuse(CodeInsufficientScope, "%s needs a token with the scope %s.", what, s)
}
