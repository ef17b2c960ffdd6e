package app_test

import (
	"context"
	"strings"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

// A filter accepts a unique prefix of a person's name, an email address that the caller may see, an
// ID or "me". A value that matches nobody or several people is rejected. The error message lists
// candidates among the people that the caller can see.
func TestPersonFilterMatchesExactlyOnePerson(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada, anna, annika, gus, zoe := s.Person("Ada"), s.Person("Anna"), s.Person("Annika"), s.Person("Gus"), s.Person("Zoe")
		workspace := ada.Workspace("Engines", board.PlanBusiness)
		zoe.Workspace("Elsewhere", board.PlanBusiness)
		anna.Joins(workspace, board.WorkspaceMember)
		annika.Joins(workspace, board.WorkspaceMember)
		gus.Joins(workspace, board.WorkspaceGuest)
		b, lists, _ := newBoardWithCards(ada, workspace, 1, 0)
		private := ada.Must("create_board", fields{"workspaceId": workspace, "name": "Private", "visibility": "private"}).ID()
		ada.Must("share_board", fields{"boardId": private, "userId": gus.ID, "role": "viewer"})
		add := func(assignee *apptest.Person) string {
			in := fields{"listId": lists[0], "title": assignee.Name, "assignees": []string{assignee.ID}}
			return ada.Must("create_card", in).ID()
		}
		add(ada)
		add(anna)
		add(annika)

		find := func(caller *apptest.Person, person, want string) {
			t.Helper()
			quoted := `"` + person + `"`
			if person == "me" {
				quoted = person
			}
			for operation, in := range map[string]fields{
				"list_cards": {"boardId": b, "assignee": person}, "search_cards": {"q": "member:" + quoted},
			} {
				if got := strings.Join(caller.All(operation, "title", in), " "); got != want {
					t.Errorf("%s as %s with person %s: got %q, want %q", operation, caller.Name, person, got, want)
				}
			}
		}
		// refuse checks that each operation rejects the person with a message that contains the texts. It
		// returns the message of search_cards without the person.
		refuse := func(caller *apptest.Person, person string, texts ...string) string {
			t.Helper()
			var last string
			for operation, in := range map[string]fields{
				"list_cards": {"boardId": b, "assignee": person}, "list_my_cards": {"creator": person},
				"search_cards": {"q": `member:"` + person + `"`},
			} {
				a := caller.Refused(board.CodeInvalidRequest, operation, in)
				for _, text := range texts {
					if !strings.Contains(a.Message, text) {
						t.Errorf("%s with person %s: got message %q, want it to contain %s", operation, person, a.Message, text)
					}
				}
				if strings.Contains(a.Message, "Zoe") {
					t.Errorf("%s with person %s: got message %q, want it not to reveal a stranger", operation, person, a.Message)
				}
				if operation == "search_cards" {
					last = strings.ReplaceAll(a.Message, person, "")
				}
			}
			return last
		}
		for person, want := range map[string]string{
			"Anna": "Anna", "annik": "Annika", "ANNIKA": "Annika", "ad": "Ada", "me": "Ada", anna.ID: "Anna",
			"annika@example.com": "Annika",
		} {
			find(ada, person, want)
		}
		find(anna, "me", "Anna")
		find(anna, "anna@example.com", "Anna") // callers may use their own address
		refuse(ada, "ann", "several", "Anna ("+anna.ID+")", "Annika")
		refuse(ada, "nobodyhere", "no person", "Ada")
		refuse(anna, "annika@example.com", "no person") // members cannot see the addresses of others
		unknown := store.NewID("usr_")
		for stranger, nobody := range map[string]string{zoe.ID: unknown, "zoe@example.com": "yve@example.com"} {
			if got, want := refuse(ada, stranger), refuse(ada, nobody); got != want {
				t.Errorf("message for a stranger: got %q, want %q as for an unknown person", got, want)
			}
		}

		// A guest can see only the people on the guest's own boards.
		response := gus.Refused(board.CodeInvalidRequest, "search_cards", fields{"q": "member:nobodyhere"})
		if strings.Contains(response.Message, "Ann") || !strings.Contains(response.Message, "Ada") {
			t.Errorf("message to a guest: got %q, want it to contain Ada and not Ann", response.Message)
		}
		gus.Refused(board.CodeInvalidRequest, "search_cards", fields{"q": "member:" + anna.ID})

		// If the people that a filter names have left, the filter remains. It is marked as broken and
		// finds nothing.
		filter := ada.Must("create_saved_filter",
			fields{"workspaceId": workspace, "name": "Annika's", "query": "member:annika"})
		if filter.Get("broken") != false {
			t.Errorf("got filter %s, want broken false", filter.Raw)
		}
		ada.Refused(board.CodeInvalidRequest, "create_saved_filter",
			fields{"workspaceId": workspace, "name": "x", "query": "member:nobodyhere"})
		s.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
			return tx.RemoveMember(ctx, workspace, annika.ID)
		})
		list := ada.Must("list_saved_filters", fields{"workspaceId": workspace})
		if list.Get("0.broken") != true || !strings.Contains(list.Text("0.problem"), "no person") {
			t.Errorf("after Annika left: got %s, want a broken filter with the problem", list.Raw)
		}
		if got := ada.All("list_filter_cards", "title", fields{"filterId": filter.ID()}); len(got) != 0 {
			t.Errorf("broken filter: got cards %v, want none", got)
		}
		ada.Refused(board.CodeInvalidRequest, "list_filter_cards", fields{"filterId": filter.ID(), "assignee": "nobodyhere"})
	})
}
