package account

import (
	"log/slog"
	"net/url"
	"sync"

	"github.com/go-webauthn/webauthn/webauthn"

	"cardwall/internal/app"
	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/session"
)

// Options configures Accounts.
type Options struct {
	BaseURL   string
	OIDC      OIDC // zero value if there is no identity provider
	SignUp    SignUpPolicy
	Unlimited bool // disable the limits on attempts
	Log       *slog.Logger
}

// Accounts implements the operations that need more than the database, such as passkeys
// or limits on attempts and on concurrent password hashing.
type Accounts struct {
	opts      Options
	passwords *passwords
	attempts  *session.Attempts
	writing   sync.WaitGroup
	keys      *webauthn.WebAuthn // nil if browsers do not allow passkeys at the base URL
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

// AddOperations registers the operations on accounts and returns r. If the operations are
// not called, as when the OpenAPI document is generated, a may be nil.
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
		"Request an account. The response does not reveal whether the address has an account. An email, if one is sent, "+
			"contains a verification link that expires in 24 hours, or says that the address already has an account.",
		a.SignUp, op.Anonymous, op.Before(a.beforeSignUp))
	op.Command(r, "create_account", "POST /accounts",
		"Create an account and sign in. The secret comes from an invitation link, or from the link that a server "+
			"without accounts prints. No verification email is sent.",
		a.CreateAccount, op.Anonymous, op.Before(a.beforeCreateAccount))
	op.Command(r, "verify_email", "POST /verify-email",
		"Verify an email address with the secret from the emailed link. "+
			"Creates the account, accepts its invitations and signs the person in.",
		a.VerifyEmail, op.Anonymous)
	op.Command(r, "sign_in", "POST /sign-in",
		"Sign in with a password.", a.SignIn, op.Anonymous, op.Before(a.beforeSignIn))
	op.Command(r, "request_password_reset", "POST /password-reset",
		"Request an email with a link to choose a new password. The response does not reveal whether the address has an "+
			"account. The link expires in one hour.",
		a.RequestPasswordReset, op.Anonymous, op.Before(a.beforeRequestReset))
	op.Command(r, "reset_password", "POST /password-reset/finish",
		"Choose a new password with the secret from the emailed link. "+
			"Ends all sessions of the account and signs the person in.",
		a.ResetPassword, op.Anonymous, op.Before(a.beforeResetPassword))
	op.Command(r, "begin_passkey_sign_in", "POST /passkeys/sign-in/begin",
		"Start signing in, or confirming a sign-in, with a passkey. "+
			"Returns a challenge with the WebAuthn request options for the browser. The challenge expires in five minutes.",
		a.BeginPasskeySignIn, op.Anonymous)
	op.Command(r, "finish_passkey_sign_in", "POST /passkeys/sign-in/finish",
		"Finish signing in with the passkey's response.", a.FinishPasskeySignIn, op.Anonymous)
	op.Query(r, "get_session", "GET /session",
		"Get the signed-in person and the person's workspaces.", GetSession, op.SignedIn)
	op.Query(r, "get_current_session", "GET /session/current",
		"Get the person who is signed in with this browser, with the person's workspaces, "+
			"or null if nobody is signed in.",
		GetCurrentSession, op.Visitor)
	op.Command(r, "confirm_sign_in", "POST /session/confirm",
		"Confirm the current sign-in with the password or a passkey, so that it counts as recent for ten minutes.",
		a.ConfirmSignIn, op.SignedIn, op.Unkeyed, op.Before(a.beforeConfirm))
	op.Command(r, "sign_out", "POST /sign-out",
		"Sign out. Ends this browser's session.", SignOut, op.SignedIn, op.Unkeyed)
}

func addOwnOperations(r *op.Registry, a *Accounts) {
	r.In("Your account", "The caller's own profile, sessions, API tokens and passkeys.")
	op.Query(r, "list_sessions", "GET /sessions",
		"List the caller's sessions, newest first.", ListSessions, op.SignedIn)
	op.Query(r, "list_wrong_passwords", "GET /wrong-passwords",
		"List the attempts of the last 30 days to sign in to the caller's account with a wrong password, newest first.",
		ListWrongPasswords, op.SignedIn)
	op.Command(r, "end_session", "DELETE /sessions/{sessionId}",
		"End one of the caller's sessions. Its browser is signed out within a second.", EndSession, op.SignedIn)
	op.Command(r, "update_profile", "PATCH /profile",
		"Change the caller's name, time zone, theme or language.", UpdateProfile, op.SignedIn)
	op.TakesPicture(r, "set_avatar", "PUT /profile/avatar", board.AsAvatar,
		"Set the caller's picture. The largest square in the middle of it is used, scaled down to 256 × 256 pixels, "+
			"without metadata.",
		SetAvatar, op.SignedIn)
	op.Command(r, "delete_avatar", "DELETE /profile/avatar",
		"Remove the caller's picture. The person's initials are shown again.", DeleteAvatar, op.SignedIn)
	op.Command(r, "change_password", "PUT /profile/password",
		"Change the caller's password. Requires the current password, or a recent sign-in if the account has none. "+
			"Ends all other sessions.",
		a.ChangePassword, op.SignedIn, op.Unkeyed, op.Before(a.beforeChangePassword))
	op.Command(r, "delete_account", "DELETE /profile",
		"Delete the caller's account permanently. The person's content is kept, but no longer shows the person's name. "+
			"Fails if the caller is the last owner of a workspace. Requires a recent sign-in.",
		DeleteAccount, op.SignedIn, op.Recent, op.Unkeyed, op.InSlices(beforeDeleteAccount))
	op.Query(r, "list_tokens", "GET /tokens",
		"List the caller's active API tokens, newest first.", ListTokens, op.SignedIn)
	op.Command(r, "create_token", "POST /tokens",
		"Create an API token. Only this response contains the token itself. Requires a recent sign-in.",
		CreateToken, op.SignedIn, op.Recent, op.Creates, op.Secret)
	op.Command(r, "revoke_token", "DELETE /tokens/{tokenId}",
		"Revoke one of the caller's API tokens. It stops working within a second.", RevokeToken, op.SignedIn)
	op.Query(r, "list_passkeys", "GET /passkeys",
		"List the caller's passkeys, newest first.", ListPasskeys, op.SignedIn)
	op.Command(r, "begin_passkey", "POST /passkeys/begin",
		"Start adding a passkey. Returns a challenge with the WebAuthn creation options for the browser. "+
			"The challenge expires in five minutes. Requires a recent sign-in.",
		a.BeginPasskey, op.SignedIn, op.Recent)
	op.Command(r, "finish_passkey", "POST /passkeys/finish",
		"Finish adding a passkey with the device's response. Requires a recent sign-in.", a.FinishPasskey, op.SignedIn, op.Recent, op.Creates)
	op.Command(r, "delete_passkey", "DELETE /passkeys/{passkeyId}",
		"Delete one of the caller's passkeys. Requires a recent sign-in.", DeletePasskey, op.SignedIn, op.Recent)
}

// SignInOptions describes the available ways to sign in.
type SignInOptions struct {
	Passkeys bool          `json:"passkeys" doc:"Whether passkeys can be used with the server's base URL." example:"true"`
	OIDC     *OIDCProvider `json:"oidc" doc:"Identity provider; null if there is none. GET /sign-in/oidc starts a sign-in with it."`
	SignUp   bool          `json:"signUp" doc:"Whether people can create accounts; false if sign-up is closed." example:"true"`
	// SignUpFor is more precise than SignUp, which remains for existing clients.
	SignUpFor SignUpMode `json:"signUpFor" enum:"open,invited,domains,closed" doc:"Who can create an account. open: anyone. invited: people with an invitation. domains: people with an email address in an allowed domain, or with an invitation. closed: nobody." example:"invited"`
}

// OIDCProvider describes the identity provider.
type OIDCProvider struct {
	Name string `json:"name" doc:"Display name of the provider." example:"Example Login"`
}

// Nothing is the input of an operation without input.
type Nothing = app.Nothing
