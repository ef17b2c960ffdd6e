package account

import (
	"context"

	"cardwall/internal/app"
	"cardwall/internal/board"
	"cardwall/internal/session"
	"cardwall/internal/store"
)

// signUpsPerHour is how many letters a new address gets.
const signUpsPerHour = 5

// Sent is the answer where a letter may follow: always the same.
type Sent struct {
	Sent bool `json:"sent" doc:"Always true: whether there is an account is said in the email alone." example:"true"`
}

// SignUpInput is what an account is asked for with.
type SignUpInput struct {
	Email    string `json:"email" maxLength:"254" doc:"The address to sign in with; an email goes there." example:"ada@example.com"`
	Name     string `json:"name" maxLength:"512" doc:"How the person is shown to others." example:"Ada Lovelace"`
	Password string `json:"password" maxLength:"1000" doc:"At least 10 characters, and at most 1,000 bytes." example:"correct horse battery"`
	TimeZone string `json:"timeZone,omitempty" maxLength:"64" doc:"The IANA time zone that decides what today is; UTC when absent." example:"Europe/London"`

	made board.SignUp
}

// beforeSignUp checks what was given and hashes the password, of whomever.
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
	if err := a.attempts.Take(db, session.PerNetwork(lettersNetwork, caller)...); err != nil {
		return err
	}
	hash, err := a.passwords.hash(ctx, in.Password)
	in.made = board.SignUp{Email: email, Name: name, PasswordHash: hash, TimeZone: in.TimeZone}
	return err
}

// SignUp notes that somebody wants an account, and has an email sent. The answer
// is the same whether there is an account or not, and whether the policy admits
// the address or not: nobody learns who was invited.
func (a *Accounts) SignUp(ctx context.Context, tx *store.Tx, in SignUpInput) (Sent, error) {
	admitted, err := a.opts.SignUp.admits(ctx, tx.View, in.made.Email)
	if err != nil {
		return Sent{}, err
	}
	if !admitted {
		// An address that has an account gets the email that says so.
		if existing, _, err := tx.PasswordOf(ctx, in.made.Email); err != nil || existing == "" {
			return Sent{true}, err
		}
	}
	n, err := tx.CountSignUps(ctx, in.made.Email, tx.AnHourAgo())
	if err != nil || n >= signUpsPerHour {
		return Sent{true}, err
	}
	s := in.made
	s.ID = tx.NewID("sup_")
	if err := tx.InsertSignUp(ctx, s); err != nil {
		return Sent{}, err
	}
	return Sent{true}, tx.InsertLetter(ctx, board.LetterVerify, s.ID, 0)
}

// SecretInput holds the secret of a letter's link.
type SecretInput struct {
	Secret string `json:"secret" minLength:"1" maxLength:"64" doc:"What stands behind the # of the email's link." example:"K7Q2M4XW3ZB5N6VD8RJHF9TCGP"`
}

// VerifyEmail makes an account of the sign-up that a secret was sent for, makes
// it a member wherever its address is invited, and signs in.
func (a *Accounts) VerifyEmail(ctx context.Context, tx *store.Tx, in SecretInput) (SignedIn, error) {
	s, err := tx.SignUpOf(ctx, in.Secret)
	if board.IsCode(err, board.CodeNotFound) {
		return SignedIn{}, board.Invalid("secret: the link does not work any more; it was used, or is older than 24 hours. Sign in, or sign up again.")
	}
	if err != nil {
		return SignedIn{}, err
	}
	userID, _, err := tx.PasswordOf(ctx, s.Email)
	if err != nil {
		return SignedIn{}, err
	}
	if userID != "" {
		return SignedIn{}, board.Invalid("secret: there is an account with this address by now; sign in with it.")
	}
	admitted, err := a.opts.SignUp.admits(ctx, tx.View, s.Email)
	if err == nil && !admitted {
		err = a.opts.SignUp.errClosed() // the policy changed, or the invitation was withdrawn
	}
	if err != nil {
		return SignedIn{}, err
	}
	if userID, err = addVerified(ctx, tx, app.NewUser{Email: s.Email, Name: s.Name, PasswordHash: s.PasswordHash, TimeZone: s.TimeZone}); err != nil {
		return SignedIn{}, err
	}
	return begin(ctx, tx, userID, proven)
}

// addVerified makes an account whose address is known to be the person's.
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

// RequestResetInput says who asks for another password.
type RequestResetInput struct {
	Email string `json:"email" maxLength:"254" doc:"The address of the account." example:"ada@example.com"`

	normal string
}

func (a *Accounts) beforeRequestReset(_ context.Context, db *store.DB, caller board.Caller, in *RequestResetInput) (err error) {
	if in.normal, err = board.NormalEmail(in.Email); err != nil {
		return err
	}
	return a.attempts.Take(db, session.PerNetwork(lettersNetwork, caller)...)
}

// RequestPasswordReset has a letter written, if there is an account: which is
// found out when it is.
func (a *Accounts) RequestPasswordReset(ctx context.Context, tx *store.Tx, in RequestResetInput) (Sent, error) {
	return Sent{true}, tx.InsertLetter(ctx, board.LetterReset, in.normal, 0)
}

// ResetPasswordInput is another password, and the right to choose it.
type ResetPasswordInput struct {
	SecretInput
	Password string `json:"password" maxLength:"1000" doc:"At least 10 characters, and at most 1,000 bytes." example:"correct horse battery"`

	hash string
}

func errReset() error {
	return board.Invalid("secret: the link does not work any more; it was used, or is older than an hour. Ask for another one.")
}

// beforeResetPassword hashes the password of who may choose it, and who therefore
// did not guess before.
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
		a.attempts.Forgive(db, guesser{caller: caller}.subjects(p.Email)...)
	}
	return err
}

// ResetPassword gives an account the password that the owner of its address
// chose, ends all its sessions and begins another.
func (a *Accounts) ResetPassword(ctx context.Context, tx *store.Tx, in ResetPasswordInput) (SignedIn, error) {
	userID, err := tx.UserOfReset(ctx, in.Secret)
	if err == nil && userID == "" {
		err = errReset()
	}
	if err != nil {
		return SignedIn{}, err
	}
	taken, err := tx.TakeResets(ctx, userID)
	if err == nil && !taken {
		err = errReset()
	}
	if err != nil {
		return SignedIn{}, err
	}
	if err := tx.SetPassword(ctx, userID, in.hash); err != nil {
		return SignedIn{}, err
	}
	if err := tx.InsertLetter(ctx, board.LetterPasswordChanged, userID, 0); err != nil {
		return SignedIn{}, err
	}
	tx.ActAs(userID)
	if err := tx.EndOtherSessions(ctx); err != nil { // of nobody's own: all
		return SignedIn{}, err
	}
	if err := tx.DoubtDevices(ctx); err != nil {
		return SignedIn{}, err
	}
	return begin(ctx, tx, userID, proven)
}
