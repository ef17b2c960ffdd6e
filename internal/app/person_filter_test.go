package app_test

import (
	"context"
	"strings"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

// A filter finds a person by a unique beginning of the name, by an email address that the caller
// may see, by ID or as "me". A value that matches nobody or several people is rejected. The
// message lists candidates among the people whom the caller can see.
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
		add := func(who *apptest.Person) string {
			return ada.Must("create_card", fields{"listId": lists[0], "title": who.Name, "assignees": []string{who.ID}}).ID()
		}
		add(ada)
		add(anna)
		add(annika)

		find := func(who *apptest.Person, as, want string) {
			t.Helper()
			quoted := `"` + as + `"`
			if as == "me" {
				quoted = as
			}
			for operation, in := range map[string]fields{
				"list_cards": {"boardId": b, "assignee": as}, "search_cards": {"q": "member:" + quoted},
			} {
				if got := strings.Join(who.All(operation, "title", in), " "); got != want {
					t.Errorf("%s: %s finds %q with the person %s, want %q", operation, who.Name, got, as, want)
				}
			}
		}
		refuse := func(who *apptest.Person, as string, names ...string) string {
			t.Helper()
			var last string
			for operation, in := range map[string]fields{
				"list_cards": {"boardId": b, "assignee": as}, "list_my_cards": {"creator": as},
				"search_cards": {"q": `member:"` + as + `"`},
			} {
				a := who.Refused(board.CodeInvalidRequest, operation, in)
				for _, name := range names {
					if !strings.Contains(a.Message, name) {
						t.Errorf("%s with the person %s: the message %q does not contain %s", operation, as, a.Message, name)
					}
				}
				if strings.Contains(a.Message, "Zoe") {
					t.Errorf("%s with the person %s: the message reveals a stranger: %s", operation, as, a.Message)
				}
				if operation == "search_cards" {
					last = strings.ReplaceAll(a.Message, as, "")
				}
			}
			return last
		}
		for as, want := range map[string]string{
			"Anna": "Anna", "annik": "Annika", "ANNIKA": "Annika", "ad": "Ada", "me": "Ada", anna.ID: "Anna",
			"annika@example.com": "Annika",
		} {
			find(ada, as, want)
		}
		find(anna, "me", "Anna")
		find(anna, "anna@example.com", "Anna") // the caller's own address
		refuse(ada, "ann", "several", "Anna ("+anna.ID+")", "Annika")
		refuse(ada, "nobodyhere", "no person", "Ada")
		refuse(anna, "annika@example.com", "no person") // members do not see addresses
		none := store.NewID("usr_")
		for stranger, nobody := range map[string]string{zoe.ID: none, "zoe@example.com": "yve@example.com"} {
			if one, other := refuse(ada, stranger), refuse(ada, nobody); one != other {
				t.Errorf("the message for a stranger is %q, and for an unknown name %q; want no difference", one, other)
			}
		}

		// A guest sees only the people on the guest's own boards.
		see := gus.Refused(board.CodeInvalidRequest, "search_cards", fields{"q": "member:nobodyhere"})
		if strings.Contains(see.Message, "Ann") || !strings.Contains(see.Message, "Ada") {
			t.Errorf("the message to a guest is %q", see.Message)
		}
		gus.Refused(board.CodeInvalidRequest, "search_cards", fields{"q": "member:" + anna.ID})

		// When the people whom a filter names leave, the filter is kept. It is broken and finds
		// nothing.
		filter := ada.Must("create_saved_filter",
			fields{"workspaceId": workspace, "name": "Annika's", "query": "member:annika"})
		if filter.Get("broken") != false {
			t.Errorf("the filter is broken: %s", filter.Raw)
		}
		ada.Refused(board.CodeInvalidRequest, "create_saved_filter",
			fields{"workspaceId": workspace, "name": "x", "query": "member:nobodyhere"})
		s.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
			return tx.RemoveMember(ctx, workspace, annika.ID)
		})
		list := ada.Must("list_saved_filters", fields{"workspaceId": workspace})
		if list.Get("0.broken") != true || !strings.Contains(list.Text("0.problem"), "no person") {
			t.Errorf("after Annika left: %s", list.Raw)
		}
		if got := ada.All("list_filter_cards", "title", fields{"filterId": filter.ID()}); len(got) != 0 {
			t.Errorf("the broken filter finds %v", got)
		}
		ada.Refused(board.CodeInvalidRequest, "list_filter_cards", fields{"filterId": filter.ID(), "assignee": "nobodyhere"})
	})
}
