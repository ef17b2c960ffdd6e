package account

import (
	"context"

	"cardwall/internal/app"
	"cardwall/internal/board"
	"cardwall/internal/session"
	"cardwall/internal/store"
)

// CreateAccountInput is what a person chooses for an account, and the secret of
// the link that gives the right to it.
type CreateAccountInput struct {
	Secret   string `json:"secret" minLength:"1" maxLength:"64" doc:"The part after the # of an invitation's link, or of the link that a server without accounts printed." example:"K7Q2M4XW3ZB5N6VD8RJHF9TCGP"`
	Email    string `json:"email,omitempty" maxLength:"254" doc:"The address to sign in with; only for the first account of a server. An invitation gives the address that it went to." example:"ada@example.com"`
	Name     string `json:"name" minLength:"1" maxLength:"512" doc:"How the person is shown to others." example:"Ada Lovelace"`
	Password string `json:"password" minLength:"1" maxLength:"1000" doc:"At least 10 characters, and at most 1,000 bytes." example:"correct horse battery"`
	TimeZone string `json:"timeZone,omitempty" maxLength:"64" doc:"The IANA time zone that decides what today is; UTC when absent." example:"Europe/London"`

	first bool // the link is that of a server without accounts
	hash  string
}

func (a *Accounts) beforeCreateAccount(ctx context.Context, db *store.DB, caller board.Caller, in *CreateAccountInput) error {
	if err := a.attempts.Take(db, session.Subject{Limit: lettersNetwork, Of: session.Network(caller.Address)}); err != nil {
		return err
	}
	if in.TimeZone == "" {
		in.TimeZone = "UTC"
	}
	if _, err := board.LoadZone("timeZone", in.TimeZone); err != nil {
		return err
	}
	name, err := app.Title("name", in.Name)
	if err != nil {
		return err
	}
	in.Name = name
	if err := db.Read(ctx, board.System(), func(v *store.View) error { return a.addressOf(ctx, v, in) }); err != nil {
		return err
	}
	in.hash, err = a.passwords.hash(ctx, in.Password, in.Email, in.Name)
	return err
}

// addressOf sets the address of the account that a link gives the right to.
func (a *Accounts) addressOf(ctx context.Context, v *store.View, in *CreateAccountInput) (err error) {
	if in.first, err = v.FirstSecretWorks(ctx, in.Secret); err != nil {
		return err
	}
	if in.first {
		in.Email, err = board.NormalEmail(in.Email)
		return err
	}
	if a.opts.SignUp.Mode == SignUpClosed {
		return a.opts.SignUp.errClosed()
	}
	i, err := v.InvitationOf(ctx, in.Secret)
	if err != nil {
		return err
	}
	if in.Email != "" && in.Email != i.Email {
		return board.Invalid("email must be left out: the account gets the address that was invited.")
	}
	in.Email = i.Email
	return nil
}

// CreateAccount makes an account by a link and signs in. The link of an
// invitation proves the address, for it was sent there and nowhere else: the
// account gets that address, and accepts every invitation to it. The link that a
// server without accounts prints makes the first one, whose owner becomes an
// operator; whoever reads the server's output has the right to that.
func (a *Accounts) CreateAccount(ctx context.Context, tx *store.Tx, in CreateAccountInput) (SignedIn, error) {
	right := invited
	if in.first {
		right = first
	}
	if err := right(ctx, tx, in); err != nil {
		return SignedIn{}, err
	}
	userID, err := addVerified(ctx, tx, app.NewUser{Email: in.Email, Name: in.Name, PasswordHash: in.hash, TimeZone: in.TimeZone})
	if err == nil && in.first {
		err = tx.MakeOperator(ctx, userID)
	}
	if err != nil {
		return SignedIn{}, err
	}
	return begin(ctx, tx, userID, proven)
}

// first uses up the right to make the first account.
func first(ctx context.Context, tx *store.Tx, in CreateAccountInput) error {
	taken, err := tx.TakeFirstSecret(ctx, in.Secret)
	if err == nil && !taken {
		err = board.Invalid("secret: the server has an account by now. Sign in with it, or ask its owner for an invitation.")
	}
	return err
}

// invited refuses an invitation that is over, and an address that has an account.
func invited(ctx context.Context, tx *store.Tx, in CreateAccountInput) error {
	i, err := tx.InvitationOf(ctx, in.Secret)
	if err != nil {
		return err
	}
	if i.Status != board.InvitationPending {
		return board.Invalid("secret: the invitation is %s. Ask the people of the workspace for a new one.", i.Status)
	}
	existing, _, err := tx.PasswordOf(ctx, in.Email)
	if err == nil && existing != "" {
		err = board.Invalid("secret: the invited address has an account already. Sign in with it, then accept the invitation.")
	}
	return err
}
