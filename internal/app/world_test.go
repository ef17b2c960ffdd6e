package app_test

import (
	"context"
	"strings"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/store"
)

type fields = apptest.Fields

// world is a workspace with a board that has at least one object of each kind, so that every
// operation can be called.
type world struct {
	*apptest.Service
	owner *apptest.Person // owner of the workspace and admin of the board
	other *apptest.Person // a member of the workspace without a role on the board

	workspace, board, list, doing, archived, card, archivedCard string
	label, checklist, item, comment, attachment                 string

	second, away string // another board, and a list on it

	hook, boardHook string // webhooks of the workspace (created on first use) and of the board

	strangers int // number of names that unusedName has returned
}

func newWorld(s *apptest.Service) *world {
	ada := s.Person("Ada")
	w := &world{Service: s, owner: ada, other: s.Person("Bob"), workspace: ada.Workspace("Engines", board.PlanTeam)}
	ada.Workspace("Another", board.PlanTeam)
	w.other.Joins(w.workspace, board.WorkspaceMember)
	w.fill("workspace")
	return w
}

// fill creates the two boards of the world with their contents, and two jobs.
func (w *world) fill(visibility board.Visibility) {
	w.board = w.make("create_board", fields{"workspaceId": w.workspace, "name": "Launch", "visibility": visibility})
	w.second = w.make("create_board", fields{"workspaceId": w.workspace, "name": "Second"})
	w.away = w.make("create_list", fields{"boardId": w.second, "name": "Away"})
	w.list = w.make("create_list", fields{"boardId": w.board, "name": "To do"})
	w.doing = w.make("create_list", fields{"boardId": w.board, "name": "Doing"})
	w.archived = w.make("create_list", fields{"boardId": w.board, "name": "Old"})
	w.owner.Must("archive_list", fields{"listId": w.archived})
	w.label = w.make("create_label", fields{"boardId": w.board, "name": "Bug", "color": "red"})
	w.make("create_label", fields{"boardId": w.board, "name": "Idea", "color": "lime"})
	w.card = w.make("create_card", fields{"listId": w.list, "title": "Press release", "assignees": []string{w.owner.ID},
		"due": fields{"dueDate": "2026-12-01"}})
	w.make("create_card", fields{"listId": w.list, "title": "Second", "assignees": []string{w.owner.ID}})
	w.archivedCard = w.make("create_card", fields{"listId": w.list, "title": "Old"})
	w.owner.Must("archive_card", fields{"cardId": w.archivedCard})
	w.checklist = w.make("add_checklist", fields{"cardId": w.card, "title": "Before"})
	w.item = w.make("add_checklist_item", fields{"checklistId": w.checklist, "title": "Check"})
	w.make("add_checklist_item", fields{"checklistId": w.checklist, "title": "Print"})
	w.comment = w.make("add_comment", fields{"cardId": w.card, "text": "Soon."})
	w.make("add_comment", fields{"cardId": w.card, "text": "Now."})
	w.attachment = w.owner.Attach(w.card, "Contract.txt", []byte("The venue is ours.")).ID()
	w.newAttachment()
	w.boardHook = w.Listener(w.workspace, w.board)
	w.newJob()
	w.newJob()
}

// newAttachment adds a link to the card.
func (w *world) newAttachment() string {
	return w.make("add_attachment", fields{"cardId": w.card, "url": "https://example.com/plan"})
}

// newUpload announces a file of seven bytes for the card.
func (w *world) newUpload() string {
	return w.make("create_upload", fields{"cardId": w.card, "fileName": "Film.txt", "size": 7})
}

// make calls an operation as the owner and returns the ID of the created object.
func (w *world) make(name string, in fields) string { return w.owner.Must(name, in).ID() }

// setRoles replaces a person's roles without the checks of the operations.
func (w *world) setRoles(p *apptest.Person, inWorkspace board.WorkspaceRole, boardID string, onBoard board.Role) {
	w.T.Helper()
	w.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
		if err := tx.RemoveMember(ctx, w.workspace, p.ID); err != nil {
			return err
		}
		if inWorkspace != "" {
			if err := tx.SetMember(ctx, w.workspace, p.ID, inWorkspace); err != nil {
				return err
			}
		}
		if onBoard == board.RoleNone {
			return nil
		}
		return tx.SetBoardMember(ctx, boardID, p.ID, onBoard)
	})
}

// enableAutomation enables the automation feature of the board.
func (w *world) enableAutomation() {
	w.owner.Must("update_board", fields{"boardId": w.board, "features": fields{"automation": true}})
}

func (w *world) rule() fields {
	return fields{
		"boardId": w.board, "name": "Started is labeled", "when": fields{"event": "card_entered", "listId": w.doing},
		"if": "is:open",
		"then": []fields{{"operation": "set_card_labels", "input": fields{"add": []string{w.label}}},
			{"operation": "add_comment", "input": fields{"text": "{actor} began with {card}."}}},
	}
}

func (w *world) newRule() string {
	w.enableAutomation()
	return w.make("create_rule", w.rule())
}

// twoRules creates rules until the board has two, and returns the IDs of the board's rules.
func (w *world) twoRules() []string {
	for {
		if all := w.owner.Must("list_rules", fields{"boardId": w.board}).Each("id"); len(all) >= 2 {
			return all
		}
		w.newRule()
	}
}

// addRun adds a run of a rule to the log.
func (w *world) addRun(ruleID string) {
	w.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
		run := store.Run{Key: store.NewID("v"), Root: "act_1", RuleRun: board.RuleRun{
			RuleID: ruleID, BoardID: w.board, Type: board.KindCardMoved, CardID: &w.card, Status: board.RunDone, Actions: 2,
			Version: new(int64(7)),
		}}
		return tx.InsertRun(ctx, &run)
	})
}

// newTrashedWorkspace creates a workspace owned by a person, moves it to the trash, and returns its ID.
func (w *world) newTrashedWorkspace(p *apptest.Person) string {
	id := p.Workspace("Looms", board.PlanTeam)
	w.Write(board.System(), func(ctx context.Context, tx *store.Tx) error { return tx.TrashWorkspace(ctx, id) })
	return id
}

func (w *world) newWebhook() fields {
	return fields{"workspaceId": w.workspace, "url": "https://" + apptest.Receivers + "/hook",
		"events": []string{"card.created", "card.moved"}, "name": "Bot"}
}

// webhook returns the ID of an enabled webhook of the workspace.
func (w *world) webhook() string {
	if w.hook == "" {
		w.hook = w.make("create_webhook", w.newWebhook())
	}
	w.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
		hook, err := tx.Webhook(ctx, w.hook, true)
		if err != nil {
			return err
		}
		hook.On, hook.OffReason, hook.OffAt = true, nil, nil
		return tx.UpdateWebhook(ctx, &hook, "")
	})
	return w.hook
}

// newFailedDelivery returns the ID of a new failed delivery of the workspace's webhook.
func (w *world) newFailedDelivery() string {
	w.T.Helper()
	id := w.make("test_webhook", fields{"webhookId": w.webhook()})
	o := store.Outcome{Dispatch: store.Dispatch{ID: id, WebhookID: w.hook, Attempts: 1}, Status: board.DeliveryFailed,
		Reason: "HTTP 404", HTTPStatus: 404}
	if err := w.DB.Record(context.Background(), []store.Outcome{o}, nil); err != nil {
		w.T.Fatalf("record: %v", err)
	}
	return id
}

// organization returns the ID of the organization that owns the workspace.
func (w *world) organization() string {
	return w.owner.Must("get_workspace", fields{"workspaceId": w.workspace}).Text("organizationId")
}

func onOrganization(more fields) func(*world) fields {
	return func(w *world) fields { return with(more, "organizationId", w.organization()) }
}

func onWebhook(more fields) func(*world) fields {
	return func(w *world) fields { return with(more, "webhookId", w.webhook()) }
}

func (w *world) invitation(email string) fields {
	return fields{"workspaceId": w.workspace, "email": email, "role": "member"}
}

// newFilter creates a shared filter of the owner and returns its ID.
func (w *world) newFilter() string {
	return w.make("create_saved_filter",
		fields{"workspaceId": w.workspace, "name": "Ours", "query": "is:open", "shared": true})
}

func (w *world) newTemplate() string {
	return w.make("save_board_as_template", fields{"boardId": w.board, "includeCards": true})
}

// newJob creates a canceled job of the owner and returns its ID.
func (w *world) newJob() (id string) {
	w.T.Helper()
	w.Write(board.Person(w.owner.ID, board.ScopeWrite), func(ctx context.Context, tx *store.Tx) error {
		in, err := tx.Workspace(ctx, w.workspace, board.CreateBoards)
		if err != nil {
			return err
		}
		j, err := tx.InsertJob(ctx, store.NewJob{Kind: board.JobCopyBoard, Workspace: in, Name: "Launch again"})
		if err != nil {
			return err
		}
		id = j.ID
		_, err = tx.CancelJob(ctx, id)
		return err
	})
	return id
}

func (w *world) newCard() string {
	return w.make("create_card", fields{"listId": w.list, "title": "Its own"})
}

func (w *world) newArchivedCard() string {
	id := w.newCard()
	w.owner.Must("archive_card", fields{"cardId": id})
	return id
}

func (w *world) newBoard() string {
	return w.make("create_board", fields{"workspaceId": w.workspace, "name": "Its own"})
}

func onBoard(more fields) func(*world) fields {
	return func(w *world) fields { return with(more, "boardId", w.board) }
}

func onCard(more fields) func(*world) fields {
	return func(w *world) fields { return with(more, "cardId", w.card) }
}

// with returns a copy of the input in which one field is added or replaced.
func with(in fields, name string, value any) fields {
	out := fields{name: value}
	for k, v := range in {
		if k != name {
			out[k] = v
		}
	}
	return out
}

// sample returns the sample input of an operation. The test fails if the operation has none.
func (w *world) sample(t *testing.T, o *op.Operation) fields {
	t.Helper()
	make := samples[o.Name]
	if make == nil {
		t.Fatalf("the operation %s (%s %s) has no sample input: add one to samples in internal/app/sample_world_test.go that works "+
			"for the owner of the world, and a row to testdata/access.txt", o.Name, o.Method, o.Path)
	}
	return make(w)
}

// names returns the names of the input fields that contain an id.
func names(in fields) (out []string) {
	for name, v := range in {
		if _, ok := v.(string); ok && strings.HasSuffix(name, "Id") {
			out = append(out, name)
		}
	}
	return out
}

// state returns the responses of operations that read the board and the workspace, so that a test
// can check that nothing changed.
func (w *world) state() string {
	var b strings.Builder
	for _, call := range []struct {
		name string
		in   fields
	}{
		{"get_board", fields{"boardId": w.board}}, {"get_card", fields{"cardId": w.card}},
		{"list_board_members", fields{"boardId": w.board}},
		{"list_boards", fields{"includeArchived": true}}, {"list_cards", fields{"boardId": w.board, "archived": "true"}},
		{"list_comments", fields{"cardId": w.card}}, {"list_lists", fields{"boardId": w.board, "includeArchived": true}},
		{"list_workspace_members", fields{"workspaceId": w.workspace}},
	} {
		b.Write(w.owner.Must(call.name, call.in).Raw)
	}
	return b.String()
}
