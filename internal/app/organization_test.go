package app_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"cardwall/internal/app"
	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

// anotherWorkspaceOf creates a workspace in the organization of an existing workspace, as the command
// cardwall workspace add does.
func anotherWorkspaceOf(p *apptest.Person, workspaceID, name string) (id string) {
	p.T.Helper()
	organization := p.Must("get_workspace", fields{"workspaceId": workspaceID}).Text("organizationId")
	p.Write(board.Person(p.ID), func(ctx context.Context, tx *store.Tx) error {
		w, err := app.AddWorkspace(ctx, tx, app.NewWorkspace{Name: name, OrganizationID: organization})
		id = w.ID
		return err
	})
	return id
}

func TestOrganizationShowsPlanAndUsage(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		theirs := s.Person("Grace").Workspace("Theirs", board.PlanTeam)
		w.make("create_webhook", w.newWebhook())
		w.newFailedDelivery()
		in := fields{"organizationId": w.organization()}
		a := w.owner.Must("get_organization", in)
		if a.Text("plan") != "team" || a.Get("readOnly") != false || a.Get("owned") != true ||
			a.Get("webhooks.max") != 25.0 || a.Get("deliveries.max") != 10_000.0 ||
			a.Get("deliveries.warnAt") != 9_000.0 || a.Text("plans.0.plan") != "free" || a.Get("plans.0.webhooks") != 2.0 ||
			a.Get("plans.2.requestsPerMinute") != 1200.0 {
			t.Errorf("the organization is %s, want the team plan with its limits, and all plans", a.Raw)
		}
		if a.Get("webhooks.count") != 3.0 || a.Text("workspaces.0.id") != w.workspace || a.Get("workspaces.1") != nil ||
			a.Get("workspaces.0.members") != 2.0 {
			t.Errorf("the organization's usage is %s, want three webhooks and one workspace with two members", a.Raw)
		}
		if !strings.HasSuffix(a.Text("renewsAt"), "T00:00:00.000Z") {
			t.Errorf("the daily limits renew at %s, want midnight UTC", a.Text("renewsAt"))
		}
		if strings.Contains(string(a.Raw), theirs) {
			t.Errorf("the response includes another organization's workspace: %s", a.Raw)
		}
		// Members see the plan, but only their own workspaces.
		second := anotherWorkspaceOf(w.owner, w.workspace, "Second")
		if a := w.other.Must("get_organization", in); a.Get("owned") != false || a.Get("workspaces.1") != nil ||
			a.Text("workspaces.0.role") != "member" {
			t.Errorf("a member sees %s, want only the member's own workspace", a.Raw)
		}
		if a := w.owner.Must("get_organization", in); a.Text("workspaces.1.id") != second ||
			a.Text("workspaces.1.role") != "owner" {
			t.Errorf("the owner of both workspaces sees %s, want also %s", a.Raw, second)
		}
		w.owner.Must("delete_workspace", fields{"workspaceId": second})
		if a := w.owner.Must("get_organization", in); a.Get("workspaces.1") != nil {
			t.Errorf("with one workspace in the trash, the owner sees %s, want only the other workspace", a.Raw)
		}
	})
}

func TestOrganizationMembersOverAllWorkspaces(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		eve := s.Person("Eve")
		eve.Joins(w.workspace, board.WorkspaceAdmin)
		second := anotherWorkspaceOf(eve, w.workspace, "Second")
		s.Person("Carol").Joins(second, board.WorkspaceGuest)
		s.Person("Mallory").Workspace("Elsewhere", board.PlanTeam)
		in := fields{"organizationId": w.organization()}

		a := w.owner.Must("list_organization_members", in)
		if names := a.Each("name"); !slices.Equal(names, []string{"Ada", "Bob", "Eve", "Carol"}) {
			t.Errorf("the people are %v, want %v", names, []string{"Ada", "Bob", "Eve", "Carol"})
		}
		if a.Text("2.workspaces.0.role") != "admin" || a.Text("2.workspaces.1.role") != "owner" ||
			a.Text("2.workspaces.1.name") != "Second" {
			t.Errorf("the people are %s, want Eve as an admin of the first workspace and the owner of Second", a.Raw)
		}
		if a.Text("2.email") != "eve@example.com" || a.Get("3.email") != nil {
			t.Errorf("the people are %s, want addresses only for people in workspaces that the caller manages", a.Raw)
		}
		if a := eve.Must("list_organization_members", in); a.Text("3.email") != "carol@example.com" ||
			a.Text("0.email") != "ada@example.com" {
			t.Errorf("Eve, who manages both workspaces, sees %s; want the addresses of Ada and Carol", a.Raw)
		}
		w.other.Refused(board.CodeForbidden, "list_organization_members", in)
	})
}

func TestOnlyOperatorsSeeOrganizations(t *testing.T) {
	t.Parallel()
	apptest.BothWith(t, apptest.Options{Operators: []string{"root@example.com"}}, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		root, in := s.Person("Root"), fields{"organizationId": w.organization(), "plan": "free"}
		for who, p := range map[string]*apptest.Person{"an owner": w.owner, "a stranger": s.Person("Eve")} {
			for _, call := range []apptest.Response{p.Call("list_organizations", nil), p.Call("update_organization", in)} {
				if call.Status != http.StatusNotFound || call.Code != board.CodeNotFound {
					t.Errorf("%s: got status %d, body %s; want 404 not_found", who, call.Status, call.Raw)
				}
			}
		}
		// Callers who are not operators get not_found, even if their sign-in is too old for the operation.
		later := s.Browser()
		later.Must("sign_in", fields{"email": w.withPassword(), "password": password})
		s.Clock.Advance(board.RecentFor)
		later.Refused(board.CodeNotFound, "update_organization", in)
		if a := later.Must("get_session", nil); a.Get("user.operator") != false {
			t.Errorf("the owner's session is %s, want operator false", a.Raw)
		}
		if a := root.Must("get_session", nil); a.Get("user.operator") != true {
			t.Errorf("the operator's session is %s, want operator true", a.Raw)
		}
		if a := root.Must("list_organizations", nil); len(a.Each("id")) != 2 {
			t.Errorf("the operator sees %s, want two organizations", a.Raw)
		}
	})
}

func TestOperatorFindsOrganizations(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada, grace := s.Person("Ada"), s.Person("Grace")
		ada.Workspace("Ärzte am Platz", board.PlanTeam)
		second := grace.Workspace("Compilers", board.PlanFree)
		third := grace.Workspace("100% Linkers", board.PlanBusiness)
		ada.Joins(third, board.WorkspaceMember)
		names := func(in fields) []string {
			t.Helper()
			return ada.All("list_organizations", "name", in)
		}
		for _, c := range []struct {
			in   fields
			want []string
		}{
			{fields{"limit": 1}, []string{"100% Linkers", "Compilers", "Ärzte am Platz"}},
			{fields{"q": "ärzte"}, []string{"Ärzte am Platz"}},
			{fields{"q": "ARZTE"}, []string{"Ärzte am Platz"}},
			{fields{"q": "100%"}, []string{"100% Linkers"}},
			{fields{"q": "GRACE@example", "limit": 1}, []string{"100% Linkers", "Compilers"}},
			{fields{"q": "nobody"}, nil},
			{fields{"plan": "free"}, []string{"Compilers"}},
			{fields{"q": "grace", "plan": "business"}, []string{"100% Linkers"}},
			{fields{"readOnly": true}, nil},
			{fields{"readOnly": false, "q": "_"}, []string{"100% Linkers", "Compilers", "Ärzte am Platz"}}, // every id contains one
		} {
			if got := names(c.in); !slices.Equal(got, c.want) {
				t.Errorf("%v finds %v, want %v", c.in, got, c.want)
			}
		}
		one := ada.Must("list_organizations", fields{"q": "linkers"})
		if one.Get("0.workspaces") != 1.0 || one.Get("0.members") != 2.0 ||
			one.Text("0.owners.0.email") != "grace@example.com" || one.Get("0.owners.1") != nil {
			t.Errorf("the organization is %s, want one workspace, two members and the owner Grace", one.Raw)
		}
		org := grace.Must("get_workspace", fields{"workspaceId": second}).Text("organizationId")
		if got := names(fields{"q": org}); !slices.Equal(got, []string{"Compilers"}) {
			t.Errorf("the id of the organization finds %v, want %v", got, []string{"Compilers"})
		}
	})
}

func TestOperatorChangesPlanAndReadOnly(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada, grace := s.Person("Ada"), s.Person("Grace")
		workspace := grace.Workspace("Compilers", board.PlanFree)
		second := anotherWorkspaceOf(grace, workspace, "Linkers")
		org := grace.Must("get_workspace", fields{"workspaceId": workspace}).Text("organizationId")
		a := ada.Must("update_organization", fields{"organizationId": org, "plan": "business", "readOnly": true})
		if a.Text("plan") != "business" || a.Get("readOnly") != true || a.Get("workspaces") != 2.0 ||
			a.Text("owners.0.name") != "Grace" {
			t.Errorf("the organization is %s, want two read-only workspaces of Grace on the business plan", a.Raw)
		}
		if a := grace.Must("get_workspace", fields{"workspaceId": second}); a.Text("plan") != "business" ||
			a.Get("readOnly") != true {
			t.Errorf("the workspace is %s, want it read-only on the business plan", a.Raw)
		}
		grace.Refused(board.CodePlanReadOnly, "create_board", fields{"workspaceId": workspace, "name": "x"})
		ada.Must("update_organization", fields{"organizationId": org, "readOnly": false})
		grace.Must("create_board", fields{"workspaceId": workspace, "name": "x"})
		if a := grace.Must("get_organization", fields{"organizationId": org}); a.Text("plan") != "business" {
			t.Errorf("after a change of readOnly only: got %s, want the business plan", a.Raw)
		}
		ada.Refused(board.CodeInvalidRequest, "update_organization", fields{"organizationId": org, "plan": "gold"})
		ada.Refused(board.CodeNotFound, "update_organization", fields{"organizationId": store.NewID("org_"), "plan": "free"})

		// The audit log of each workspace has the change and its actor.
		for _, id := range []string{workspace, second} {
			log := grace.Must("list_audit_entries", fields{"workspaceId": id, "operation": "update_organization"})
			if len(log.Each("id")) != 2 || log.Text("1.actorName") != "Ada" || log.Text("1.subject") != org ||
				log.Text("1.changes.plan.from") != "free" || log.Text("1.changes.plan.to") != "business" ||
				log.Get("1.changes.readOnly.to") != true || log.Get("0.changes.plan") != nil {
				t.Errorf("the audit log of %s has %s, want both changes by Ada", id, log.Raw)
			}
		}
	})
}
