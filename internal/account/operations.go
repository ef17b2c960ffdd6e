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

// Options configures Accounts.
type Options struct {
	BaseURL   string
	OIDC      OIDC // the zero value for no identity provider
	SignUp    SignUpPolicy
	Unlimited bool // disable limits of attempts
	Log       *slog.Logger
}

// Accounts implements the operations that need more than the database: they limit
// concurrent password hashes and attempts, or use passkeys.
type Accounts struct {
	opts      Options
	passwords *passwords
	attempts  *session.Attempts
	writing   sync.WaitGroup
	keys      *webauthn.WebAuthn // nil if browsers allow no passkeys at the base URL
}

// New returns the Accounts of a server.
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

// AddOperations registers the operations on accounts. Calls need a; to generate
// the OpenAPI document it may be nil.
func AddOperations(r *op.Registry, a *Accounts) *op.Registry {
	addSignInOperations(r, a)
	addOwnOperations(r, a)
	return r
}

func addSignInOperations(r *op.Registry, a *Accounts) {
	r.In("Sign-in", "Sign-up, sign-in and the current session.")
	op.Query(r, "get_sign_in_options", "GET /sign-in/options",
		"Get the available ways to sign in.", a.GetSignInOptions, op.Anonymous)
	op.Command(r, "sign_up", "POST /sign-up",
		"Request an account. The response is always the same. The address gets an email with a link that verifies it "+
			"and expires in 24 hours, or an email saying that it already has an account.",
		a.SignUp, op.Anonymous, op.Before(a.beforeSignUp))
	op.Command(r, "create_account", "POST /accounts",
		"Create an account with a link and sign in. The secret is that of an invitation link, "+
			"or of the link that a server without accounts prints. No email is sent, because the link proves the address.",
		a.CreateAccount, op.Anonymous, op.Before(a.beforeCreateAccount))
	op.Command(r, "verify_email", "POST /verify-email",
		"Verify an email address with the secret of the link in the email. "+
			"Creates the account, accepts its invitations and signs in.",
		a.VerifyEmail, op.Anonymous)
	op.Command(r, "sign_in", "POST /sign-in",
		"Sign in with a password.", a.SignIn, op.Anonymous, op.Before(a.beforeSignIn))
	op.Command(r, "request_password_reset", "POST /password-reset",
		"Request an email with a link to choose a new password. The response is always the same. "+
			"The link expires in one hour.",
		a.RequestPasswordReset, op.Anonymous, op.Before(a.beforeRequestReset))
	op.Command(r, "reset_password", "POST /password-reset/finish",
		"Choose a new password with the secret of the link in the email. Ends all sessions of the account and signs in.",
		a.ResetPassword, op.Anonymous, op.Before(a.beforeResetPassword))
	op.Command(r, "begin_passkey_sign_in", "POST /passkeys/sign-in/begin",
		"Begin a sign-in, or a confirmation of one, with a passkey. "+
			"Returns the request for the browser's passkeys, which expires in five minutes.",
		a.BeginPasskeySignIn, op.Anonymous)
	op.Command(r, "finish_passkey_sign_in", "POST /passkeys/sign-in/finish",
		"Sign in with the response of a passkey.", a.FinishPasskeySignIn, op.Anonymous)
	op.Query(r, "get_session", "GET /session",
		"Get the signed-in person and the person's workspaces.", GetSession, op.SignedIn)
	op.Query(r, "get_current_session", "GET /session/current",
		"Get the person who is signed in with this browser, or null.", GetCurrentSession, op.Visitor)
	op.Command(r, "confirm_sign_in", "POST /session/confirm",
		"Confirm a sign-in with the password or a passkey, so that it counts as recent for ten minutes.",
		a.ConfirmSignIn, op.SignedIn, op.Unkeyed, op.Before(a.beforeConfirm))
	op.Command(r, "sign_out", "POST /sign-out",
		"Sign out. Ends the session of this browser.", SignOut, op.SignedIn, op.Unkeyed)
}

func addOwnOperations(r *op.Registry, a *Accounts) {
	r.In("Own account", "The caller's own profile, sessions, API tokens and passkeys.")
	op.Query(r, "list_sessions", "GET /sessions",
		"List the caller's sessions, newest first.", ListSessions, op.SignedIn)
	op.Command(r, "end_session", "DELETE /sessions/{sessionId}",
		"End a session of the caller. That browser is signed out within a second.", EndSession, op.SignedIn)
	op.Command(r, "update_profile", "PATCH /profile",
		"Change the caller's name, time zone, theme or language.", UpdateProfile, op.SignedIn)
	op.Command(r, "change_password", "PUT /profile/password",
		"Change the caller's password. Requires the current password, or a recent sign-in if the account has none. "+
			"Ends all other sessions.",
		a.ChangePassword, op.SignedIn, op.Unkeyed, op.Before(a.beforeChangePassword))
	op.Command(r, "delete_account", "DELETE /profile",
		"Delete the caller's account permanently. The person's content is kept without the name. "+
			"Fails while a workspace has no other owner. Requires a recent sign-in.",
		DeleteAccount, op.SignedIn, op.Recent, op.Unkeyed, op.InSlices(beforeDeleteAccount))
	op.Query(r, "list_tokens", "GET /tokens",
		"List the caller's active API tokens, newest first.", ListTokens, op.SignedIn)
	op.Command(r, "create_token", "POST /tokens",
		"Create an API token. Only this response contains the token itself. Requires a recent sign-in.",
		CreateToken, op.SignedIn, op.Recent, op.Creates, op.Secret)
	op.Command(r, "revoke_token", "DELETE /tokens/{tokenId}",
		"Revoke an API token of the caller. It stops working within a second.", RevokeToken, op.SignedIn)
	op.Query(r, "list_passkeys", "GET /passkeys",
		"List the caller's passkeys, newest first.", ListPasskeys, op.SignedIn)
	op.Command(r, "begin_passkey", "POST /passkeys/begin",
		"Begin to add a passkey. Returns the request for the device, which expires in five minutes. "+
			"Requires a recent sign-in.",
		a.BeginPasskey, op.SignedIn, op.Recent)
	op.Command(r, "finish_passkey", "POST /passkeys/finish",
		"Add the passkey that a device created. Requires a recent sign-in.", a.FinishPasskey, op.SignedIn, op.Recent, op.Creates)
	op.Command(r, "delete_passkey", "DELETE /passkeys/{passkeyId}",
		"Delete a passkey of the caller. Requires a recent sign-in.", DeletePasskey, op.SignedIn, op.Recent)
}

// SignInOptions describes the available ways to sign in.
type SignInOptions struct {
	Passkeys bool          `json:"passkeys" doc:"Whether passkeys work at the server's address." example:"true"`
	OIDC     *OIDCProvider `json:"oidc" doc:"Identity provider, at GET /sign-in/oidc; null if there is none."`
	SignUp   bool          `json:"signUp" doc:"Whether people can create accounts; false if sign-up is closed." example:"true"`
	// SignUpFor was added later than SignUp, which clients may still read.
	SignUpFor SignUpMode `json:"signUpFor" enum:"open,invited,domains,closed" doc:"Who can create an account: open is anyone, invited is people with an invitation, domains is people with an address of the server's domains or an invitation, closed is nobody." example:"invited"`
}

// OIDCProvider describes the identity provider.
type OIDCProvider struct {
	Name string `json:"name" doc:"Name of the provider for people." example:"Example Login"`
}

// Nothing is the input of an operation without input.
type Nothing = app.Nothing
