package account_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"cardwall/internal/account"
	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

func policy(t *testing.T, text string) account.SignUpPolicy {
	t.Helper()
	p, err := account.ParseSignUpPolicy(text, apptest.BaseURL)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestSignUpPolicies(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, baseURL, want string }{
		{"", "http://127.0.0.1:8080", "{open []}"}, {"", "http://localhost:8080", "{open []}"},
		{"", "http://[::1]:8080", "{open []}"},
		{"", "https://cards.example.com", "{invited []}"}, {"", "http://192.168.1.2", "{invited []}"},
		{"open", "https://cards.example.com", "{open []}"}, {"closed", "http://localhost", "{closed []}"},
		{" Invited ", "x", "{invited []}"},
		{"domains:Example.com, example.org", "x", "{domains [example.com example.org]}"},
	} {
		if p, err := account.ParseSignUpPolicy(c.text, c.baseURL); err != nil || fmt.Sprint(p) != c.want {
			t.Errorf("%q at %s: %v %v, want %s", c.text, c.baseURL, p, err, c.want)
		}
	}
	for _, bad := range []string{"everyone", "domains", "domains:", "domains:a@example.com", "domains:*.com", "open:x",
		"domains:example.com,,"} {
		if p, err := account.ParseSignUpPolicy(bad, "x"); err == nil {
			t.Errorf("%q was accepted as %v", bad, p)
		}
	}
}

// Sign-up can be closed or limited to invited people. The response never reveals who
// was invited.
func TestSignUpCanBeClosed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		policy                            string
		stranger, guest, colleague, shown bool
	}{
		{"open", true, true, true, true}, {"invited", false, true, false, true},
		{"domains:corp.example", false, true, true, true}, {"closed", false, false, false, false},
	} {
		t.Run(strings.ReplaceAll(c.policy, ":", " "), func(t *testing.T) {
			t.Parallel()
			apptest.BothWith(t, apptest.Options{SignUp: policy(t, c.policy)}, func(t *testing.T, s *apptest.Service) {
				ada := s.Person("Ada")
				ada.Must("create_invitation", fields{"workspaceId": ada.Workspace("Engines", board.PlanTeam),
					"email": "guest@example.com", "role": "member"})
				emails(s)
				b := s.Browser()
				if a := b.Must("get_sign_in_options", nil); a.Get("signUp") != c.shown ||
					!strings.HasPrefix(c.policy, a.Text("signUpFor")) {
					t.Errorf("the options are %s", a.Raw)
				}
				for email, admitted := range map[string]bool{"eve@example.com": c.stranger, "guest@example.com": c.guest,
					"bob@corp.example": c.colleague, "x@sub.corp.example": c.stranger} {
					a := b.Call("sign_up", fields{"email": email, "name": "X", "password": password})
					if c.policy == "closed" {
						if a.Code != board.CodeForbidden {
							t.Errorf("%s: got status %d, body %s", email, a.Status, a.Raw)
						}
					} else if a.Status != http.StatusOK || a.Get("sent") != true {
						t.Errorf("%s: got status %d, body %s; the answer must be the same for all", email, a.Status, a.Raw)
					}
					if sent := emails(s); (len(sent) == 1) != admitted {
						t.Errorf("%s: %d emails, admitted is %v", email, len(sent), admitted)
					}
				}
			})
		})
	}
}

// The policy is checked again when the account is created, not only at the request.
func TestSignUpRechecksTheInvitation(t *testing.T) {
	t.Parallel()
	apptest.BothWith(t, apptest.Options{SignUp: policy(t, "invited")}, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		invitation := ada.Must("create_invitation",
			fields{"workspaceId": workspace, "email": "grace@example.com", "role": "member"}).ID()
		emails(s)
		b := s.Browser()
		signUp(s, b, "grace@example.com")
		secret := emailedSecret(s, board.EmailVerify, "grace@example.com")
		ada.Must("withdraw_invitation", fields{"workspaceId": workspace, "invitationId": invitation})
		b.Refused(board.CodeForbidden, "verify_email", fields{"secret": secret})
	})
}

// A person who follows an invitation's link gets an account without verifying the
// address in a second email.
func TestInvitationProvesTheAddress(t *testing.T) {
	t.Parallel()
	apptest.BothWith(t, apptest.Options{SignUp: policy(t, "invited")}, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		one, two := ada.Workspace("Engines", board.PlanTeam), ada.Workspace("Compilers", board.PlanTeam)
		ada.Must("create_invitation", fields{"workspaceId": one, "email": "grace@example.com", "role": "admin"})
		link := emailedSecret(s, board.EmailInvitation, "grace@example.com")
		ada.Must("create_invitation", fields{"workspaceId": two, "email": "grace@example.com", "role": "member"})
		s.Clock.Advance(board.InvitationLifetime / 2)
		later := emailedSecret(s, board.EmailInvitation, "grace@example.com")

		b := s.Browser()
		chosen := fields{"secret": link, "name": "Grace Hopper", "password": password, "timeZone": "Europe/London"}
		b.Refused(board.CodeInvalidRequest, "create_account", with(chosen, "email", "eve@example.com"))
		b.Refused(board.CodeInvalidRequest, "create_account", with(chosen, "password", "grace@example.com"))
		b.Refused(board.CodeNotFound, "create_account", with(chosen, "secret", "K7Q2M4XW3ZB5N6VD8RJHF9TCGP"))
		a := b.Must("create_account", chosen)
		if a.Text("user.email") != "grace@example.com" || a.Text("user.name") != "Grace Hopper" ||
			a.Get("user.operator") != false || b.Secret() == "" {
			t.Errorf("the account is %s", a.Raw)
		}
		if n := len(emails(s)); n != 0 {
			t.Errorf("%d more emails were sent, want 0", n)
		}
		if got := b.Must("list_workspaces", nil).Each("name"); len(got) != 2 {
			t.Errorf("the person is in %v", got)
		}
		b.Must("get_session", nil)
		for _, again := range []string{link, later} {
			s.Browser().Refused(board.CodeInvalidRequest, "create_account", with(chosen, "secret", again))
		}
		signIn(&apptest.Person{Service: s, Email: "grace@example.com"}, password)
	})
}

// The link of a completed or revoked invitation creates no account, even if another
// invitation to the same address is pending.
func TestEndedInvitationCreatesNoAccount(t *testing.T) {
	t.Parallel()
	apptest.BothWith(t, apptest.Options{SignUp: policy(t, "invited")}, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		invite := func(name string) (workspace, id, link string) {
			workspace = ada.Workspace(name, board.PlanTeam)
			id = ada.Must("create_invitation",
				fields{"workspaceId": workspace, "email": "grace@example.com", "role": "member"}).ID()
			link = emailedSecret(s, board.EmailInvitation, "grace@example.com")
			s.Clock.Advance(time.Hour) // the next email to the address may be sent
			return workspace, id, link
		}
		_, _, expired := invite("Looms")
		s.Clock.Advance(board.InvitationLifetime)
		workspace, id, withdrawn := invite("Engines")
		ada.Must("withdraw_invitation", fields{"workspaceId": workspace, "invitationId": id})
		_, _, pending := invite("Compilers")
		for what, link := range map[string]string{"expired": expired, "withdrawn": withdrawn} {
			a := s.Browser().Refused(board.CodeInvalidRequest, "create_account",
				fields{"secret": link, "name": "Grace Hopper", "password": password})
			if !strings.Contains(a.Message, "the invitation is "+what) {
				t.Errorf("%s: the refusal is %s; want it to contain %q", what, a.Message, "the invitation is "+what)
			}
		}
		s.Browser().Must("create_account", fields{"secret": pending, "name": "Grace Hopper", "password": password})
	})
}

// An invitation to the address of an existing account does not take it over.
func TestInvitationDoesNotTakeOverAnAccount(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada, bob := s.Person("Ada"), s.Person("Bob")
		ada.Must("create_invitation",
			fields{"workspaceId": ada.Workspace("Engines", board.PlanTeam), "email": bob.Email, "role": "member"})
		link := emailedSecret(s, board.EmailInvitation, bob.Email)
		a := s.Browser().Refused(board.CodeInvalidRequest, "create_account",
			fields{"secret": link, "name": "Eve", "password": password})
		if !strings.Contains(a.Message, "Sign in") {
			t.Errorf("the refusal is %s; want it to contain %q", a.Message, "Sign in")
		}
	})
}

// A server without accounts admits its first person by a link that works once. That
// person becomes an operator.
func TestFirstPersonSignsUpByALink(t *testing.T) {
	t.Parallel()
	apptest.BothWith(t, apptest.Options{SignUp: policy(t, "closed"), Operators: []string{"nobody@example.com"}},
		func(t *testing.T, s *apptest.Service) {
			link := func() (link string) {
				s.Write(board.System(), func(ctx context.Context, tx *store.Tx) (err error) {
					link, err = account.FirstLink(ctx, tx)
					return err
				})
				return link
			}
			one, two := link(), link()
			if !strings.HasPrefix(one, apptest.BaseURL+"/first#") || one == two {
				t.Fatalf("the links are %q and %q", one, two)
			}
			in := func(link, email string) fields {
				return fields{"secret": link[strings.Index(link, "#")+1:], "email": email, "name": "Grace Hopper",
					"password": password}
			}
			s.Browser().Refused(board.CodeInvalidRequest, "create_account", in(one, ""))
			// Two requests at once, over two servers, with two links, create one account.
			var (
				wg      sync.WaitGroup
				answers [2]apptest.Response
			)
			for i, b := range []*apptest.Person{s.Browser(), s.Node().Browser()} {
				wg.Go(func() {
					answers[i] = b.Call("create_account", in([]string{one, two}[i], fmt.Sprintf("grace%d@example.com", i)))
				})
			}
			wg.Wait()
			if (answers[0].Status == http.StatusOK) == (answers[1].Status == http.StatusOK) {
				t.Fatalf("two people signed up as the first person:\n%s\n%s", answers[0].Raw, answers[1].Raw)
			}
			for _, a := range answers {
				if a.Status == http.StatusOK && a.Get("user.operator") != true {
					t.Errorf("the first person is %s", a.Raw)
				}
			}
			if got := link(); got != "" {
				t.Errorf("a server with an account prints %q, want none", got)
			}
			s.Browser().Refused(board.CodeForbidden, "create_account", in(two, "eve@example.com"))
		})
}

// with returns a copy of fields in which one field has another value.
func with(in fields, name string, value any) fields {
	out := fields{name: value}
	for k, v := range in {
		if k != name {
			out[k] = v
		}
	}
	return out
}
