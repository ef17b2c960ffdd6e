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

// password is everybody's in the world.
const password = "correct horse battery"

// as is who calls an operation with its sample: the owner, unless the owner
// could not call anything afterwards.
func (w *world) as(o *op.Operation) *apptest.Person {
	if o.Name == "delete_account" {
		return w.Person(w.stranger())
	}
	return w.owner
}

// stranger is a name that nobody has yet.
func (w *world) stranger() string {
	w.strangers++
	return fmt.Sprint("stranger-", w.strangers)
}

// member is somebody else in the workspace.
func (w *world) member() string {
	return w.Person(w.stranger()).Joins(w.workspace, board.WorkspaceMember).ID
}

// withPassword gives the owner the password, and is the owner's address.
func (w *world) withPassword() string {
	w.T.Helper()
	hash, err := account.HashPassword(password)
	if err != nil {
		w.T.Fatalf("hash: %v", err)
	}
	w.Write(board.System(), func(ctx context.Context, tx *store.Tx) error { return tx.SetPassword(ctx, w.owner.ID, hash) })
	return w.owner.Email
}

// emailedSecret is the secret of the email to an address that is due.
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

// invitationTo is the secret of an invitation that a person has sent.
func (w *world) invitationTo(p *apptest.Person, workspace string) string {
	email := w.stranger() + "@example.com"
	p.Must("create_invitation", fields{"workspaceId": workspace, "email": email, "role": "member"})
	return w.emailedSecret(email)
}

func (w *world) newToken() string {
	return w.make("create_token", fields{"name": "Deploy script", "scopes": []string{"read"}})
}

// newPasskey is what a new device answers for the owner.
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

// passkeySignIn is what a passkey of the owner's answers.
func (w *world) passkeySignIn() fields {
	in, a := w.newPasskey()
	w.make("finish_passkey", in)
	begun := w.owner.Must("begin_passkey_sign_in", nil)
	return fields{"challengeId": begun.Text("challengeId"), "credential": a.Get(begun.Get("options"))}
}
