package app_test

import (
	"context"
	"fmt"

	"cardwall/internal/account"
	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/store"
)

// password is the password of every account in the world.
const password = "correct horse battery"

// as returns the person who calls an operation with its sample: the owner, or a new person if
// the operation would lock the owner out.
func (w *world) as(o *op.Operation) *apptest.Person {
	if o.Name == "delete_account" {
		return w.Person(w.stranger())
	}
	return w.owner
}

// stranger returns an unused name.
func (w *world) stranger() string {
	w.strangers++
	return fmt.Sprint("stranger-", w.strangers)
}

// member adds another person to the workspace and returns the user ID.
func (w *world) member() string {
	return w.Person(w.stranger()).Joins(w.workspace, board.WorkspaceMember).ID
}

// withPassword sets the owner's password and returns the owner's address.
func (w *world) withPassword() string {
	w.T.Helper()
	hash, err := account.HashPassword(password)
	if err != nil {
		w.T.Fatalf("hash: %v", err)
	}
	w.Write(board.System(), func(ctx context.Context, tx *store.Tx) error { return tx.SetPassword(ctx, w.owner.ID, hash) })
	return w.owner.Email
}

// emailedSecret returns the secret of the due email to an address.
func (w *world) emailedSecret(email string) string {
	w.T.Helper()
	for _, l := range emails(w.Service) {
		if l.To == email && l.Notice == nil {
			return secret(l)
		}
	}
	w.T.Fatalf("there is no email to %s", email)
	return ""
}

// invitationTo creates an invitation to a workspace and returns its secret.
func (w *world) invitationTo(p *apptest.Person, workspace string) string {
	email := w.stranger() + "@example.com"
	p.Must("create_invitation", fields{"workspaceId": workspace, "email": email, "role": "member"})
	return w.emailedSecret(email)
}

func (w *world) newToken() string {
	return w.make("create_token", fields{"name": "Deploy script", "scopes": []string{"read"}})
}

// newPasskey returns a new authenticator and its response for the owner.
func (w *world) newPasskey() (fields, *apptest.Authenticator) {
	a := &apptest.Authenticator{}
	begun := w.owner.Must("begin_passkey", nil)
	return fields{"challengeId": begun.Text("challengeId"), "credential": a.Create(begun.Get("options")),
		"name": "Laptop"}, a
}

func (w *world) twoPasskeys() fields {
	for len(w.owner.Must("list_passkeys", nil).Each("id")) < 2 {
		in, _ := w.newPasskey()
		w.make("finish_passkey", in)
	}
	return nil
}

// passkeySignIn returns the response of one of the owner's passkeys.
func (w *world) passkeySignIn() fields {
	in, a := w.newPasskey()
	w.make("finish_passkey", in)
	begun := w.owner.Must("begin_passkey_sign_in", nil)
	return fields{"challengeId": begun.Text("challengeId"), "credential": a.Get(begun.Get("options"))}
}
