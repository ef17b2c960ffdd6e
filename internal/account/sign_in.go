package account

import (
	"context"
	"strings"

	"cardwall/internal/app"
	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/store"
)

const (
	maxSessions   = 100   // per person; a sign-in beyond it ends the least recently used session
	maxWorkspaces = 1_000 // that are loaded at a time for one person
)

// SignedIn is the signed-in person with the person's workspaces.
type SignedIn struct {
	User    board.Profile `json:"user" doc:"The signed-in person."`
	Session SessionState  `json:"session" doc:"The session of this browser."`
	// Included because the first use of time zones takes a browser tens of milliseconds.
	ZoneOffsets []board.ZoneOffset `json:"zoneOffsets" doc:"UTC offsets of the person's time zone, from two years ago to three years from now; empty if the server does not know the time zone."`
	app.Home
	app.NotificationCount

	cookie *op.SessionCookie
}

// SessionState is the session of a request.
type SessionState struct {
	ID          string        `json:"id" doc:"Id of the session." example:"ses_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	CreatedAt   board.Instant `json:"createdAt" format:"date-time" doc:"When the person signed in." example:"2026-03-02T09:00:00.000Z"`
	RecentUntil board.Instant `json:"recentUntil" format:"date-time" doc:"When the sign-in stops counting as recent." example:"2026-03-02T09:10:00.000Z"`
}

// SessionCookie returns the cookie of a new session, or nil.
func (s SignedIn) SessionCookie() *op.SessionCookie { return s.cookie }

// entry is how a person signed in. It determines whether a sign-in from a new device is
// reported by email.
type entry bool

const (
	byCredential entry = false // with a password, a passkey or an account with an identity provider, which can be stolen
	proven       entry = true  // with a link from an email, or with a new account
)

// begin signs a person in and ends the browser's previous session. It notifies the owner
// by email if the browser is new to the account, unless the sign-in is proven or the
// previous session was the same person's.
func begin(ctx context.Context, tx *store.Tx, userID string, how entry) (SignedIn, error) {
	before, err := tx.EndReplacedSession(ctx)
	if err != nil {
		return SignedIn{}, err
	}
	tx.ActAs(userID)
	device, err := recordDevice(ctx, tx, how == proven || before == userID)
	if err != nil {
		return SignedIn{}, err
	}
	secret := board.NewSessionSecret()
	hash, _ := board.SessionHash(secret)
	if err := tx.InsertSession(ctx, tx.NewID("ses_"), hash); err != nil {
		return SignedIn{}, err
	}
	if err := tx.LimitSessions(ctx, maxSessions); err != nil {
		return SignedIn{}, err
	}
	out, err := signedIn(ctx, tx.View)
	out.cookie = &op.SessionCookie{Secret: secret, Device: device}
	return out, err
}

// recordDevice records that the account was used with the caller's browser. It returns the
// browser's secret if the browser is new. It queues an email to the owner, unless the
// sign-in is expected or the owner was already notified of this browser.
func recordDevice(ctx context.Context, tx *store.Tx, expected bool) (secret string, err error) {
	c := tx.Caller()
	id, announced, err := tx.UseKnownDevice(ctx, c.Network)
	if err == nil && id == "" {
		id, secret = tx.NewID("dev_"), board.NewSessionSecret()
		hash, _ := board.SessionHash(secret)
		err = tx.InsertKnownDevice(ctx, id, hash, c.Network)
	}
	if err != nil || announced || expected {
		return secret, err
	}
	tx.Note("", board.Changes{"newDevice": {To: true}, "address": {To: c.Address}})
	return secret, tx.InsertEmail(ctx, board.EmailNewDevice, id, 0)
}

func signedIn(ctx context.Context, v *store.View) (out SignedIn, err error) {
	if out.User, err = v.Profile(ctx); err != nil {
		return out, err
	}
	out.ZoneOffsets = []board.ZoneOffset{}
	// A zone that was renamed must not prevent the sign-in.
	if zone, err := board.LoadZone("timeZone", out.User.TimeZone); err == nil {
		now := v.Now().Time()
		out.ZoneOffsets = board.ZoneOffsets(zone, now.AddDate(-2, 0, 0), now.AddDate(3, 0, 0))
	}
	s, err := v.Session(ctx)
	if err != nil {
		return out, err
	}
	out.Session = SessionState{ID: s.ID, CreatedAt: s.CreatedAt}
	if out.Session.RecentUntil, err = v.RecentUntil(ctx); err != nil {
		return out, err
	}
	if out.NotificationCount, err = app.GetNotificationCount(ctx, v, app.Nothing{}); err != nil {
		return out, err
	}
	out.Home, err = app.GetHome(ctx, v, app.Nothing{})
	return out, err
}

// GetSignInOptions returns the available ways to sign in.
func (a *Accounts) GetSignInOptions(context.Context, *store.View, Nothing) (SignInOptions, error) {
	mode := a.opts.SignUp.Mode
	out := SignInOptions{Passkeys: a.keys != nil, SignUp: mode != SignUpClosed, SignUpFor: mode}
	if a.opts.OIDC.Issuer != "" {
		out.OIDC = &OIDCProvider{Name: a.opts.OIDC.Name}
	}
	return out, nil
}

// GetSession returns the signed-in person.
func GetSession(ctx context.Context, v *store.View, _ Nothing) (SignedIn, error) {
	return signedIn(ctx, v)
}

// CurrentSession is the session of a browser, if it has one.
type CurrentSession struct {
	Session *SignedIn `json:"session" doc:"The person who is signed in with this browser, with the person's workspaces; null if nobody is signed in."`
}

// GetCurrentSession is like GetSession, but returns null instead of an error if
// nobody is signed in.
func GetCurrentSession(ctx context.Context, v *store.View, _ Nothing) (CurrentSession, error) {
	if v.Caller().SessionID == "" {
		return CurrentSession{}, nil
	}
	found, err := signedIn(ctx, v)
	if board.IsCode(err, board.CodeUnauthenticated) {
		return CurrentSession{}, nil // the session has just ended
	}
	return CurrentSession{Session: &found}, err
}

// SignInInput is an email address and a password.
type SignInInput struct {
	Email    string `json:"email" maxLength:"254" doc:"Email address of the account." example:"ada@example.com"`
	Password string `json:"password" maxLength:"1000" doc:"Password of the account." example:"correct horse battery"`

	proof proof
}

// proof is the result of a password check before the transaction.
type proof struct{ userID, hash string }

// errPassword is the same error for a wrong password, an unknown address and an
// account without a password.
func errPassword() error {
	return board.Refuse(board.CodeUnauthenticated, "Wrong email or password.")
}

// prove checks the password of an account, subject to the limits on guesses.
func (a *Accounts) prove(ctx context.Context, db *store.DB, caller board.Caller, email, password string) (p proof, err error) {
	email = strings.ToLower(strings.TrimSpace(email))
	from := guesser{caller: caller}
	if err := db.Read(ctx, caller, func(v *store.View) (err error) {
		if p.userID, p.hash, err = v.PasswordOf(ctx, email); err != nil {
			return err
		}
		from.knownDevice, from.knownNetwork, err = v.KnownDevice(ctx, p.userID, caller.Network)
		return err
	}); err != nil {
		return p, err
	}
	tried := from.subjects(email)
	if err := a.takeGuess(db, tried); err != nil {
		return proof{}, err
	}
	correct, err := a.passwords.matches(ctx, p.hash, password)
	if err == nil && !correct {
		a.recordWrongPassword(db, caller, p.userID)
		err = errPassword()
	}
	if err != nil {
		return proof{}, err
	}
	a.attempts.Refund(db, tried...)
	return p, nil
}

// recheck returns an error if the password changed after it was checked.
func (p proof) recheck(ctx context.Context, tx *store.Tx) error {
	same, err := tx.LockPassword(ctx, p.userID, p.hash)
	if err == nil && !same {
		err = errPassword()
	}
	return err
}

func (a *Accounts) beforeSignIn(ctx context.Context, db *store.DB, caller board.Caller, in *SignInInput) (err error) {
	in.proof, err = a.prove(ctx, db, caller, in.Email, in.Password)
	return err
}

// SignIn signs in the person whose password was checked.
func (a *Accounts) SignIn(ctx context.Context, tx *store.Tx, in SignInInput) (SignedIn, error) {
	if err := in.proof.recheck(ctx, tx); err != nil {
		return SignedIn{}, err
	}
	return begin(ctx, tx, in.proof.userID, byCredential)
}

// ConfirmInput is the password, or a passkey's response to begin_passkey_sign_in.
type ConfirmInput struct {
	Password    string     `json:"password,omitempty" maxLength:"1000" doc:"Password of the account." example:"correct horse battery"`
	ChallengeID string     `json:"challengeId,omitempty" maxLength:"64" doc:"Id of the challenge that the passkey responds to." example:"chl_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Credential  Credential `json:"credential,omitempty" doc:"The passkey's response (PublicKeyCredential.toJSON)." example:"{\"id\":\"3q2-7w\",\"type\":\"public-key\"}"`

	proof proof
}

// beforeConfirm checks the password, if there is one.
func (a *Accounts) beforeConfirm(ctx context.Context, db *store.DB, caller board.Caller, in *ConfirmInput) error {
	if (in.Password != "") == (in.ChallengeID != "") || (in.ChallengeID != "") != (in.Credential != nil) {
		return board.Invalid("Give either password, or both challengeId and credential.")
	}
	if in.Password == "" {
		return nil
	}
	var p board.Profile
	err := db.Read(ctx, caller, func(v *store.View) (err error) {
		p, err = v.Profile(ctx)
		return err
	})
	if err == nil {
		in.proof, err = a.prove(ctx, db, caller, p.Email, in.Password)
	}
	if board.IsCode(err, board.CodeUnauthenticated) {
		err = errConfirm() // not unauthenticated: the person is still signed in
	}
	return err
}

func errConfirm() error { return board.Forbidden("This is not your password.") }

// ConfirmSignIn makes the caller's sign-in recent again and gives the session a new
// secret.
func (a *Accounts) ConfirmSignIn(ctx context.Context, tx *store.Tx, in ConfirmInput) (SignedIn, error) {
	var err error
	if in.Password != "" {
		if err = in.proof.recheck(ctx, tx); err == nil && in.proof.userID != tx.Caller().UserID {
			err = errConfirm()
		}
	} else {
		var userID string
		if userID, err = a.passkeyOwner(ctx, tx, in.ChallengeID, in.Credential); err == nil && userID != tx.Caller().UserID {
			err = board.Forbidden("This is not one of your passkeys.")
		}
	}
	if board.IsCode(err, board.CodeUnauthenticated) {
		err = board.Forbidden("The password or passkey was not accepted. Try again.")
	}
	if err != nil {
		return SignedIn{}, err
	}
	secret := board.NewSessionSecret()
	hash, _ := board.SessionHash(secret)
	if err := tx.ConfirmSession(ctx, hash); err != nil {
		return SignedIn{}, err
	}
	device, err := recordDevice(ctx, tx, true)
	if err != nil {
		return SignedIn{}, err
	}
	out, err := signedIn(ctx, tx.View)
	out.cookie = &op.SessionCookie{Secret: secret, Device: device}
	return out, err
}

// SignedOut is the result of an operation that signs out.
type SignedOut struct{}

// SessionCookie returns a cookie that removes the session's cookie.
func (SignedOut) SessionCookie() *op.SessionCookie { return &op.SessionCookie{} }

// SignOut ends the session of the request.
func SignOut(ctx context.Context, tx *store.Tx, _ Nothing) (SignedOut, error) {
	err := tx.EndSession(ctx, tx.Caller().SessionID)
	if board.IsCode(err, board.CodeNotFound) { // another request just ended it
		err = nil
	}
	return SignedOut{}, err
}
