package app_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

// pair is two boards of one workspace. Ada and Bob can see both boards. Cyd can see only the first.
type pair struct {
	*apptest.Service
	ada, bob, cyd  *apptest.Person
	workspace      string
	from, to       string // the boards
	here, there    string // a list on each board
	bug, bugThere  string // matching labels
	idea           string // a label of the first board only
	card           string // a card in the list here, created by newFullCard
	listed, behind string // cards in the list there
}

func newPair(s *apptest.Service, from, to board.Visibility) *pair {
	ada := s.Person("Ada")
	p := &pair{Service: s, ada: ada, workspace: ada.Workspace("Engines", board.PlanTeam)}
	p.bob = s.Person("Bob").Joins(p.workspace, board.WorkspaceGuest)
	p.cyd = s.Person("Cyd").Joins(p.workspace, board.WorkspaceGuest)
	p.from = p.make("create_board", fields{"workspaceId": p.workspace, "name": "From", "visibility": from})
	p.to = p.make("create_board", fields{"workspaceId": p.workspace, "name": "To", "visibility": to})
	s.Listen(p.workspace, p.from, p.to)
	for _, share := range []struct{ board, user string }{{p.from, p.bob.ID}, {p.to, p.bob.ID}, {p.from, p.cyd.ID}} {
		ada.Must("share_board", fields{"boardId": share.board, "userId": share.user, "role": "editor"})
	}
	p.here = p.make("create_list", fields{"boardId": p.from, "name": "Here"})
	p.there = p.make("create_list", fields{"boardId": p.to, "name": "There"})
	p.bug = p.make("create_label", fields{"boardId": p.from, "name": "Bug", "color": "red"})
	p.idea = p.make("create_label", fields{"boardId": p.from, "name": "Idea", "color": "lime"})
	p.make("create_label", fields{"boardId": p.to, "name": "Idea", "color": "red"}) // another color
	p.bugThere = p.make("create_label", fields{"boardId": p.to, "name": "Bug", "color": "red"})
	p.listed = p.make("create_card", fields{"listId": p.there, "title": "Was there"})
	p.behind = p.make("create_card", fields{"listId": p.there, "title": "Was there too"})
	p.card = p.newFullCard("Press release")
	return p
}

func (p *pair) make(name string, in fields) string { return p.ada.Must(name, in).ID() }

// newFullCard creates a card with labels, assignees, dates, a checklist and a comment.
func (p *pair) newFullCard(title string) string {
	id := p.make("create_card", fields{"listId": p.here, "title": title, "description": "Two paragraphs about zebras.",
		"labels": []string{p.bug, p.idea}, "assignees": []string{p.cyd.ID, p.bob.ID, p.ada.ID},
		"due": fields{"dueDate": "2026-12-01", "dueTime": "09:30", "startDate": "2026-11-20", "timeZone": "Europe/Berlin"}})
	k := p.ada.Must("add_checklist",
		fields{"cardId": id, "title": "Before", "items": []string{"Check the okapi", "Print"}})
	p.ada.Must("update_checklist_item", fields{"itemId": k.Text("items.0.id"), "done": true})
	p.bob.Must("add_comment", fields{"cardId": id, "text": "A quagga says hello."})
	p.ada.Must("update_card", fields{"cardId": id, "done": true})
	return id
}

func (p *pair) version(boardID string) int64 {
	return int64(p.ada.Must("get_board", fields{"boardId": boardID}).Get("version").(float64))
}

// last returns the newest entry of a board's activity.
func (p *pair) last(boardID string) map[string]any {
	return p.ada.Must("list_board_activity", fields{"boardId": boardID, "limit": 1}).Get("0").(map[string]any)
}

func TestMoveCardToBoard(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		p := newPair(s, "private", "private")
		before := p.ada.Must("get_card", fields{"cardId": p.card})
		comments := p.ada.Must("list_comments", fields{"cardId": p.card})
		v, w := p.version(p.from), p.version(p.to)
		a := p.bob.Must("move_card_to_board",
			fields{"cardId": p.card, "listId": p.there, "position": fields{"after": p.listed}})
		if a.Text("card.boardId") != p.to || a.Text("card.listId") != p.there || a.Get("card.number") != 3.0 {
			t.Errorf("the moved card is %s, want number 3 in list %s on board %s", a.Raw, p.there, p.to)
		}
		if len(a.Get("card.labels").([]any)) != 1 || a.Text("card.labels.0.id") != p.bugThere ||
			a.Text("droppedLabels.0.id") != p.idea || a.Get("droppedLabels.1") != nil {
			t.Errorf("the moved card is %s, want the label %s and the dropped label %s", a.Raw, p.bugThere, p.idea)
		}
		if a.Text("card.assignees.0.id") != p.ada.ID || a.Text("card.assignees.1.id") != p.bob.ID ||
			a.Get("card.assignees.2") != nil ||
			a.Text("droppedAssignees.0.id") != p.cyd.ID || a.Text("droppedAssignees.0.name") != "Cyd" ||
			a.Get("droppedAssignees.1") != nil {
			t.Errorf("the moved card is %s, want the assignees Ada and Bob and the dropped assignee Cyd", a.Raw)
		}
		if p.version(p.from) != v+1 || p.version(p.to) != w+1 || a.Version != w+1 {
			t.Errorf("got versions %d and %d, and %d in the response; want %d, %d and %d", p.version(p.from), p.version(p.to), a.Version,
				v+1, w+1, w+1)
		}
		checkUnchanged(t, before.Data, p.ada.Must("get_card", fields{"cardId": p.card}).Data)
		after := p.ada.Must("list_comments", fields{"cardId": p.card})
		if before, after := strings.ReplaceAll(string(comments.Raw), p.from, p.to), string(after.Raw); before != after {
			t.Errorf("the comments are %s, want %s", after, before)
		}
		if got := p.ada.All("list_cards", "id", fields{"boardId": p.to}); !slices.Equal(got,
			[]string{p.listed, p.card, p.behind}) {
			t.Errorf("the order is %v, want %v", got, []string{p.listed, p.card, p.behind})
		}
		for _, word := range []string{"zebras", "okapi", "quagga"} {
			if got := p.ada.All("list_cards", "id", fields{"boardId": p.to, "q": word}); !slices.Equal(got, []string{p.card}) {
				t.Errorf("%s is found in %v, want %v", word, got, []string{p.card})
			}
		}
		if got := p.ada.All("list_cards", "id", fields{"boardId": p.from, "archived": "true"}); len(got) != 0 {
			t.Errorf("the source board has the cards %v, want none", got)
		}
		ids := fmt.Sprintf(`card.moved {"cardId":"%s",`, p.card)
		if got, want := lastOf(s.Outbox(p.from)), ids+fmt.Sprintf(`"listId":null,"previousListId":"%s","boardId":"%s"}`,
			p.here, p.to); got != want {
			t.Errorf("the source board sends %s\nwant %s", got, want)
		}
		if got, want := lastOf(s.Outbox(p.to)), ids+fmt.Sprintf(`"listId":"%s","previousListId":null,"boardId":"%s"}`,
			p.there, p.from); got != want {
			t.Errorf("the target board sends %s\nwant %s", got, want)
		}
		entry := p.last(p.to)
		for _, field := range []string{"title", "number", "description", "labels", "assignees", "dueDate", "done",
			"checklists", "comments", "position", "boardId"} {
			if entry["changes"].(map[string]any)[field] == nil {
				t.Errorf("the change on the target board does not contain %s: %v", field, entry["changes"])
			}
		}
		p.Refused(t, "not_found", p.cyd, "get_card", fields{"cardId": p.card})
		s.CheckConsistency()
	})
}

// Refused calls an operation that must fail with the given code and change neither board.
func (p *pair) Refused(t *testing.T, code board.Code, who *apptest.Person, name string, in fields) {
	t.Helper()
	v, w := p.version(p.from), p.version(p.to)
	who.Refused(code, name, in)
	if v != p.version(p.from) || w != p.version(p.to) {
		t.Errorf("%s was rejected but changed a board", name)
	}
}

func lastOf(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return lines[len(lines)-1]
}

// checkUnchanged compares the fields of a card that a move to another board does not change.
func checkUnchanged(t interface{ Errorf(string, ...any) }, before, after any) {
	strip := func(v any) string {
		c := maps.Clone(v.(map[string]any))
		for _, name := range []string{"boardId", "listId", "number", "labels", "assignees", "updatedAt"} {
			delete(c, name)
		}
		return fmt.Sprint(c)
	}
	if a, b := strip(before), strip(after); a != b {
		t.Errorf("the card is\n%s\nwant\n%s", b, a)
	}
}

// A move reveals nothing about a confidential board: that board sends no events, and the events
// and the activity of the other board do not contain its id.
func TestMoveBetweenConfidentialBoards(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		p := newPair(s, "workspace", "workspace")
		for _, side := range []struct{ secret, other string }{{p.from, p.to}, {p.to, p.from}} {
			p.ada.Must("update_board", fields{"boardId": side.secret, "visibility": "confidential"})
			sent, sentByOther, since := len(s.Outbox(side.secret)), len(s.Outbox(side.other)), p.version(side.other)
			here := map[string]string{p.from: p.here, p.to: p.there}
			card := p.make("create_card", fields{"listId": here[side.secret], "title": "Goes out and comes back"})
			p.ada.Must("move_card_to_board", fields{"cardId": card, "listId": here[side.other]})
			p.ada.Must("move_card_to_board", fields{"cardId": card, "listId": here[side.secret]})
			list := p.make("create_list", fields{"boardId": side.secret, "name": "Goes out and comes back"})
			p.make("create_card", fields{"listId": list, "title": "Goes along"})
			p.ada.Must("move_list_to_board", fields{"listId": list, "boardId": side.other})
			p.ada.Must("move_list_to_board", fields{"listId": list, "boardId": side.secret})
			if got := s.Outbox(side.secret); len(got) != sent {
				t.Errorf("the confidential board sent %v, want no events", got[sent:])
			}
			if got := s.Outbox(side.other); len(got) != sentByOther+4 {
				t.Errorf("the other board sent %v, want four events", got[sentByOther:])
			}
			for _, line := range append(s.Outbox(side.other)[sentByOther:],
				s.Column("SELECT changes FROM activity WHERE board_id = $1 AND version > $2", side.other, since)...) {
				if strings.Contains(line, side.secret) || strings.Contains(line, here[side.secret]) {
					t.Errorf("the other board reveals the id of the confidential one: %s", line)
				}
			}
			p.ada.Must("update_board", fields{"boardId": side.secret, "visibility": "workspace"})
		}
		s.CheckConsistency()
	})
}

func TestMoveCardToBoardIsRefused(t *testing.T) {
	t.Parallel()
	limits := board.DefaultLimits()
	limits.OpenCards, limits.OpenLists, limits.AllCards = 4, 3, 6
	apptest.BothWith(t, apptest.Options{Limits: limits}, func(t *testing.T, s *apptest.Service) {
		p := newPair(s, "private", "private")
		move := fields{"cardId": p.card, "listId": p.there}
		p.Refused(t, "invalid_request", p.ada, "move_card_to_board", with(move, "listId", p.here))
		p.Refused(t, "invalid_request", p.ada, "move_card_to_board", with(move, "position", fields{"after": p.card}))
		p.Refused(t, "not_found", p.cyd, "move_card_to_board", move)
		p.Refused(t, "invalid_request", p.ada, "move_list_to_board", fields{"listId": p.here, "boardId": p.from})
		p.Refused(t, "not_found", p.cyd, "move_list_to_board", fields{"listId": p.here, "boardId": p.to})
		for _, boardID := range []string{p.from, p.to} {
			p.ada.Must("share_board", fields{"boardId": boardID, "userId": p.bob.ID, "role": "commenter"})
			p.Refused(t, "forbidden", p.bob, "move_card_to_board", move)
			p.Refused(t, "forbidden", p.bob, "move_list_to_board", fields{"listId": p.here, "boardId": p.to})
			p.ada.Must("share_board", fields{"boardId": boardID, "userId": p.bob.ID, "role": "editor"})
			p.ada.Must("archive_board", fields{"boardId": boardID})
			p.Refused(t, "board_archived", p.ada, "move_card_to_board", move)
			p.Refused(t, "board_archived", p.ada, "move_list_to_board", fields{"listId": p.here, "boardId": p.to})
			p.ada.Must("restore_board", fields{"boardId": boardID})
		}
		p.ada.Must("update_list", fields{"listId": p.there, "wipLimit": 2, "wipMode": "hard"})
		p.Refused(t, "capacity_full", p.ada, "move_card_to_board", move)
		p.Refused(t, "capacity_full", p.ada, "copy_card", move)
		p.ada.Must("update_list", fields{"listId": p.there, "wipMode": "soft"})
		p.ada.Must("archive_list", fields{"listId": p.there})
		p.Refused(t, "archived", p.ada, "move_card_to_board", move)
		p.Refused(t, "archived", p.ada, "copy_card", move)
		p.ada.Must("restore_list", fields{"listId": p.there})
		p.ada.Must("archive_card", fields{"cardId": p.card})
		p.Refused(t, "archived", p.ada, "move_card_to_board", move)
		p.ada.Must("restore_card", fields{"cardId": p.card})

		// The target board has room for two more open cards and for four more cards in all.
		for range 2 {
			p.make("create_card", fields{"listId": p.there, "title": "More"})
		}
		p.Refused(t, "limit_reached", p.ada, "move_card_to_board", move)
		p.Refused(t, "limit_reached", p.ada, "copy_card", move)
		p.Refused(t, "limit_reached", p.ada, "move_list_to_board", fields{"listId": p.here, "boardId": p.to})
		for range 2 {
			p.ada.Must("archive_card", fields{"cardId": p.ada.All("list_cards", "id", fields{"boardId": p.to})[0]})
		}
		for range 2 {
			id := p.make("create_card", fields{"listId": p.there, "title": "More"})
			p.ada.Must("archive_card", fields{"cardId": id})
		}
		p.Refused(t, "limit_reached", p.ada, "move_card_to_board", move)
		p.Refused(t, "limit_reached", p.ada, "move_list_to_board", fields{"listId": p.here, "boardId": p.to})
		empty := p.make("create_list", fields{"boardId": p.from, "name": "Empty"})
		p.make("create_list", fields{"boardId": p.to, "name": "Two"})
		p.make("create_list", fields{"boardId": p.to, "name": "Three"})
		p.Refused(t, "limit_reached", p.ada, "move_list_to_board", fields{"listId": empty, "boardId": p.to})
		s.CheckConsistency()
	})
}

func TestMoveListToBoard(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		p := newPair(s, "private", "private")
		archived := p.newFullCard("Put away")
		p.ada.Must("archive_card", fields{"cardId": archived})
		last := p.make("create_card", fields{"listId": p.here, "title": "Last"})
		p.ada.Must("update_list", fields{"listId": p.here, "wipLimit": 1, "wipMode": "hard"}) // the list has two cards
		before := p.ada.Must("list_cards", fields{"boardId": p.from, "archived": "true"}).Data.([]any)
		v, w := p.version(p.from), p.version(p.to)
		a := p.bob.Must("move_list_to_board", fields{"listId": p.here, "boardId": p.to, "position": "top"})
		if a.Text("list.id") != p.here || a.Text("list.boardId") != p.to || a.Get("list.openCards") != 2.0 ||
			a.Get("list.wipLimit") != 1.0 {
			t.Errorf("the moved list is %s, want %s on board %s with two open cards and its WIP limit", a.Raw, p.here, p.to)
		}
		if a.Text("droppedLabels.0.id") != p.idea || a.Get("droppedLabels.1") != nil ||
			a.Text("droppedAssignees.0.id") != p.cyd.ID || a.Get("droppedAssignees.1") != nil {
			t.Errorf("the response is %s, want the dropped label %s and the dropped assignee %s", a.Raw, p.idea, p.cyd.ID)
		}
		if p.version(p.from) != v+4 || p.version(p.to) != w+4 || a.Version != w+4 { // the list and three cards
			t.Errorf("got versions %d and %d, and %d in the response; want %d, %d and %d", p.version(p.from), p.version(p.to), a.Version,
				v+4, w+4, w+4)
		}
		after := p.ada.Must("list_cards", fields{"boardId": p.to, "archived": "true"}).Data.([]any)
		for i := range before {
			card := after[i].(map[string]any)
			checkUnchanged(t, before[i], card)
			if card["number"] != float64(3+i) || card["listId"] != p.here || card["boardId"] != p.to {
				t.Errorf("card %d is %v, want number %d in list %s on board %s", i, card, 3+i, p.here, p.to)
			}
		}
		if got := p.ada.All("list_cards", "id", fields{"boardId": p.to}); !slices.Equal(got,
			[]string{p.card, last, p.listed, p.behind}) {
			t.Errorf("the order is %v, want %v", got, []string{p.card, last, p.listed, p.behind})
		}
		if got := p.ada.All("list_lists", "id", fields{"boardId": p.from, "includeArchived": true}); len(got) != 0 {
			t.Errorf("the source board has the lists %v, want none", got)
		}
		for _, b := range []struct{ id, side string }{{p.from, `"listId":null,`}, {p.to, `"previousListId":null,`}} {
			sent := s.Outbox(b.id)
			for i, id := range []string{p.card, archived, last} {
				if got := sent[len(sent)-3+i]; !strings.HasPrefix(got, `card.moved {"cardId":"`+id) ||
					!strings.Contains(got, b.side) {
					t.Errorf("board %s sends %s for card %s, want card.moved with %s", b.id, got, id, b.side)
				}
			}
		}
		s.CheckConsistency()
	})
}
