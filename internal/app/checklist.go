package app

import (
	"context"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// ListChecklists returns the checklists of a card, oldest first.
func ListChecklists(ctx context.Context, v *store.View, in CardInput) ([]board.Checklist, error) {
	if _, err := v.Card(ctx, in.CardID, board.View); err != nil {
		return nil, err
	}
	return v.Checklists(ctx, in.CardID)
}

// AddChecklistInput holds the fields of a new checklist.
type AddChecklistInput struct {
	CardInput
	Title string   `json:"title" maxLength:"512" doc:"The checklist's title." example:"Before sending"`
	Items []string `json:"items,omitempty" maxItems:"200" doc:"The titles of the checklist's items, in order." example:"[\"Check the names\",\"Check the date\"]"`
}

// AddChecklist adds a checklist with its initial items to a card.
func AddChecklist(ctx context.Context, tx *store.Tx, in AddChecklistInput) (board.Checklist, error) {
	card, err := tx.Card(ctx, in.CardID, board.Edit)
	if err != nil {
		return board.Checklist{}, err
	}
	list := board.Checklist{ID: tx.NewID("chk_"), CardID: card.ID, Items: []board.ChecklistItem{}}
	if list.Title, err = title("title", in.Title); err != nil {
		return list, err
	}
	for _, text := range in.Items {
		item := board.ChecklistItem{ID: tx.NewID("chi_")}
		if item.Title, err = itemTitle(text); err != nil {
			return list, err
		}
		list.Items = append(list.Items, item)
	}
	count, err := tx.CountChecklists(ctx, card.ID)
	if err != nil {
		return list, err
	}
	if err := board.CheckLimit("checklists on a card", count, 1, tx.Limits().Checklists); err != nil {
		return list, err
	}
	if err := board.CheckLimit("items in a checklist", 0, len(list.Items), tx.Limits().Items); err != nil {
		return list, err
	}
	if err := tx.InsertChecklist(ctx, &list); err != nil {
		return list, err
	}
	card.ChecklistItems.Total += len(list.Items)
	tx.Emit(card.BoardID, board.ChecklistAdded(card, list))
	return list, tx.TouchCard(ctx, &card)
}

func itemTitle(s string) (string, error) {
	if len([]rune(s)) > 512 {
		return "", board.Invalid("items: each title must be a string of at most 512 characters.").
			In("items", board.RuleValue)
	}
	return title("items", s)
}

// ChecklistInput identifies a checklist.
type ChecklistInput struct {
	ChecklistID string `json:"checklistId" maxLength:"64" doc:"The id of the checklist." example:"chk_01jb2m3n4p5q6r7s8t9v0w1x2y"`
}

// GetChecklist returns a checklist with its items in order.
func GetChecklist(ctx context.Context, v *store.View, in ChecklistInput) (board.Checklist, error) {
	return v.Checklist(ctx, in.ChecklistID, board.View)
}

// UpdateChecklistInput holds the fields to change.
type UpdateChecklistInput struct {
	ChecklistInput
	Title *string `json:"title,omitempty" maxLength:"512" doc:"The new title." example:"Before printing"`
}

// UpdateChecklist changes a checklist's title.
func UpdateChecklist(ctx context.Context, tx *store.Tx, in UpdateChecklistInput) (board.Checklist, error) {
	list, card, err := tx.Checklist(ctx, in.ChecklistID, board.Edit)
	if err != nil || in.Title == nil {
		return list, err
	}
	t, err := title("title", *in.Title)
	if err != nil || t == list.Title {
		return list, err
	}
	changes := board.Changes{"title": {From: list.Title, To: t}}
	list.Title = t
	tx.Emit(card.BoardID, board.ChecklistUpdated(card, list, changes))
	if err := tx.UpdateChecklist(ctx, &list); err != nil {
		return list, err
	}
	return list, tx.TouchCard(ctx, &card)
}

// DeleteChecklist deletes a checklist with its items.
func DeleteChecklist(ctx context.Context, tx *store.Tx, in ChecklistInput) (Deleted, error) {
	list, card, err := tx.Checklist(ctx, in.ChecklistID, board.Edit)
	if err != nil {
		return Deleted{}, err
	}
	for _, item := range list.Items {
		card.ChecklistItems.Total--
		if item.Done {
			card.ChecklistItems.Done--
		}
	}
	tx.Emit(card.BoardID, board.ChecklistDeleted(card, list))
	if err := tx.DeleteChecklist(ctx, list); err != nil {
		return Deleted{}, err
	}
	return Deleted{list.ID}, tx.TouchCard(ctx, &card)
}

// AddChecklistItemInput holds the fields of a new item.
type AddChecklistItemInput struct {
	ChecklistInput
	Title    string         `json:"title" maxLength:"512" doc:"The item's title." example:"Check the names"`
	Position board.Position `json:"position,omitzero" doc:"The position in the checklist. Defaults to the bottom."`
}

// AddChecklistItem adds an item to a checklist.
func AddChecklistItem(ctx context.Context, tx *store.Tx, in AddChecklistItemInput) (board.ChecklistItem, error) {
	list, card, err := tx.Checklist(ctx, in.ChecklistID, board.Edit)
	if err != nil {
		return board.ChecklistItem{}, err
	}
	item := board.ChecklistItem{ID: tx.NewID("chi_"), ChecklistID: list.ID}
	if item.Title, err = title("title", in.Title); err != nil {
		return item, err
	}
	if err := board.CheckLimit("items in a checklist", len(list.Items), 1, tx.Limits().Items); err != nil {
		return item, err
	}
	after, err := tx.InsertItem(ctx, &item, in.Position)
	if err != nil {
		return item, err
	}
	card.ChecklistItems.Total++
	tx.Emit(card.BoardID, board.ItemAdded(card, item, after))
	return item, tx.TouchCard(ctx, &card)
}

// ItemInput identifies a checklist item.
type ItemInput struct {
	ItemID string `json:"itemId" maxLength:"64" doc:"The id of the item." example:"chi_01jb2m3n4p5q6r7s8t9v0w1x2y"`
}

// UpdateChecklistItemInput holds the fields to change. Absent fields stay
// unchanged.
type UpdateChecklistItemInput struct {
	ItemInput
	Title    *string         `json:"title,omitempty" maxLength:"512" doc:"The new title." example:"Check all names"`
	Done     *bool           `json:"done,omitempty" doc:"Whether the item is done." example:"true"`
	Position *board.Position `json:"position,omitempty" doc:"The new position in the checklist."`
}

// UpdateChecklistItem changes an item. It records one event for a changed title
// or position, and another for a changed done state.
func UpdateChecklistItem(ctx context.Context, tx *store.Tx, in UpdateChecklistItemInput) (board.ChecklistItem, error) {
	item, card, err := tx.Item(ctx, in.ItemID, board.Edit)
	if err != nil {
		return item, err
	}
	changes := board.Changes{}
	if in.Title != nil {
		t, err := title("title", *in.Title)
		if err != nil {
			return item, err
		}
		board.Set(changes, "title", item.Title, t)
		item.Title = t
	}
	if in.Position != nil {
		p, err := tx.PlaceItem(ctx, &item, *in.Position)
		if err != nil {
			return item, err
		}
		if p.Moved {
			changes["position"] = board.FromTo{From: board.PositionAfter(p.From), To: board.PositionAfter(p.To)}
		}
	}
	doneChanged := in.Done != nil && *in.Done != item.Done
	if len(changes) == 0 && !doneChanged {
		return item, nil
	}
	if len(changes) > 0 {
		tx.Emit(card.BoardID, board.ItemUpdated(card, item, board.KindItemUpdated, changes))
	}
	switch {
	case doneChanged && *in.Done:
		now := tx.Now()
		item.DoneAt = &now
		card.ChecklistItems.Done++
		tx.Emit(card.BoardID, board.ItemCompleted(card, item))
	case doneChanged:
		item.DoneAt = nil
		card.ChecklistItems.Done--
		tx.Emit(card.BoardID, board.ItemUpdated(card, item, board.KindItemReopened, board.Changes{"done": {From: true, To: false}}))
	}
	if err := tx.UpdateItem(ctx, &item); err != nil {
		return item, err
	}
	return item, tx.TouchCard(ctx, &card)
}

// DeleteChecklistItem deletes a checklist item.
func DeleteChecklistItem(ctx context.Context, tx *store.Tx, in ItemInput) (Deleted, error) {
	item, card, err := tx.Item(ctx, in.ItemID, board.Edit)
	if err != nil {
		return Deleted{}, err
	}
	before, err := tx.ItemBefore(ctx, item)
	if err != nil {
		return Deleted{}, err
	}
	card.ChecklistItems.Total--
	if item.Done {
		card.ChecklistItems.Done--
	}
	tx.Emit(card.BoardID, board.ItemDeleted(card, item, before))
	if err := tx.DeleteItem(ctx, item.ID); err != nil {
		return Deleted{}, err
	}
	return Deleted{item.ID}, tx.TouchCard(ctx, &card)
}
