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
	sessionsKept   = 100   // of one person; the oldest end
	workspacesMost = 1_000 // that an answer shows
)

// SignedIn is who is signed in, and where that person works.
type SignedIn struct {
	User    board.Profile `json:"user" doc:"The person."`
	Session SessionState  `json:"session" doc:"The session of this browser."`
	// A browser's own knowledge of time zones costs it tens of milliseconds to ask for first.
	ZoneOffsets []board.ZoneOffset `json:"zoneOffsets" doc:"How clocks in the person's time zone go, from two years ago for five years; empty for a zone that the server does not know any more."`
	app.Home
	app.NotificationCount

	cookie *op.SessionCookie
}

// SessionState is the session that a request came with.
type SessionState struct {
	ID          string        `json:"id" doc:"The session's id." example:"ses_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	CreatedAt   board.Instant `json:"createdAt" format:"date-time" doc:"When the person signed in." example:"2026-03-02T09:00:00.000Z"`
	RecentUntil board.Instant `json:"recentUntil" format:"date-time" doc:"Until when the sign-in counts as recent." example:"2026-03-02T09:10:00.000Z"`
}

// SessionCookie is that of a session that began.
func (s SignedIn) SessionCookie() *op.SessionCookie { return s.cookie }

// entry is how a person who signs in has shown who they are.
type entry bool

const (
	byKey  entry = false // by what could have been stolen: a password, a passkey, an identity provider
	proven entry = true  // by an email that just reached them, or with a new account: they know of it
)

// begin signs a person in. The session that the browser had before ends. A
// browser that the account does not know yet is announced to its owner.
func begin(ctx context.Context, tx *store.Tx, userID string, how entry) (SignedIn, error) {
	before, err := tx.EndReplaced(ctx)
	if err != nil {
		return SignedIn{}, err
	}
	tx.ActAs(userID)
	device, err := meet(ctx, tx, how == proven || before == userID)
	if err != nil {
		return SignedIn{}, err
	}
	secret := board.NewSessionSecret()
	hash, _ := board.SessionHash(secret)
	if err := tx.InsertSession(ctx, tx.NewID("ses_"), hash); err != nil {
		return SignedIn{}, err
	}
	if err := tx.CutSessions(ctx, sessionsKept); err != nil {
		return SignedIn{}, err
	}
	out, err := signedIn(ctx, tx.View)
	out.cookie = &op.SessionCookie{Secret: secret, Device: device}
	return out, err
}

// meet makes the caller's browser known to the account, and returns its secret
// when it gets a new one. Unless its owner expects it, they are told.
func meet(ctx context.Context, tx *store.Tx, expected bool) (secret string, err error) {
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
	return secret, tx.InsertLetter(ctx, board.LetterNewDevice, id, 0)
}

func signedIn(ctx context.Context, v *store.View) (out SignedIn, err error) {
	if out.User, err = v.Profile(ctx); err != nil {
		return out, err
	}
	out.ZoneOffsets = []board.ZoneOffset{}
	if zone, err := board.LoadZone("timeZone", out.User.TimeZone); err == nil { // a zone may be renamed; nobody is shut out for it
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

// GetSignInOptions answers the ways in.
func (a *Accounts) GetSignInOptions(context.Context, *store.View, Nothing) (SignInOptions, error) {
	out := SignInOptions{Passkeys: a.keys != nil, SignUp: a.opts.SignUp.Mode != SignUpClosed, SignUpFor: a.opts.SignUp.Mode}
	if a.opts.OIDC.Issuer != "" {
		out.OIDC = &OIDCProvider{Name: a.opts.OIDC.Name}
	}
	return out, nil
}

// GetSession answers who is signed in.
func GetSession(ctx context.Context, v *store.View, _ Nothing) (SignedIn, error) {
	return signedIn(ctx, v)
}

// CurrentSession is the session of a browser, if it has one.
type CurrentSession struct {
	Session *SignedIn `json:"session" doc:"Who is signed in with this browser, and where that person works; null when nobody is."`
}

// GetCurrentSession is GetSession for pages that do not know whether anybody is
// signed in: nobody is an answer, not an error.
func GetCurrentSession(ctx context.Context, v *store.View, _ Nothing) (CurrentSession, error) {
	if v.Caller().SessionID == "" {
		return CurrentSession{}, nil
	}
	found, err := signedIn(ctx, v)
	if board.IsCode(err, board.CodeUnauthenticated) {
		return CurrentSession{}, nil // it ended a moment ago
	}
	return CurrentSession{Session: &found}, err
}

// SignInInput is an address with its password.
type SignInInput struct {
	Email    string `json:"email" maxLength:"254" doc:"The address of the account." example:"ada@example.com"`
	Password string `json:"password" maxLength:"1000" doc:"Its password." example:"correct horse battery"`

	proof proof
}

// proof is a password that was checked ahead of the transaction.
type proof struct{ userID, hash string }

// errPassword is the one answer to a wrong password, an unknown address and an
// account without a password.
func errPassword() error {
	return board.Refuse(board.CodeUnauthenticated, "Wrong email or password.")
}

// prove checks the password of an address, as often as the limits allow.
func (a *Accounts) prove(ctx context.Context, db *store.DB, caller board.Caller, email, password string) (p proof, err error) {
	email = strings.ToLower(strings.TrimSpace(email))
	from := guesser{caller: caller}
	if err := db.Read(ctx, caller, func(v *store.View) (err error) {
		if p.userID, p.hash, err = v.PasswordOf(ctx, email); err != nil {
			return err
		}
		from.device, from.place, err = v.Knows(ctx, p.userID, caller.Network)
		return err
	}); err != nil {
		return p, err
	}
	tried := from.subjects(email)
	if err := a.take(db, tried); err != nil {
		return proof{}, err
	}
	right, err := a.passwords.right(ctx, p.hash, password)
	if err == nil && !right {
		a.wrongPassword(db, caller, p.userID)
		err = errPassword()
	}
	if err != nil {
		return proof{}, err
	}
	a.attempts.Forgive(db, tried...)
	return p, nil
}

// hold refuses when the password was changed since it was checked.
func (p proof) hold(ctx context.Context, tx *store.Tx) error {
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

// SignIn begins a session for whose password is right.
func (a *Accounts) SignIn(ctx context.Context, tx *store.Tx, in SignInInput) (SignedIn, error) {
	if err := in.proof.hold(ctx, tx); err != nil {
		return SignedIn{}, err
	}
	return begin(ctx, tx, in.proof.userID, byKey)
}

// ConfirmInput is one proof of who is signed in: the password, or a passkey's
// answer to begin_passkey_sign_in.
type ConfirmInput struct {
	Password    string     `json:"password,omitempty" maxLength:"1000" doc:"The account's password." example:"correct horse battery"`
	ChallengeID string     `json:"challengeId,omitempty" maxLength:"64" doc:"The challenge that a passkey answered." example:"chl_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Credential  Credential `json:"credential,omitempty" doc:"The passkey's answer (PublicKeyCredential.toJSON)." example:"{\"id\":\"3q2-7w\",\"type\":\"public-key\"}"`

	proof proof
}

// beforeConfirm checks a password, where one was given.
func (a *Accounts) beforeConfirm(ctx context.Context, db *store.DB, caller board.Caller, in *ConfirmInput) error {
	if (in.Password != "") == (in.ChallengeID != "") || (in.ChallengeID != "") != (in.Credential != nil) {
		return board.Invalid("password, or else challengeId and credential, must be given.")
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
		err = errConfirm() // the person is signed in still
	}
	return err
}

func errConfirm() error { return board.Forbidden("This is not your password.") }

// ConfirmSignIn makes the sign-in recent of a person who proved it again. The
// session gets a new secret.
func (a *Accounts) ConfirmSignIn(ctx context.Context, tx *store.Tx, in ConfirmInput) (SignedIn, error) {
	var err error
	if in.Password != "" {
		if err = in.proof.hold(ctx, tx); err == nil && in.proof.userID != tx.Caller().UserID {
			err = errConfirm()
		}
	} else {
		var userID string
		if userID, err = a.passkeyOwner(ctx, tx, in.ChallengeID, in.Credential); err == nil && userID != tx.Caller().UserID {
			err = board.Forbidden("This passkey is not one of yours.")
		}
	}
	if board.IsCode(err, board.CodeUnauthenticated) {
		err = board.Forbidden("The proof was not accepted; begin again.")
	}
	if err != nil {
		return SignedIn{}, err
	}
	secret := board.NewSessionSecret()
	hash, _ := board.SessionHash(secret)
	if err := tx.ConfirmSession(ctx, hash); err != nil {
		return SignedIn{}, err
	}
	device, err := meet(ctx, tx, true)
	if err != nil {
		return SignedIn{}, err
	}
	out, err := signedIn(ctx, tx.View)
	out.cookie = &op.SessionCookie{Secret: secret, Device: device}
	return out, err
}

// SignedOut is the answer where nobody is signed in any more.
type SignedOut struct{}

// SessionCookie is that of no session.
func (SignedOut) SessionCookie() *op.SessionCookie { return &op.SessionCookie{} }

// SignOut ends the session that the request came with.
func SignOut(ctx context.Context, tx *store.Tx, _ Nothing) (SignedOut, error) {
	err := tx.EndSession(ctx, tx.Caller().SessionID)
	if board.IsCode(err, board.CodeNotFound) { // it has just ended
		err = nil
	}
	return SignedOut{}, err
}
