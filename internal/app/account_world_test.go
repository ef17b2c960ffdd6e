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

// password is the password of every account that has one.
const password = "correct horse battery"

// as returns the person who calls an operation with its sample: the owner, or a new person if
// the operation would lock the owner out.
func (w *world) as(o *op.Operation) *apptest.Person {
	if o.Name == "delete_account" {
		return w.Person(w.unusedName())
	}
	return w.owner
}

// unusedName returns a name that no person in the world has.
func (w *world) unusedName() string {
	w.strangers++
	return fmt.Sprint("stranger-", w.strangers)
}

// member adds another person to the workspace and returns the user ID.
func (w *world) member() string {
	return w.Person(w.unusedName()).Joins(w.workspace, board.WorkspaceMember).ID
}

// withPassword sets the owner's password and returns the owner's email address.
func (w *world) withPassword() string {
	w.T.Helper()
	hash, err := account.HashPassword(password)
	if err != nil {
		w.T.Fatalf("hash: %v", err)
	}
	w.Write(board.System(), func(ctx context.Context, tx *store.Tx) error { return tx.SetPassword(ctx, w.owner.ID, hash) })
	return w.owner.Email
}

// emailedSecret returns the secret in the email that is due to an address. It removes all due emails
// from the queue.
func (w *world) emailedSecret(email string) string {
	w.T.Helper()
	for _, l := range emails(w.Service) {
		if l.To == email && l.Notice == nil {
			return secret(l)
		}
	}
	w.T.Fatalf("there is no email with a secret to %s", email)
	return ""
}

// invitationTo invites a new email address to a workspace, as the given person, and returns the
// invitation's secret.
func (w *world) invitationTo(p *apptest.Person, workspace string) string {
	email := w.unusedName() + "@example.com"
	p.Must("create_invitation", fields{"workspaceId": workspace, "email": email, "role": "member"})
	return w.emailedSecret(email)
}

func (w *world) newToken() string {
	return w.make("create_token", fields{"name": "Deploy script", "scopes": []string{"read"}})
}

// newPasskey returns an input with which finish_passkey registers a new authenticator for the owner.
// It also returns the authenticator.
func (w *world) newPasskey() (fields, *apptest.Authenticator) {
	a := &apptest.Authenticator{}
	begun := w.owner.Must("begin_passkey", nil)
	return fields{"challengeId": begun.Text("challengeId"), "credential": a.Create(begun.Get("options")),
		"name": "Laptop"}, a
}

// twoPasskeys registers passkeys until the owner has two. It returns the input of list_passkeys.
func (w *world) twoPasskeys() fields {
	for len(w.owner.Must("list_passkeys", nil).Each("id")) < 2 {
		in, _ := w.newPasskey()
		w.make("finish_passkey", in)
	}
	return nil
}

// passkeySignIn registers a passkey for the owner and returns an input for a sign-in with it.
func (w *world) passkeySignIn() fields {
	in, a := w.newPasskey()
	w.make("finish_passkey", in)
	begun := w.owner.Must("begin_passkey_sign_in", nil)
	return fields{"challengeId": begun.Text("challengeId"), "credential": a.Get(begun.Get("options"))}
}
