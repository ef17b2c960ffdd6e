package app_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cardwall/internal/app"
	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

// emails returns all emails that are due now and removes them from the queue.
func emails(s *apptest.Service) (out []board.Email) {
	s.T.Helper()
	s.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
		out = nil
		for {
			e, err := app.NextEmail(ctx, tx, time.Minute)
			if err != nil || e == nil {
				return err
			}
			out = append(out, *e)
			if err := tx.DeleteEmail(ctx, e.ID); err != nil {
				return err
			}
		}
	})
	return out
}

// secret returns the secret in an email's link, which is the part after the #.
func secret(e board.Email) string {
	_, s, _ := strings.Cut(e.Link, "#")
	return s
}

// accept accepts an invitation as a person who is signed in.
func accept(p *apptest.Person, token string) (w board.Workspace, err error) {
	err = p.DB.Write(context.Background(), board.Person(p.ID), func(tx *store.Tx) (err error) {
		w, err = app.AcceptInvitation(context.Background(), tx, token)
		return err
	})
	return w, err
}

// refused checks that an error has the code and contains the text.
func refused(t *testing.T, err error, code board.Code, text string) {
	t.Helper()
	if !board.IsCode(err, code) || !strings.Contains(err.Error(), text) {
		t.Errorf("got error %v, want code %s and a message with %q", err, code, text)
	}
}

func TestInvitation(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada, grace, eve := s.Person("Ada"), s.Person("Grace"), s.Person("Eve")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		in := fields{"workspaceId": workspace, "email": " Grace@Example.com ", "role": "member"}
		made := ada.Must("create_invitation", in)
		if made.Text("email") != "grace@example.com" || made.Text("status") != "pending" ||
			made.Text("invitedBy.name") != "Ada" || !strings.HasPrefix(made.ID(), "inv_") {
			t.Errorf("got invitation %s, want a pending one from Ada to grace@example.com", made.Raw)
		}
		created, _ := time.Parse(time.RFC3339, made.Text("createdAt"))
		expires, _ := time.Parse(time.RFC3339, made.Text("expiresAt"))
		if expires.Sub(created) != 14*24*time.Hour {
			t.Errorf("the invitation is valid for %v, want %v", expires.Sub(created), 14*24*time.Hour)
		}
		sent := emails(s)
		if len(sent) != 1 || sent[0].To != "grace@example.com" || sent[0].Invitation.Workspace != "Engines" ||
			sent[0].Invitation.InvitedBy != "Ada" ||
			!strings.HasPrefix(sent[0].Link, apptest.BaseURL+"/invitation#") || len(secret(sent[0])) < 26 {
			t.Fatalf("got emails %+v, want one invitation to grace@example.com", sent)
		}
		if more := emails(s); len(more) != 0 {
			t.Errorf("got more emails %+v, want none", more)
		}

		w, err := accept(grace, secret(sent[0]))
		if err != nil || w.ID != workspace || w.Role != board.WorkspaceMember {
			t.Fatalf("accept: got workspace %+v, error %v; want %s with the role member", w, err, workspace)
		}
		if again, err := accept(grace, secret(sent[0])); err != nil || again.ID != workspace {
			t.Errorf("second accept: got workspace %+v, error %v; want %s", again, err, workspace)
		}
		_, err = accept(eve, secret(sent[0]))
		refused(t, err, board.CodeInvalidRequest, "already accepted")
		_, err = accept(eve, "nonsense")
		refused(t, err, board.CodeNotFound, "")
		if open := ada.All("list_invitations", "id", fields{"workspaceId": workspace}); len(open) != 0 {
			t.Errorf("got open invitations %v, want none", open)
		}
		if a := ada.Refused(board.CodeInvalidRequest, "create_invitation", in); !strings.Contains(a.Message,
			"grace@example.com") {
			t.Errorf("inviting a member: got %s, want a message with the address", a.Raw)
		}
		in["email"] = "not an address"
		if a := ada.Refused(board.CodeInvalidRequest, "create_invitation", in); !strings.Contains(a.Message, "email") {
			t.Errorf("inviting an invalid address: got %s, want a message about the email", a.Raw)
		}
	})
}

// Anyone who has an invitation link can use it, whatever the email address of their account. If a
// member of the workspace uses it by mistake, the invitation remains valid.
func TestInvitationLinkWorksForAnyAccount(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada, eve := s.Person("Ada"), s.Person("Eve")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		ada.Must("create_invitation", fields{"workspaceId": workspace, "email": "other@example.com", "role": "guest"})
		token := secret(emails(s)[0])
		_, err := accept(ada, token)
		refused(t, err, board.CodeInvalidRequest, "already in this workspace")
		if w, err := accept(eve, token); err != nil || w.Role != board.WorkspaceGuest {
			t.Errorf("accept with another address: got workspace %+v, error %v; want the role guest", w, err)
		}
		ada.Must("get_workspace", fields{"workspaceId": workspace})
	})
}

func TestInvitationLifecycle(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada, grace := s.Person("Ada"), s.Person("Grace")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		in := fields{"workspaceId": workspace, "email": "grace@example.com", "role": "member"}
		first := ada.Must("create_invitation", in)
		token := secret(emails(s)[0])
		ada.Must("withdraw_invitation", fields{"workspaceId": workspace, "invitationId": first.ID()})
		ada.Refused(board.CodeNotFound, "withdraw_invitation", fields{"workspaceId": workspace, "invitationId": first.ID()})
		_, err := accept(grace, token)
		refused(t, err, board.CodeInvalidRequest, "withdrawn")

		// An address receives at most one email every five minutes, so the second email is delayed.
		second := ada.Must("create_invitation", in)
		if second.ID() == first.ID() || len(emails(s)) != 0 {
			t.Error("a withdrawn invitation was restored, or a second email was sent immediately")
		}
		s.Clock.Advance(6 * time.Minute)
		sent := emails(s)
		if len(sent) != 1 {
			t.Fatalf("got %d emails after six minutes, want 1", len(sent))
		}
		s.Clock.Advance(14 * 24 * time.Hour)
		_, err = accept(grace, secret(sent[0]))
		refused(t, err, board.CodeInvalidRequest, "expired on")
		if a := ada.Must("list_invitations", fields{"workspaceId": workspace}); len(a.Each("id")) != 1 ||
			a.Text("0.status") != "expired" {
			t.Errorf("got invitations %s, want one that has expired", a.Raw)
		}

		// Renewing keeps the invitation's ID, and the old link works again.
		renewed := ada.Must("create_invitation", with(in, "role", "guest"))
		if renewed.ID() != second.ID() || renewed.Text("status") != "pending" || renewed.Text("role") != "guest" {
			t.Errorf("got renewed invitation %s, want %s as a pending guest invitation", renewed.Raw, second.ID())
		}
		if n := len(emails(s)); n != 1 {
			t.Errorf("got %d emails after the renewal, want 1", n)
		}
		if w, err := accept(grace, secret(sent[0])); err != nil || w.Role != board.WorkspaceGuest {
			t.Errorf("accept after the renewal: got workspace %+v, error %v; want the role guest", w, err)
		}

		// If an invitation is withdrawn before its email is sent, the email is never sent.
		gone := ada.Must("create_invitation", with(in, "email", "gone@example.com"))
		ada.Must("withdraw_invitation", fields{"workspaceId": workspace, "invitationId": gone.ID()})
		if sent := emails(s); len(sent) != 0 {
			t.Errorf("got emails %+v for a withdrawn invitation, want none", sent)
		}
		s.Clock.Advance(store.InvitationKept + 24*time.Hour)
		s.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
			n, err := tx.PurgeInvitations(ctx, 100)
			if n != 3 {
				t.Errorf("got %d invitations purged, want 3", n)
			}
			return err
		})
	})
}

func TestInvitationPermissions(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada, bob, tom := s.Person("Ada"), s.Person("Bob"), s.Person("Tom")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		bob.Joins(workspace, board.WorkspaceAdmin)
		tom.Joins(workspace, board.WorkspaceMember)
		in := func(email, role string) fields {
			return fields{"workspaceId": workspace, "email": email, "role": role}
		}
		owner := ada.Must("create_invitation", in("o@example.com", "owner")).ID()
		admin := bob.Must("create_invitation", in("a@example.com", "admin")).ID()
		bob.Refused(board.CodeForbidden, "create_invitation", in("x@example.com", "owner"))
		// This call would overwrite the owner's invitation.
		bob.Refused(board.CodeForbidden, "create_invitation", in("o@example.com", "member"))
		bob.Refused(board.CodeForbidden, "withdraw_invitation", fields{"workspaceId": workspace, "invitationId": owner})
		tom.Refused(board.CodeForbidden, "create_invitation", in("x@example.com", "guest"))
		another := ada.Workspace("Another", board.PlanTeam)
		ada.Refused(board.CodeNotFound, "withdraw_invitation", fields{"workspaceId": another, "invitationId": admin})
		if ids := ada.All("list_invitations", "id", fields{"workspaceId": workspace, "limit": 1}); !slices.Equal(ids,
			[]string{owner, admin}) {
			t.Errorf("got invitations %v, want %v", ids, []string{owner, admin})
		}
		// An invitation is withdrawn when its sender loses the right to invite.
		s.Write(board.Person(ada.ID, board.ScopeAdmin), func(ctx context.Context, tx *store.Tx) error {
			_, err := app.ChangeMember(ctx, tx, app.ChangeMemberInput{WorkspaceInput: app.WorkspaceInput{WorkspaceID: workspace},
				UserID: bob.ID, Role: board.WorkspaceMember})
			return err
		})
		if ids := ada.All("list_invitations", "id", fields{"workspaceId": workspace}); !slices.Equal(ids, []string{owner}) {
			t.Errorf("after the admin became a member: got invitations %v, want %v", ids, []string{owner})
		}
	})
}

func TestOpenInvitationsAreLimited(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		in := func(i int) fields {
			return fields{"workspaceId": workspace, "email": fmt.Sprintf("p%d@example.com", i), "role": "guest"}
		}
		for i := range board.MaxInvitations {
			ada.Must("create_invitation", in(i))
		}
		if a := ada.Refused(board.CodeLimitReached, "create_invitation",
			in(board.MaxInvitations)); !strings.Contains(a.Message, "200") {
			t.Errorf("got error %s, want a message with the limit of 200", a.Raw)
		}
		ada.Must("create_invitation", in(7)) // renews an invitation instead of adding one
		s.Clock.Advance(board.InvitationLifetime + time.Hour)
		ada.Must("create_invitation", in(board.MaxInvitations)) // expired invitations do not count
	})
}

func TestInvitationsAreAcceptedAtSignUp(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		var workspaces []string
		for _, name := range []string{"One", "Two", "Withdrawn", "Read-only"} {
			id := ada.Workspace(name, board.PlanTeam)
			workspaces = append(workspaces, id)
			s.Clock.Advance(24 * time.Hour) // an address receives at most three invitations a day
			invitation := ada.Must("create_invitation",
				fields{"workspaceId": id, "email": "grace@example.com", "role": "member"}).ID()
			if name == "Withdrawn" {
				ada.Must("withdraw_invitation", fields{"workspaceId": id, "invitationId": invitation})
			}
		}
		readOnly(s, ada, workspaces[3], true)
		grace := s.Person("Grace")
		join := func(email string) (joined []string) {
			s.Write(board.Person(grace.ID), func(ctx context.Context, tx *store.Tx) (err error) {
				joined, err = app.AcceptInvitationsOf(ctx, tx, email)
				return err
			})
			return joined
		}
		if got := join("eve@example.com"); len(got) != 0 {
			t.Errorf("account with another address: joined %v, want none", got)
		}
		if got := join("Grace@example.com"); !slices.Equal(got, workspaces[:2]) {
			t.Errorf("got joined workspaces %v, want %v", got, workspaces[:2])
		}
		if got := grace.All("list_workspaces", "id", nil); !slices.Equal(got, workspaces[:2]) {
			t.Errorf("list_workspaces: got %v, want %v", got, workspaces[:2])
		}
		readOnly(s, ada, workspaces[3], false)
		if got := join("grace@example.com"); !slices.Equal(got, workspaces[3:]) {
			t.Errorf("after read-only mode: joined %v, want %v", got, workspaces[3:])
		}
	})
}

// readOnly sets whether the organization of a workspace is read-only.
func readOnly(s *apptest.Service, p *apptest.Person, workspace string, only bool) {
	s.T.Helper()
	organization := p.Must("get_workspace", fields{"workspaceId": workspace}).Text("organizationId")
	s.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
		return tx.UpdateOrganization(ctx, organization, nil, &only)
	})
}

// The secret of an invitation link is sent by email. It is neither in the response nor in the
// database.
func TestSecretIsOnlyInTheEmail(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "cardwall.db")
	s := apptest.New(t, file, apptest.Options{})
	ada, grace := s.Person("Ada"), s.Person("Grace")
	workspace := ada.Workspace("Engines", board.PlanTeam)
	response := ada.Keyed("k", "create_invitation",
		fields{"workspaceId": workspace, "email": "grace@example.com", "role": "member"})
	token := secret(emails(s)[0])
	if _, err := accept(grace, token); err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(response.Raw, []byte(token)) {
		t.Error("the secret is in the response")
	}
	for _, name := range []string{file, file + "-wal"} {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(data, []byte("grace@example.com")) && name == file+"-wal" {
			t.Error("the write-ahead log does not contain the invitation, so this test proves nothing")
		}
		if bytes.Contains(data, []byte(token)) {
			t.Errorf("the secret is in %s", filepath.Base(name))
		}
	}
}
