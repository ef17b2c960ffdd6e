package op

// Audience is the set of callers that an operation is for. An Audience is also an
// Option. The default is Public.
type Audience int

const (
	// Public operations are for people and tokens. They form the public API and,
	// unless they have the NoTool option, are MCP tools. All other operations are
	// part of the application's internal API.
	Public Audience = iota

	// Application operations have the same callers as public ones, but are not
	// part of the public API.
	Application

	// SignedIn operations are for people who are signed in with a browser. Tokens
	// cannot call them.
	SignedIn

	// Operator operations are for the server's operators, signed in with a
	// browser. Other people who are signed in get not_found, even if the operation
	// also requires a recent sign-in.
	Operator

	// Visitor operations are for everyone. They use the caller's session if there
	// is one.
	Visitor

	// Anonymous operations are for everyone. The caller is board.Nobody, even if
	// the request has credentials. Requests are limited per network address, and
	// idempotency keys are ignored.
	Anonymous

	// Guest operations are for callers with the key of a public page, which the
	// input's GuestKey method returns. Each page has its own idempotency keys.
	// Request bodies must be small, and responses have no boardVersion.
	Guest
)

func (a Audience) set(o *Operation) { o.Audience = a }

// NeedsSession reports whether the caller must be signed in with a browser.
func (a Audience) NeedsSession() bool { return a == SignedIn || a == Operator }

// NeedsNoAccount reports whether the operation can be called without an account.
func (a Audience) NeedsNoAccount() bool { return a == Visitor || a == Anonymous || a == Guest }

// Keyed reports whether the operation stores its response for an idempotency key.
func (o *Operation) Keyed() bool {
	return !o.ReadOnly && !o.Unkeyed && o.Audience != Visitor && o.Audience != Anonymous
}

// IsTool reports whether the operation is an MCP tool.
func (o *Operation) IsTool() bool { return o.Audience == Public && !o.NoTool }
