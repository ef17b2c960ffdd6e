package account

import (
	"context"

	"cardwall/internal/app"
	"cardwall/internal/board"
	"cardwall/internal/session"
	"cardwall/internal/store"
)

// CreateAccountInput is a new account and the secret of the link that authorizes it.
type CreateAccountInput struct {
	Secret   string `json:"secret" minLength:"1" maxLength:"64" doc:"The secret from an invitation link, or from the link that a server without accounts prints: the part after the #." example:"K7Q2M4XW3ZB5N6VD8RJHF9TCGP"`
	Email    string `json:"email,omitempty" maxLength:"254" doc:"Email address to sign in with. Required for the first account of a server. With an invitation, omit it or give the invited address." example:"ada@example.com"`
	Name     string `json:"name" minLength:"1" maxLength:"512" doc:"Display name." example:"Ada Lovelace"`
	Password string `json:"password" minLength:"1" maxLength:"1000" doc:"Password of at least 10 characters and at most 1,000 bytes." example:"correct horse battery"`
	TimeZone string `json:"timeZone,omitempty" maxLength:"64" doc:"IANA time zone that determines the current day. Defaults to UTC." example:"Europe/London"`

	first bool // the link is for the first account of the server
	hash  string
}

func (a *Accounts) beforeCreateAccount(ctx context.Context, db *store.DB, caller board.Caller, in *CreateAccountInput) error {
	if err := a.attempts.Spend(db, session.PerNetwork(emailsNetwork, caller)...); err != nil {
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

// addressOf sets the email address of the account that a link authorizes, and whether it is
// the first account. It returns an error if the link is not valid, if the given address is
// not the invited one, or if sign-up is closed and this is not the first account.
func (a *Accounts) addressOf(ctx context.Context, v *store.View, in *CreateAccountInput) (err error) {
	if in.first, err = v.IsFirstSecret(ctx, in.Secret); err != nil {
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
		return board.Invalid("email must be omitted or be the invited address.").
			In("email", board.RuleValue)
	}
	in.Email = i.Email
	return nil
}

// CreateAccount creates the account that a link authorizes and signs the person in. An
// invitation link proves the email address, because it was sent only there: the account
// gets that address and accepts all invitations to it. A server without accounts prints
// a link for creating the first account. The person who uses that link becomes an
// operator, because only an operator can read the server's output.
func (a *Accounts) CreateAccount(ctx context.Context, tx *store.Tx, in CreateAccountInput) (SignedIn, error) {
	authorize := checkInvitation
	if in.first {
		authorize = useFirstSecret
	}
	if err := authorize(ctx, tx, in); err != nil {
		return SignedIn{}, err
	}
	userID, err := addVerified(ctx, tx, app.NewUser{
		Email: in.Email, Name: in.Name, PasswordHash: in.hash, TimeZone: in.TimeZone,
	})
	if err == nil && in.first {
		err = tx.MakeOperator(ctx, userID)
	}
	if err != nil {
		return SignedIn{}, err
	}
	return begin(ctx, tx, userID, proven)
}

// useFirstSecret uses up the secret that authorizes the first account. It returns an
// error if the server already has an account.
func useFirstSecret(ctx context.Context, tx *store.Tx, in CreateAccountInput) error {
	taken, err := tx.UseFirstSecret(ctx, in.Secret)
	if err == nil && !taken {
		err = board.Invalid("secret: the server already has an account. Sign in, or ask the owner of a workspace for an invitation.").
			In("secret", board.RuleValue)
	}
	return err
}

// checkInvitation returns an error if the invitation is not pending, or if the
// address already has an account.
func checkInvitation(ctx context.Context, tx *store.Tx, in CreateAccountInput) error {
	i, err := tx.InvitationOf(ctx, in.Secret)
	if err != nil {
		return err
	}
	if i.Status != board.InvitationPending {
		return board.Invalid("secret: the invitation is %s. Ask a member of the workspace for a new one.", i.Status).
			In("secret", board.RuleValue)
	}
	existing, _, err := tx.PasswordOf(ctx, in.Email)
	if err == nil && existing != "" {
		err = board.Invalid("secret: the invited address already has an account. Sign in with it, then accept the invitation.").
			In("secret", board.RuleValue)
	}
	return err
}
