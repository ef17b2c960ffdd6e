package undo

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"cardwall/internal/app"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

// revert makes the opposite of a change, as far as its slots are free. The operations check
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
	}
	if e.Type == board.KindCommentAdded {
		return first(app.DeleteComment(ctx, tx, app.CommentInput{CommentID: r.id}))
	}
	return r.unknown()
}

// first returns the error of an operation.
func first[T any](_ T, err error) error { return err }

// reverter makes the opposite of one change.
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

// due sets those dates back that the change replaced.
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
