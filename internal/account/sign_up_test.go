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
			t.Errorf("%q at %s: got %v, error %v; want %s", c.text, c.baseURL, p, err, c.want)
		}
	}
	for _, bad := range []string{"everyone", "domains", "domains:", "domains:a@example.com", "domains:*.com", "open:x",
		"domains:example.com,,"} {
		if p, err := account.ParseSignUpPolicy(bad, "x"); err == nil {
			t.Errorf("%q: got policy %v, want an error", bad, p)
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
				workspace := ada.Workspace("Engines", board.PlanTeam)
				a := ada.Call("create_invitation", fields{"workspaceId": workspace, "email": "guest@example.com", "role": "member"})
				if invited := a.Status == http.StatusCreated; invited != c.guest ||
					!invited && !strings.Contains(a.Message, "guest@example.com has no account, and sign-up is closed") {
					t.Errorf("invitation: got status %d, body %s; want it accepted: %t", a.Status, a.Raw, c.guest)
				}
				ada.Must("create_invitation", fields{"workspaceId": workspace, "email": s.Person("Grace").Email, "role": "member"})
				emails(s)
				b := s.Browser()
				if a := b.Must("get_sign_in_options", nil); a.Get("signUp") != c.shown ||
					!strings.HasPrefix(c.policy, a.Text("signUpFor")) {
					t.Errorf("got options %s, want signUp %t and the policy %s", a.Raw, c.shown, c.policy)
				}
				for email, admitted := range map[string]bool{"eve@example.com": c.stranger, "guest@example.com": c.guest,
					"bob@corp.example": c.colleague, "x@sub.corp.example": c.stranger} {
					a := b.Call("sign_up", fields{"email": email, "name": "X", "password": password})
					if c.policy == "closed" {
						if a.Code != board.CodeForbidden {
							t.Errorf("%s: got status %d, body %s; want forbidden", email, a.Status, a.Raw)
						}
					} else if a.Status != http.StatusOK || a.Get("sent") != true {
						t.Errorf("%s: got status %d, body %s; want 200, as for all addresses", email, a.Status, a.Raw)
					}
					if sent := emails(s); (len(sent) == 1) != admitted {
						t.Errorf("%s: got %d emails, want one only if the address is admitted (%t)", email, len(sent), admitted)
					}
				}
			})
		})
	}
}

// A sign-up writes the same records for an address with an account and for a stranger, so
// that its duration does not reveal which of the two it was.
func TestSignUpWritesTheSameForAllAddresses(t *testing.T) {
	t.Parallel()
	apptest.BothWith(t, apptest.Options{SignUp: policy(t, "invited")}, func(t *testing.T, s *apptest.Service) {
		s.Person("Ada")
		emails(s)
		b := s.Browser()
		for _, c := range []struct {
			email string
			sent  int
		}{{"ada@example.com", 1}, {"eve@example.com", 0}} {
			before := s.Column("SELECT count(*) FROM sign_ups UNION ALL SELECT count(*) FROM emails")
			b.Must("sign_up", fields{"email": c.email, "name": "X", "password": password})
			after := s.Column("SELECT count(*) FROM sign_ups UNION ALL SELECT count(*) FROM emails")
			if before[0] == after[0] || before[1] == after[1] {
				t.Errorf("%s: got %v sign-ups and emails before and %v after, want one more of each", c.email, before, after)
			}
			if sent := emails(s); len(sent) != c.sent {
				t.Errorf("%s: got %d emails, want %d", c.email, len(sent), c.sent)
			}
		}
	})
}

// The policy is checked again when the account is created, not only when the account is
// requested.
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
		input := fields{"secret": link, "name": "Grace Hopper", "password": password, "timeZone": "Europe/London"}
		b.Refused(board.CodeInvalidRequest, "create_account", with(input, "email", "eve@example.com"))
		b.Refused(board.CodeInvalidRequest, "create_account", with(input, "password", "grace@example.com"))
		b.Refused(board.CodeNotFound, "create_account", with(input, "secret", "K7Q2M4XW3ZB5N6VD8RJHF9TCGP"))
		a := b.Must("create_account", input)
		if a.Text("user.email") != "grace@example.com" || a.Text("user.name") != "Grace Hopper" ||
			a.Get("user.operator") != false || b.Secret() == "" {
			t.Errorf("got account %s, want that of Grace Hopper, who is not an operator, with a session cookie", a.Raw)
		}
		if n := len(emails(s)); n != 0 {
			t.Errorf("got %d more emails, want 0", n)
		}
		if got := b.Must("list_workspaces", nil).Each("name"); len(got) != 2 {
			t.Errorf("got workspaces %v, want 2", got)
		}
		b.Must("get_session", nil)
		for _, again := range []string{link, later} {
			s.Browser().Refused(board.CodeInvalidRequest, "create_account", with(input, "secret", again))
		}
		signIn(&apptest.Person{Service: s, Email: "grace@example.com"}, password)
	})
}

// The link of an expired or withdrawn invitation creates no account, even if another
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
				t.Errorf("%s: got message %q, want it to contain %q", what, a.Message, "the invitation is "+what)
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
			t.Errorf("got message %q, want it to contain %q", a.Message, "Sign in")
		}
	})
}

// A server without accounts admits its first person through a link that works once. That
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
				t.Fatalf("got links %q and %q, want two different links to /first", one, two)
			}
			in := func(link, email string) fields {
				return fields{"secret": link[strings.Index(link, "#")+1:], "email": email, "name": "Grace Hopper",
					"password": password}
			}
			s.Browser().Refused(board.CodeInvalidRequest, "create_account", in(one, ""))
			// Two simultaneous requests to two servers, with two links, create only one account.
			var (
				wg        sync.WaitGroup
				responses [2]apptest.Response
			)
			for i, b := range []*apptest.Person{s.Browser(), s.Node().Browser()} {
				wg.Go(func() {
					responses[i] = b.Call("create_account", in([]string{one, two}[i], fmt.Sprintf("grace%d@example.com", i)))
				})
			}
			wg.Wait()
			if (responses[0].Status == http.StatusOK) == (responses[1].Status == http.StatusOK) {
				t.Fatalf("got responses\n%s\n%s\nwant exactly one new account", responses[0].Raw, responses[1].Raw)
			}
			for _, a := range responses {
				if a.Status == http.StatusOK && a.Get("user.operator") != true {
					t.Errorf("got first person %s, want an operator", a.Raw)
				}
			}
			if got := link(); got != "" {
				t.Errorf("server with an account: got link %q, want none", got)
			}
			s.Browser().Refused(board.CodeForbidden, "create_account", in(two, "eve@example.com"))
		})
}

// with returns a copy of in, in which the named field has the given value.
func with(in fields, name string, value any) fields {
	out := fields{name: value}
	for k, v := range in {
		if k != name {
			out[k] = v
		}
	}
	return out
}
