package undo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"cardwall/internal/app"
	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/store"
)

// revert takes a change back, as far as its slots are free. The operations check
// everything before they change anything, so that a refused one leaves nothing behind.
func (h *history) revert(ctx context.Context, tx *store.Tx, e board.Entry, free []slot) error {
	if isBetweenBoards(e) {
		return notUndoable("The card moved between boards. Move it back instead.")
	}
	r := reverter{h, tx, e, free, objectOf(e), h.current(objectOf(e))}
	noun, _, _ := strings.Cut(string(e.Type), ".")
	switch noun {
	case "card":
		return r.card(ctx)
	case "list":
		return r.list(ctx)
	case "label":
		return r.label(ctx)
	case "checklist":
		return r.checklist(ctx)
	case "checklist_item":
		return r.item(ctx)
	case "attachment":
		return r.attachment(ctx)
	case "board":
		return r.board(ctx)
	}
	if e.Type == board.KindCommentAdded {
		return first(app.DeleteComment(ctx, tx, app.CommentInput{CommentID: r.id}))
	}
	return r.unknown()
}

// first returns the error of an operation.
func first[T any](_ T, err error) error { return err }

// reverter takes one change back.
type reverter struct {
	*history
	tx     *store.Tx
	e      board.Entry
	free   []slot
	object string // the changed object, as the entry names it
	id     string // its current id
}

func (r reverter) unknown() error {
	return notUndoable(fmt.Sprintf("%s cannot be undone, because the activity does not contain what it replaced.", r.e.Type))
}

// is reports whether a field changed and may be changed back.
func (r reverter) is(field string) bool { return slices.Contains(r.free, slot{r.object, field}) }

// was returns the former value of a field that may be changed back, and otherwise nil.
func was[T any](r reverter, field string) (*T, error) {
	if !r.is(field) {
		return nil, nil
	}
	return former[T](r.e, field)
}

// former returns the former value of a field, or nil if it had none.
func former[T any](e board.Entry, field string) (*T, error) {
	var out *T
	text, err := json.Marshal(e.Changes[field].From)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		return nil, fmt.Errorf("decode former %s of %s: %w", field, e.ID, err)
	}
	return out, nil
}

func (r reverter) card(ctx context.Context) error {
	card := app.CardInput{CardID: r.id}
	switch r.e.Type {
	case board.KindCardCreated:
		return first(app.ArchiveCard(ctx, r.tx, card))
	case board.KindCardArchived:
		return first(app.RestoreCard(ctx, r.tx, card))
	case board.KindCardRestored:
		return first(app.ArchiveCard(ctx, r.tx, card))
	case board.KindCardUpdated:
		title, err := was[string](r, "title")
		if err != nil {
			return err
		}
		description, err := was[string](r, "description")
		if err != nil {
			return err
		}
		return first(app.UpdateCard(ctx, r.tx, app.UpdateCardInput{CardInput: card, Title: title, Description: description}))
	case board.KindCardCompleted, board.KindCardReopened:
		return first(app.UpdateCard(ctx, r.tx, app.UpdateCardInput{CardInput: card, Done: new(r.e.Type == board.KindCardReopened)}))
	case board.KindCardMoved, board.KindCardReordered:
		return r.moveCard(ctx)
	case board.KindCardDueDateChanged:
		return r.due(ctx)
	case board.KindCardLabelsChanged:
		add, remove := r.elements("labels")
		for i, id := range add {
			add[i] = r.current(id)
		}
		return first(app.SetCardLabels(ctx, r.tx, app.SetCardLabelsInput{CardInput: card, Add: add, Remove: remove}))
	case board.KindCardAssigneesChanged:
		add, remove := r.elements("assignees")
		return first(app.SetCardAssignees(ctx, r.tx, app.SetCardAssigneesInput{CardInput: card, Add: add, Remove: remove}))
	case board.KindCardCoverChanged:
		return r.cover(ctx)
	}
	return r.unknown()
}

// elements returns the elements of a set to add and to remove to undo the change.
func (r reverter) elements(field string) (add, remove []string) {
	added, removed := difference(r.e.Changes[field])
	kept := func(id string) bool { return !r.is(field + "/" + id) }
	return slices.DeleteFunc(removed, kept), slices.DeleteFunc(added, kept)
}

// moveCard moves a card back to where it was. If the card before it has left the list, a card
// from another list goes to the bottom.
func (r reverter) moveCard(ctx context.Context) error {
	card, err := r.tx.Card(ctx, r.id, board.Edit)
	if err != nil {
		return err
	}
	in := app.MoveCardInput{CardInput: app.CardInput{CardID: r.id}, ListID: card.ListID}
	if list, ok := r.e.Changes["listId"].From.(string); ok {
		in.ListID = list
	}
	at, err := former[board.Position](r.e, "position")
	if err != nil {
		return err
	}
	if at != nil {
		in.Position = *at
		if err = first(app.MoveCard(ctx, r.tx, in)); !isAboutPosition(err) {
			return err
		}
		in.Position = board.Position{}
	}
	if in.ListID == card.ListID {
		return notUndoable("The card that was before it is not in the list any more.")
	}
	return first(app.MoveCard(ctx, r.tx, in))
}

// isAboutPosition reports whether an operation refused a position.
func isAboutPosition(err error) bool {
	f, ok := board.AsFault(err)
	return ok && slices.ContainsFunc(f.Details, func(d board.Detail) bool { return d.Field == "position" })
}

// due restores the dates that the change replaced.
func (r reverter) due(ctx context.Context) error {
	card, err := r.tx.Card(ctx, r.id, board.Edit)
	if err != nil {
		return err
	}
	due := card.Due
	for field, into := range map[string]**string{"dueDate": &due.DueDate, "startDate": &due.StartDate, "timeZone": &due.TimeZone} {
		if _, changed := r.e.Changes[field]; changed && err == nil {
			*into, err = former[string](r.e, field)
		}
	}
	for field, into := range map[string]**board.Instant{"dueAt": &due.DueAt, "startAt": &due.StartAt} {
		if _, changed := r.e.Changes[field]; changed && err == nil {
			*into, err = former[board.Instant](r.e, field)
		}
	}
	if err != nil {
		return err
	}
	return app.SetDue(ctx, r.tx, &card, due)
}

func (r reverter) list(ctx context.Context) error {
	list := app.ListInput{ListID: r.id}
	switch r.e.Type {
	case board.KindListCreated, board.KindListRestored:
		return first(app.ArchiveList(ctx, r.tx, list))
	case board.KindListArchived:
		return first(app.RestoreList(ctx, r.tx, list))
	case board.KindListMoved:
		at, err := former[board.Position](r.e, "position")
		if err != nil {
			return err
		}
		if at == nil { // earlier versions did not record it
			return r.unknown()
		}
		if err = first(app.MoveList(ctx, r.tx, app.MoveListInput{ListInput: list, Position: *at})); isAboutPosition(err) {
			return notUndoable("The list that was before it is not on the board any more.")
		}
		return err
	case board.KindListUpdated:
		in := app.UpdateListInput{ListInput: list}
		var err [4]error
		in.Name, err[0] = was[string](r, "name")
		in.WIPLimit.Value, err[1] = was[int](r, "wipLimit")
		in.WIPLimit.Set = r.is("wipLimit")
		in.WIPMode, err[2] = was[board.WIPMode](r, "wipMode")
		if err := errors.Join(err[:]...); err != nil {
			return err
		}
		return first(app.UpdateList(ctx, r.tx, in))
	}
	return r.unknown()
}

// label undoes a change to a label. A deleted label is created again, with another id.
func (r reverter) label(ctx context.Context) error {
	label := app.LabelInput{LabelID: r.id}
	if r.e.Type == board.KindLabelCreated {
		return first(app.DeleteLabel(ctx, r.tx, label))
	}
	name, err := former[string](r.e, "name")
	if err != nil {
		return err
	}
	color, err := former[board.Color](r.e, "color")
	if err != nil {
		return err
	}
	if r.e.Type == board.KindLabelDeleted && (name == nil || color == nil) {
		return r.unknown()
	}
	if r.e.Type == board.KindLabelDeleted {
		in := app.CreateLabelInput{BoardInput: app.BoardInput{BoardID: r.e.BoardID}, NewLabel: app.NewLabel{Name: *name, Color: *color}}
		l, err := app.CreateLabel(ctx, r.tx, in)
		r.renamed[r.object] = l.ID
		return err
	}
	if !r.is("name") {
		name = nil
	}
	if !r.is("color") {
		color = nil
	}
	return first(app.UpdateLabel(ctx, r.tx, app.UpdateLabelInput{LabelInput: label, Name: name, Color: color}))
}

// formerItem is an item in the changes of a deleted checklist.
type formerItem struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Done  bool   `json:"done"`
}

// checklist undoes a change to a checklist. A deleted checklist is added again, with other
// ids.
func (r reverter) checklist(ctx context.Context) error {
	checklist := app.ChecklistInput{ChecklistID: r.id}
	if r.e.Type == board.KindChecklistAdded {
		return first(app.DeleteChecklist(ctx, r.tx, checklist))
	}
	title, err := former[string](r.e, "title")
	if err != nil {
		return err
	}
	if r.e.Type == board.KindChecklistUpdated {
		return first(app.UpdateChecklist(ctx, r.tx, app.UpdateChecklistInput{ChecklistInput: checklist, Title: title}))
	}
	items, err := former[[]formerItem](r.e, "items")
	if err != nil {
		return err
	}
	if items == nil || title == nil { // earlier versions did not record the items
		return r.unknown()
	}
	in := app.AddChecklistInput{CardInput: app.CardInput{CardID: *r.e.CardID}, Title: *title}
	for _, item := range *items {
		in.Items = append(in.Items, item.Title)
	}
	again, err := app.AddChecklist(ctx, r.tx, in)
	if err != nil {
		return err
	}
	r.renamed[r.object] = again.ID
	for i, item := range *items {
		r.renamed[item.ID] = again.Items[i].ID
		if err := r.setDone(ctx, again.Items[i].ID, item.Done); err != nil {
			return err
		}
	}
	return nil
}

// setDone marks a new item as done if done is true.
func (r reverter) setDone(ctx context.Context, itemID string, done bool) error {
	if !done {
		return nil
	}
	return first(app.UpdateChecklistItem(ctx, r.tx, app.UpdateChecklistItemInput{ItemInput: app.ItemInput{ItemID: itemID}, Done: &done}))
}

// item undoes a change to a checklist item. A deleted item is added again, with another id.
func (r reverter) item(ctx context.Context) error {
	item := app.ItemInput{ItemID: r.id}
	if r.e.Type == board.KindItemAdded {
		return first(app.DeleteChecklistItem(ctx, r.tx, item))
	}
	title, err := former[string](r.e, "title")
	if err != nil {
		return err
	}
	at, err := former[board.Position](r.e, "position")
	if err != nil {
		return err
	}
	in := app.UpdateChecklistItemInput{ItemInput: item, Title: title, Position: at}
	switch r.e.Type {
	case board.KindItemDeleted:
		if title == nil {
			return r.unknown()
		}
		return r.restoreItem(ctx, *title)
	case board.KindItemCompleted, board.KindItemReopened:
		in.Done = new(r.e.Type == board.KindItemReopened)
	}
	if !r.is("title") {
		in.Title = nil
	}
	if !r.is("place") {
		in.Position = nil
	}
	if err = first(app.UpdateChecklistItem(ctx, r.tx, in)); isAboutPosition(err) {
		return notUndoable("The item that was before it is not in the checklist any more.")
	}
	return err
}

// restoreItem adds a deleted item again, at the bottom if the item before it is gone.
func (r reverter) restoreItem(ctx context.Context, title string) error {
	checklist := changedID(r.e.Changes["checklistId"])
	in := app.AddChecklistItemInput{ChecklistInput: app.ChecklistInput{ChecklistID: r.current(checklist)}, Title: title}
	if after, recorded := r.e.Changes["after"]; recorded { // earlier versions did not record it
		in.Position = board.Top()
		if id, ok := after.From.(string); ok {
			in.Position = board.After(r.current(id))
		}
	}
	again, err := app.AddChecklistItem(ctx, r.tx, in)
	if isAboutPosition(err) {
		in.Position = board.Position{}
		again, err = app.AddChecklistItem(ctx, r.tx, in)
	}
	if err != nil {
		return err
	}
	r.renamed[r.object] = again.ID
	return r.setDone(ctx, again.ID, r.e.Changes["done"].From == true)
}

func (r reverter) attachment(ctx context.Context) error {
	attachment := app.AttachmentInput{AttachmentID: r.id}
	switch r.e.Type {
	case board.KindAttachmentAdded:
		return first(app.DeleteAttachment(ctx, r.tx, attachment))
	case board.KindAttachmentRemoved:
		return first(app.RestoreAttachment(ctx, r.tx, attachment))
	}
	name, err := was[string](r, "name")
	if err != nil {
		return err
	}
	return first(app.UpdateAttachment(ctx, r.tx, app.UpdateAttachmentInput{AttachmentInput: attachment, Name: name}))
}

// cover makes the former picture the cover again, or removes the cover.
func (r reverter) cover(ctx context.Context) error {
	from, isShown := r.e.Changes["coverId"].From.(string)
	if !isShown {
		from, _ = r.e.Changes["coverId"].To.(string)
	}
	return first(app.UpdateAttachment(ctx, r.tx, app.UpdateAttachmentInput{
		AttachmentInput: app.AttachmentInput{AttachmentID: from}, Cover: new(isShown),
	}))
}

func (r reverter) board(ctx context.Context) error {
	this := app.BoardInput{BoardID: r.e.BoardID}
	switch r.e.Type {
	case board.KindBoardCreated:
		return first(app.ArchiveBoard(ctx, r.tx, this))
	case board.KindBoardUpdated:
		if r.is("visibility") || r.is("features") {
			return notUndoable("Change the visibility and the features of the board in its settings.")
		}
		in := app.UpdateBoardInput{BoardInput: this}
		var err [4]error
		in.Name, err[0] = was[string](r, "name")
		in.Description, err[1] = was[string](r, "description")
		in.Color.Value, err[2] = was[board.Color](r, "color")
		in.Color = op.Optional[board.Color]{Set: r.is("color"), Value: in.Color.Value}
		in.Background.Value, err[3] = was[string](r, "background")
		in.Background = op.Optional[string]{Set: r.is("background"), Value: in.Background.Value}
		if err := errors.Join(err[:]...); err != nil {
			return err
		}
		return first(app.UpdateBoard(ctx, r.tx, in))
	}
	return r.unknown()
}
