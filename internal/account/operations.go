package account

import (
	"log/slog"
	"net/url"
	"sync"

	"github.com/go-webauthn/webauthn/webauthn"

	"cardwall/internal/app"
	"cardwall/internal/op"
	"cardwall/internal/session"
)

// Options of accounts.
type Options struct {
	BaseURL   string // where browsers find the server
	OIDC      OIDC   // zero for none
	SignUp    SignUpPolicy
	Unlimited bool // no limits of attempts
	Log       *slog.Logger
}

// Accounts does what needs more than the database: it knows how many passwords
// are being hashed and what was tried, and the server's name to passkeys.
type Accounts struct {
	opts      Options
	passwords *passwords
	attempts  *session.Attempts
	writing   sync.WaitGroup
	keys      *webauthn.WebAuthn // nil where browsers allow no passkeys
}

// New makes the accounts of a server.
func New(o Options) (*Accounts, error) {
	if o.SignUp.Mode == "" {
		o.SignUp.Mode = SignUpOpen
	}
	a := &Accounts{opts: o, passwords: newPasswords(), attempts: session.NewAttempts(o.Unlimited)}
	if o.Log == nil {
		a.opts.Log = slog.Default()
	}
	if err := o.OIDC.check(); err != nil {
		return nil, err
	}
	u, err := url.Parse(o.BaseURL)
	if err == nil && session.Trustworthy(o.BaseURL) && isName(u.Hostname()) {
		a.keys, err = relyingParty(u)
	}
	return a, err
}

// AddOperations registers what people do with their accounts. For a document of
// the interface, which calls nothing, a may be nil.
func AddOperations(r *op.Registry, a *Accounts) *op.Registry {
	r.In("Sign-in", "How people come in, and prove who they are.")
	op.Query(r, "get_sign_in_options", "GET /sign-in/options", "Get the ways in which one can sign in here.", a.GetSignInOptions, op.Anonymous)
	op.Command(r, "sign_up", "POST /sign-up", "Ask for an account. The answer is always the same; an email goes to the address, with a link that verifies it for 24 hours, or that says that there is an account already.", a.SignUp, op.Anonymous, op.Before(a.beforeSignUp))
	op.Command(r, "create_account", "POST /accounts", "Create an account by a link, and sign in. The secret is that of an invitation's link, or of the link that a server without accounts prints. No email is sent: the link proves the address.", a.CreateAccount, op.Anonymous, op.Before(a.beforeCreateAccount))
	op.Command(r, "verify_email", "POST /verify-email", "Verify an address with the secret of the email's link. Makes the account, accepts what it was invited to, and signs in.", a.VerifyEmail, op.Anonymous)
	op.Command(r, "sign_in", "POST /sign-in", "Sign in with a password.", a.SignIn, op.Anonymous, op.Before(a.beforeSignIn))
	op.Command(r, "request_password_reset", "POST /password-reset", "Ask for an email with which one can choose another password. The answer is always the same; the link works for an hour.", a.RequestPasswordReset, op.Anonymous, op.Before(a.beforeRequestReset))
	op.Command(r, "reset_password", "POST /password-reset/finish", "Choose another password with the secret of the email's link. Ends all sessions of the account, and signs in.", a.ResetPassword, op.Anonymous, op.Before(a.beforeResetPassword))
	op.Command(r, "begin_passkey_sign_in", "POST /passkeys/sign-in/begin", "Begin to sign in, or to confirm a sign-in, with a passkey. Answers what the browser asks its passkeys, for five minutes.", a.BeginPasskeySignIn, op.Anonymous)
	op.Command(r, "finish_passkey_sign_in", "POST /passkeys/sign-in/finish", "Sign in with what a passkey answered.", a.FinishPasskeySignIn, op.Anonymous)
	op.Query(r, "get_session", "GET /session", "Get who is signed in, and where that person works.", GetSession, op.SignedIn)
	op.Query(r, "get_current_session", "GET /session/current", "Get who is signed in with this browser, or null when nobody is.", GetCurrentSession, op.Visitor)
	op.Command(r, "confirm_sign_in", "POST /session/confirm", "Confirm a sign-in with the password or a passkey, so that it is recent for ten minutes.", a.ConfirmSignIn, op.SignedIn, op.Unkeyed, op.Before(a.beforeConfirm))
	op.Command(r, "sign_out", "POST /sign-out", "Sign out. Ends the session of this browser.", SignOut, op.SignedIn, op.Unkeyed)

	r.In("Own account", "What people see to for themselves.")
	op.Query(r, "list_sessions", "GET /sessions", "List the sessions of the caller, newest first.", ListSessions, op.SignedIn)
	op.Command(r, "end_session", "DELETE /sessions/{sessionId}", "End a session of the caller. That browser is signed out within a second.", EndSession, op.SignedIn)
	op.Command(r, "update_profile", "PATCH /profile", "Change the caller's name, time zone, theme or language.", UpdateProfile, op.SignedIn)
	op.Command(r, "change_password", "PUT /profile/password", "Choose another password, with the current one. Ends all other sessions; needs a recent sign-in where the account has no password yet.", a.ChangePassword, op.SignedIn, op.Unkeyed, op.Before(a.beforeChangePassword))
	op.Command(r, "delete_account", "DELETE /profile", "Delete the caller's account for good. What the person made stays, without the name; refused while a workspace has no other owner. Needs a recent sign-in.", DeleteAccount, op.Recent, op.Unkeyed)
	op.Query(r, "list_tokens", "GET /tokens", "List the caller's API tokens that work, newest first.", ListTokens, op.SignedIn)
	op.Command(r, "create_token", "POST /tokens", "Create an API token. The answer holds its text, this once; needs a recent sign-in.", CreateToken, op.Recent, op.Creates, op.Secret)
	op.Command(r, "revoke_token", "DELETE /tokens/{tokenId}", "Revoke an API token of the caller. It stops working within a second.", RevokeToken, op.SignedIn)
	op.Query(r, "list_passkeys", "GET /passkeys", "List the caller's passkeys, newest first.", ListPasskeys, op.SignedIn)
	op.Command(r, "begin_passkey", "POST /passkeys/begin", "Begin to add a passkey. Answers what the browser tells the device that makes it, for five minutes; needs a recent sign-in.", a.BeginPasskey, op.Recent)
	op.Command(r, "finish_passkey", "POST /passkeys/finish", "Add the passkey that a device made. Needs a recent sign-in.", a.FinishPasskey, op.Recent, op.Creates)
	op.Command(r, "delete_passkey", "DELETE /passkeys/{passkeyId}", "Delete a passkey of the caller. Needs a recent sign-in.", DeletePasskey, op.Recent)
	return r
}

// SignInOptions are the ways in.
type SignInOptions struct {
	Passkeys bool          `json:"passkeys" doc:"Whether passkeys work at the server's address." example:"true"`
	OIDC     *OIDCProvider `json:"oidc" doc:"The identity provider, at GET /sign-in/oidc; null for none."`
	SignUp   bool          `json:"signUp" doc:"Whether accounts can be made on the pages; false when sign-up is closed." example:"true"`
	// SignUpFor is apart from SignUp, which was there first.
	SignUpFor SignUpMode `json:"signUpFor" enum:"open,invited,domains,closed" doc:"Who can make an account: open is anyone, invited is people who were invited, domains is people with an address of the server's domains or an invitation, closed is nobody." example:"invited"`
}

// OIDCProvider is an identity provider.
type OIDCProvider struct {
	Name string `json:"name" doc:"What people call it." example:"Example Login"`
}

// Nothing is the input of an operation that takes none.
type Nothing = app.Nothing
