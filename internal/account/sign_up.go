package account

import (
	"context"

	"cardwall/internal/app"
	"cardwall/internal/board"
	"cardwall/internal/session"
	"cardwall/internal/store"
)

// Sent is the response of an operation that may send an email. It is always the
// same.
type Sent struct {
	Sent bool `json:"sent" doc:"Always true. Only the recipient of the email learns whether the address has an account." example:"true"`
}

// SignUpInput is the account that a person requests.
type SignUpInput struct {
	Email    string `json:"email" maxLength:"254" doc:"Email address to sign in with. It must be verified before the account is created." example:"ada@example.com"`
	Name     string `json:"name" maxLength:"512" doc:"Display name." example:"Ada Lovelace"`
	Password string `json:"password" maxLength:"1000" doc:"Password of at least 10 characters and at most 1,000 bytes." example:"correct horse battery"`
	TimeZone string `json:"timeZone,omitempty" maxLength:"64" doc:"IANA time zone that determines the current day. Defaults to UTC." example:"Europe/London"`

	signUp board.SignUp
}

// beforeSignUp validates the input and hashes the password, even if the address
// has an account.
func (a *Accounts) beforeSignUp(ctx context.Context, db *store.DB, caller board.Caller, in *SignUpInput) error {
	if a.opts.SignUp.Mode == SignUpClosed {
		return a.opts.SignUp.errClosed()
	}
	email, err := board.NormalEmail(in.Email)
	if err != nil {
		return err
	}
	name, err := app.Title("name", in.Name)
	if err != nil {
		return err
	}
	if in.TimeZone == "" {
		in.TimeZone = "UTC"
	}
	if _, err := board.LoadZone("timeZone", in.TimeZone); err != nil {
		return err
	}
	if err := CheckPassword(in.Password, email, name); err != nil {
		return err
	}
	if err := a.attempts.Spend(db, session.PerNetwork(emailsNetwork, caller)...); err != nil {
		return err
	}
	hash, err := a.passwords.hash(ctx, in.Password)
	in.signUp = board.SignUp{Email: email, Name: name, PasswordHash: hash, TimeZone: in.TimeZone}
	return err
}

// SignUp stores a sign-up and queues an email, unless the address has reached
// board.EmailsToAddress. If the policy does not admit the address, the email is sent only if
// the address has an account. That is decided when the email is composed, so neither the
// response nor its duration reveals whether the address has an account.
func (a *Accounts) SignUp(ctx context.Context, tx *store.Tx, in SignUpInput) (Sent, error) {
	admitted, err := a.opts.SignUp.admits(ctx, tx.View, in.signUp.Email)
	if err != nil {
		return Sent{}, err
	}
	email := board.EmailVerify
	if !admitted {
		email = board.EmailAccountExists
	}
	n, err := tx.CountSignUps(ctx, in.signUp.Email)
	if err != nil || n >= board.EmailsToAddress {
		return Sent{true}, err
	}
	s := in.signUp
	s.ID = tx.NewID("sup_")
	if err := tx.InsertSignUp(ctx, s); err != nil {
		return Sent{}, err
	}
	return Sent{true}, tx.InsertEmail(ctx, email, s.ID, 0)
}

// SecretInput is the secret of a link in an email.
type SecretInput struct {
	Secret string `json:"secret" minLength:"1" maxLength:"64" doc:"The secret from the emailed link: the part after the #." example:"K7Q2M4XW3ZB5N6VD8RJHF9TCGP"`
}

// VerifyEmail creates the account of a sign-up, accepts all invitations to its
// address and signs the person in.
func (a *Accounts) VerifyEmail(ctx context.Context, tx *store.Tx, in SecretInput) (SignedIn, error) {
	s, err := tx.SignUpOf(ctx, in.Secret)
	if board.IsCode(err, board.CodeNotFound) {
		return SignedIn{}, board.Invalid("secret: the link was already used or is older than 24 hours. Sign in, or sign up again.").
			In("secret", board.RuleValue)
	}
	if err != nil {
		return SignedIn{}, err
	}
	userID, _, err := tx.PasswordOf(ctx, s.Email)
	if err != nil {
		return SignedIn{}, err
	}
	if userID != "" {
		return SignedIn{}, board.Invalid("secret: this address already has an account. Sign in with it.").
			In("secret", board.RuleValue)
	}
	admitted, err := a.opts.SignUp.admits(ctx, tx.View, s.Email)
	if err == nil && !admitted {
		err = a.opts.SignUp.errClosed() // the policy changed, or the invitation was withdrawn
	}
	if err != nil {
		return SignedIn{}, err
	}
	userID, err = addVerified(ctx, tx, app.NewUser{
		Email: s.Email, Name: s.Name, PasswordHash: s.PasswordHash, TimeZone: s.TimeZone,
	})
	if err != nil {
		return SignedIn{}, err
	}
	return begin(ctx, tx, userID, proven)
}

// addVerified creates an account with a verified email address. It deletes all sign-ups
// with the address and accepts all invitations to it.
func addVerified(ctx context.Context, tx *store.Tx, in app.NewUser) (userID string, err error) {
	u, err := app.AddUser(ctx, tx, in)
	if err != nil {
		return "", err
	}
	if err := tx.DeleteSignUps(ctx, u.Email); err != nil {
		return "", err
	}
	tx.ActAs(u.ID)
	_, err = app.AcceptInvitationsOf(ctx, tx, u.Email)
	return u.ID, err
}

// RequestResetInput identifies the account whose password to reset.
type RequestResetInput struct {
	Email string `json:"email" maxLength:"254" doc:"Email address of the account." example:"ada@example.com"`

	normal string
}

func (a *Accounts) beforeRequestReset(_ context.Context, db *store.DB, caller board.Caller, in *RequestResetInput) (err error) {
	if in.normal, err = board.NormalEmail(in.Email); err != nil {
		return err
	}
	return a.attempts.Spend(db, session.PerNetwork(emailsNetwork, caller)...)
}

// RequestPasswordReset queues an email. Whether there is an account is checked when
// the email is composed.
func (a *Accounts) RequestPasswordReset(ctx context.Context, tx *store.Tx, in RequestResetInput) (Sent, error) {
	return Sent{true}, tx.InsertEmail(ctx, board.EmailReset, in.normal, 0)
}

// ResetPasswordInput is a new password and the secret that authorizes it.
type ResetPasswordInput struct {
	SecretInput
	Password string `json:"password" maxLength:"1000" doc:"New password of at least 10 characters and at most 1,000 bytes." example:"correct horse battery"`

	hash string
}

func errReset() error {
	return board.Invalid("secret: the link was already used or is older than an hour. Request a new one.").
		In("secret", board.RuleValue)
}

// beforeResetPassword hashes the new password, and resets the limits on guesses from the
// caller's network and browser.
func (a *Accounts) beforeResetPassword(ctx context.Context, db *store.DB, caller board.Caller, in *ResetPasswordInput) error {
	var p board.Profile
	err := db.Read(ctx, board.System(), func(v *store.View) error {
		userID, err := v.UserOfReset(ctx, in.Secret)
		if err == nil && userID == "" {
			err = errReset()
		}
		if err == nil {
			p, err = v.ProfileOf(ctx, userID)
		}
		return err
	})
	if err == nil {
		in.hash, err = a.passwords.hash(ctx, in.Password, p.Email, p.Name)
	}
	if err == nil {
		for _, known := range []bool{false, true} {
			a.attempts.Refund(db, guesser{caller: caller, knownDevice: known}.subjects(p.Email)[0])
		}
	}
	return err
}

// ResetPassword sets the new password of an account, ends all sessions of the account
// and signs the person in.
func (a *Accounts) ResetPassword(ctx context.Context, tx *store.Tx, in ResetPasswordInput) (SignedIn, error) {
	userID, err := tx.UserOfReset(ctx, in.Secret)
	if err == nil && userID == "" {
		err = errReset()
	}
	if err != nil {
		return SignedIn{}, err
	}
	taken, err := tx.DeleteResetSecrets(ctx, userID)
	if err == nil && !taken {
		err = errReset()
	}
	if err != nil {
		return SignedIn{}, err
	}
	if err := tx.SetPassword(ctx, userID, in.hash); err != nil {
		return SignedIn{}, err
	}
	if err := tx.InsertEmail(ctx, board.EmailPasswordChanged, userID, 0); err != nil {
		return SignedIn{}, err
	}
	tx.ActAs(userID)
	if err := tx.EndOtherSessions(ctx); err != nil { // the caller has no session, so this ends all
		return SignedIn{}, err
	}
	if err := tx.ReannounceDevices(ctx); err != nil {
		return SignedIn{}, err
	}
	return begin(ctx, tx, userID, proven)
}
