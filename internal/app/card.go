package app

import (
	"context"
	"slices"

	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/store"
)

// CardInput identifies a card.
type CardInput struct {
	CardID string `json:"cardId" maxLength:"64" doc:"The id of the card." example:"crd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
}

// basis returns the board of the card. It returns an error if the caller cannot see the card.
func (in CardInput) basis(ctx context.Context, v *store.View) (op.Basis, error) {
	boardID, err := v.BoardOfCard(ctx, in.CardID, board.View)
	return op.Basis{BoardID: boardID}, err
}

// GetCard returns a card with its checklists.
func GetCard(ctx context.Context, v *store.View, in CardInput) (board.CardDetail, error) {
	return v.CardDetail(ctx, in.CardID, board.View)
}

// CreateCardInput holds the fields of a new card.
type CreateCardInput struct {
	ListID      string         `json:"listId" maxLength:"64" doc:"The id of the list to create the card in." example:"lst_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Title       string         `json:"title" maxLength:"512" doc:"The card's title." example:"Write the press release"`
	Description string         `json:"description,omitempty" maxLength:"16384" doc:"The card's description, in Markdown." example:"Two paragraphs, one picture."`
	Labels      []string       `json:"labels,omitempty" maxItems:"1000" doc:"The ids of the card's labels, which must be labels of the board." example:"[\"lbl_01jb2m3n4p5q6r7s8t9v0w1x2y\"]"`
	Assignees   []string       `json:"assignees,omitempty" maxItems:"1000" doc:"The ids of the assignees, who must be able to see the board." example:"[\"usr_01jb2m3n4p5q6r7s8t9v0w1x2y\"]"`
	Due         *DueInput      `json:"due,omitempty" doc:"When the card is due, and when work on it starts."`
	Position    board.Position `json:"position,omitzero" doc:"The position in the list. Defaults to the bottom."`
}

// DueInput holds a due date and a start as a caller gives them. Absent fields are
// empty.
type DueInput struct {
	DueDate   string `json:"dueDate,omitempty" maxLength:"10" doc:"The due date, YYYY-MM-DD." example:"2026-03-14"`
	DueTime   string `json:"dueTime,omitempty" maxLength:"5" doc:"The time of day at which the card is due, HH:MM. If it is absent, the card is due all day." example:"09:30"`
	StartDate string `json:"startDate,omitempty" maxLength:"10" doc:"The date on which work starts, YYYY-MM-DD. Requires the startDates feature." example:"2026-03-10"`
	StartTime string `json:"startTime,omitempty" maxLength:"5" doc:"The time of day at which work starts, HH:MM." example:"09:00"`
	TimeZone  string `json:"timeZone,omitempty" maxLength:"64" doc:"The IANA time zone of the times. Required with a time." example:"Europe/Berlin"`
}

// checkStart returns an error if the input has a start and the board's startDates
// feature is disabled.
func (in DueInput) checkStart(a *board.Access) error {
	if in.StartDate == "" && in.StartTime == "" {
		return nil
	}
	return a.Needs(board.StartDates)
}

// CreateCard creates a card at a position in a list.
func CreateCard(ctx context.Context, tx *store.Tx, in CreateCardInput) (board.Card, error) {
	list, err := tx.TargetList(ctx, in.ListID, board.AddCards)
	if err != nil {
		return board.Card{}, err
	}
	a := tx.On(list.BoardID)
	card := board.Card{
		ID: tx.NewID("crd_"), BoardID: list.BoardID, ListID: list.ID, Description: &in.Description, CreatedBy: tx.Caller().Person(),
		Labels: []board.LabelRef{}, Assignees: []board.UserRef{},
	}
	if card.Title, err = title("title", in.Title); err != nil {
		return board.Card{}, err
	}
	if in.Due != nil {
		if err := in.Due.checkStart(a); err != nil {
			return board.Card{}, err
		}
		if card.Due, err = board.DueInput(*in.Due).Resolve(); err != nil {
			return board.Card{}, board.Within("due", err)
		}
	}
	if err := roomForCard(tx, list, 1); err != nil {
		return board.Card{}, err
	}
	if card.Labels, _, err = pickLabels(ctx, tx, card, idChange{add: in.Labels, addField: "labels"}); err != nil {
		return board.Card{}, err
	}
	if card.Assignees, _, err = pickAssignees(ctx, tx, card, idChange{add: in.Assignees, addField: "assignees"}); err != nil {
		return board.Card{}, err
	}
	after, err := tx.InsertCard(ctx, &card, in.Position)
	if err != nil {
		return board.Card{}, err
	}
	tx.Emit(card.BoardID, board.CardCreated(card, after))
	return card, nil
}

// roomForCard returns an error if the board has no room for another open card, or if the
// list has reached its hard WIP limit. added is 1 for a new card, and 0 for one that is
// restored from the archive.
func roomForCard(tx *store.Tx, list board.List, added int) error {
	a := tx.On(list.BoardID)
	if err := roomForCards(a, tx.Limits(), 1, added); err != nil {
		return err
	}
	return roomInList(list, a)
}

// roomInList returns an error if another open card would exceed the list's hard
// WIP limit. It is not called when a card moves within its list.
func roomInList(list board.List, a *board.Access) error {
	if list.WIPLimit == nil || list.WIPMode != board.WIPHard || !a.Features.Has(board.WIPLimits) || list.OpenCards < *list.WIPLimit {
		return nil
	}
	return board.Refuse(board.CodeCapacityFull, "The list has reached its WIP limit of %d. Move a card out of it first.", *list.WIPLimit)
}

// UpdateCardInput holds the fields to change. Absent fields stay unchanged.
type UpdateCardInput struct {
	CardInput
	Title       *string `json:"title,omitempty" maxLength:"512" doc:"The new title." example:"Write two press releases"`
	Description *string `json:"description,omitempty" maxLength:"16384" doc:"The new description, in Markdown." example:"One of them in French."`
	Done        *bool   `json:"done,omitempty" doc:"Whether the card is done." example:"true"`
}

// UpdateCard changes a card's title or description, marks it as done, or
// reopens it. It records two events if both the text and the done state change.
func UpdateCard(ctx context.Context, tx *store.Tx, in UpdateCardInput) (board.Card, error) {
	card, err := tx.Card(ctx, in.CardID, board.Edit)
	if err != nil {
		return card, err
	}
	before := card
	changes := board.Changes{}
	if in.Title != nil {
		t, err := title("title", *in.Title)
		if err != nil {
			return card, err
		}
		board.Set(changes, "title", card.Title, t)
		card.Title = t
	}
	if in.Description != nil {
		board.Set(changes, "description", *card.Description, *in.Description)
		card.Description = in.Description
	}
	doneChanged := in.Done != nil && *in.Done != card.Done
	if len(changes) == 0 && !doneChanged {
		return card, nil
	}
	if len(changes) > 0 {
		tx.Emit(card.BoardID, board.CardUpdated(card, changes))
	}
	switch {
	case doneChanged && *in.Done:
		now := tx.Now()
		card.DoneAt = &now
		tx.On(card.BoardID).DoneCards++
		tx.Emit(card.BoardID, board.CardCompleted(card))
	case doneChanged:
		card.DoneAt = nil
		tx.On(card.BoardID).DoneCards--
		tx.Emit(card.BoardID, board.CardReopened(card))
	}
	if len(changes) > 0 {
		return card, tx.UpdateCardText(ctx, &card, before)
	}
	return card, tx.UpdateCardState(ctx, &card)
}

// MoveCardInput is the input of MoveCard.
type MoveCardInput struct {
	CardInput
	ListID   string         `json:"listId" maxLength:"64" doc:"The id of a list on the same board." example:"lst_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Position board.Position `json:"position,omitzero" doc:"The position in the list. Defaults to the bottom."`
}

// MoveCard moves a card to a position in a list of its own board. If the card
// is already there, nothing changes and no event is recorded.
func MoveCard(ctx context.Context, tx *store.Tx, in MoveCardInput) (board.Card, error) {
	card, err := tx.Card(ctx, in.CardID, board.Edit)
	if err != nil {
		return card, err
	}
	from := card.ListID
	if in.ListID != from {
		list, err := tx.TargetList(ctx, in.ListID, board.Edit)
		if err != nil {
			return card, err
		}
		if list.BoardID != card.BoardID {
			return card, board.Invalid("listId must be a list of the card's own board. Use move_card_to_board to "+
				"move a card to another board.").In("listId", board.RuleValue)
		}
		if err := roomInList(list, tx.On(list.BoardID)); err != nil {
			return card, err
		}
	}
	p, err := tx.PlaceCard(ctx, &card, in.ListID, in.Position)
	switch {
	case err != nil || !p.Moved:
		return card, err
	case in.ListID != from:
		tx.Emit(card.BoardID, board.CardMoved(card, from, p.From, p.To))
	default:
		tx.Emit(card.BoardID, board.CardReordered(card, p.From, p.To))
	}
	return card, nil
}

// ArchiveCard archives a card.
func ArchiveCard(ctx context.Context, tx *store.Tx, in CardInput) (board.Card, error) {
	card, err := tx.Card(ctx, in.CardID, board.Edit)
	if err != nil {
		return card, err
	}
	now := tx.Now()
	card.SetArchived(&now, nil)
	tx.On(card.BoardID).CountOpen(card, -1)
	tx.Emit(card.BoardID, board.CardArchived(card))
	return card, tx.UpdateCardState(ctx, &card)
}

// RestoreCard restores an archived card to its former position, or a deleted card to the
// bottom of its list. An open card stays unchanged. RestoreCard returns an error if the
// card's list is archived or has no room.
func RestoreCard(ctx context.Context, tx *store.Tx, in CardInput) (board.Card, error) {
	card, err := tx.Card(ctx, in.CardID, board.Unarchive)
	if board.IsCode(err, board.CodeNotFound) {
		return restoreDeletedCard(ctx, tx, in.CardID)
	}
	if err != nil || card.ArchivedAt == nil {
		return card, err
	}
	list, err := tx.TargetList(ctx, card.ListID, board.Edit)
	if err != nil {
		return card, err
	}
	if err := roomForCard(tx, list, 0); err != nil {
		return card, err
	}
	since := card.ArchivedAt
	card.SetArchived(nil, nil)
	tx.On(card.BoardID).CountOpen(card, 1)
	if err := tx.UpdateCardState(ctx, &card); err != nil {
		return card, err
	}
	after, err := tx.CardBefore(ctx, card)
	tx.Emit(card.BoardID, board.CardRestored(card, since, after))
	return card, err
}

// CardDates holds the dates of a card to change. An absent date stays unchanged; null
// clears it.
type CardDates struct {
	DueDate   op.Optional[string] `json:"dueDate,omitzero" maxLength:"10" doc:"The due date, YYYY-MM-DD; null clears it." example:"2026-03-14"`
	DueTime   string              `json:"dueTime,omitempty" maxLength:"5" doc:"The time of day at which the card is due, HH:MM. With dueDate alone, the card is due all day." example:"09:30"`
	StartDate op.Optional[string] `json:"startDate,omitzero" maxLength:"10" doc:"The date on which work starts, YYYY-MM-DD. Requires the startDates feature; null clears it." example:"2026-03-10"`
	StartTime string              `json:"startTime,omitempty" maxLength:"5" doc:"The time of day at which work starts, HH:MM." example:"09:00"`
	TimeZone  string              `json:"timeZone,omitempty" maxLength:"64" doc:"The IANA time zone of the times. Required with a time." example:"Europe/Berlin"`
}

// SetCardDueInput is the input of SetCardDue.
type SetCardDueInput struct {
	CardInput
	CardDates
}

// SetCardDue changes a card's due date and start.
func SetCardDue(ctx context.Context, tx *store.Tx, in SetCardDueInput) (board.Card, error) {
	card, err := tx.Card(ctx, in.CardID, board.Edit)
	if err != nil {
		return card, err
	}
	to := DueInput{DueTime: in.DueTime, StartTime: in.StartTime, TimeZone: in.TimeZone}
	if in.DueDate.Value != nil {
		to.DueDate = *in.DueDate.Value
	}
	if in.StartDate.Value != nil {
		to.StartDate = *in.StartDate.Value
	}
	if err := to.checkStart(tx.On(card.BoardID)); err != nil {
		return card, err
	}
	due, err := board.DueChange{
		DueInput: board.DueInput(to), ClearDue: in.DueDate.Set && in.DueDate.Value == nil, ClearStart: in.StartDate.Set &&
			in.StartDate.Value == nil,
	}.Resolve(card.Due)
	if err != nil {
		return card, err
	}
	return card, SetDue(ctx, tx, &card, due)
}

// ClearCardDue clears a card's due date and start.
func ClearCardDue(ctx context.Context, tx *store.Tx, in CardInput) (board.Card, error) {
	card, err := tx.Card(ctx, in.CardID, board.Edit)
	if err != nil {
		return card, err
	}
	return card, SetDue(ctx, tx, &card, board.Due{})
}

// SetDue changes a card's due date and start, and records an event. It does nothing
// if they are already the same.
func SetDue(ctx context.Context, tx *store.Tx, card *board.Card, due board.Due) error {
	before := card.Due
	if before.Equal(due) {
		return nil
	}
	card.Due = due
	tx.Emit(card.BoardID, board.CardDueDateChanged(*card, before))
	return tx.UpdateCardState(ctx, card)
}

// SetCardLabelsInput is the input of SetCardLabels.
type SetCardLabelsInput struct {
	CardInput
	Add    []string `json:"add,omitempty" maxItems:"1000" doc:"The ids of the labels to add, which must be labels of the board." example:"[\"lbl_01jb2m3n4p5q6r7s8t9v0w1x2y\"]"`
	Remove []string `json:"remove,omitempty" maxItems:"1000" doc:"The ids of the labels to remove." example:"[\"lbl_01jb2m3n4p5q6r7s8t9v0w1x2z\"]"`
}

// SetCardLabels adds labels to a card and removes others. It ignores labels to
// add that the card already has, and labels to remove that the card does not have.
func SetCardLabels(ctx context.Context, tx *store.Tx, in SetCardLabelsInput) (board.Card, error) {
	return setLabels(ctx, tx, in.CardID, idChange{in.Add, in.Remove, "add", "remove"})
}

func setLabels(ctx context.Context, tx *store.Tx, cardID string, c idChange) (board.Card, error) {
	card, err := tx.Card(ctx, cardID, board.Edit)
	if err != nil {
		return card, err
	}
	before := card.Labels
	labels, diff, err := pickLabels(ctx, tx, card, c)
	if err != nil || diff.empty() {
		return card, err
	}
	for _, id := range diff.added {
		if err := tx.AddCardLabel(ctx, card.ID, id); err != nil {
			return card, err
		}
	}
	for _, id := range diff.removed {
		if err := tx.RemoveCardLabel(ctx, card.ID, id); err != nil {
			return card, err
		}
	}
	card.Labels = labels
	tx.Emit(card.BoardID, board.CardLabelsChanged(card, before, diff.added, diff.removed))
	return card, tx.TouchCard(ctx, &card)
}

// SetCardAssigneesInput is the input of SetCardAssignees.
type SetCardAssigneesInput struct {
	CardInput
	Add    []string `json:"add,omitempty" maxItems:"1000" doc:"The ids of the people to assign, who must be able to see the board." example:"[\"usr_01jb2m3n4p5q6r7s8t9v0w1x2y\"]"`
	Remove []string `json:"remove,omitempty" maxItems:"1000" doc:"The ids of the people to unassign." example:"[\"usr_01jb2m3n4p5q6r7s8t9v0w1x2z\"]"`
}

// SetCardAssignees assigns people to a card and unassigns others. It ignores
// people to add who are already assigned, and people to remove who are not.
func SetCardAssignees(ctx context.Context, tx *store.Tx, in SetCardAssigneesInput) (board.Card, error) {
	return setAssignees(ctx, tx, in.CardID, idChange{in.Add, in.Remove, "add", "remove"})
}

func setAssignees(ctx context.Context, tx *store.Tx, cardID string, c idChange) (board.Card, error) {
	card, err := tx.Card(ctx, cardID, board.Edit)
	if err != nil {
		return card, err
	}
	before := card.Assignees
	assignees, diff, err := pickAssignees(ctx, tx, card, c)
	if err != nil || diff.empty() {
		return card, err
	}
	for _, id := range diff.added {
		if err := tx.AddAssignee(ctx, card.ID, id); err != nil {
			return card, err
		}
	}
	for _, id := range diff.removed {
		if err := tx.RemoveAssignee(ctx, card.ID, id); err != nil {
			return card, err
		}
	}
	card.Assignees = assignees
	tx.Emit(card.BoardID, board.CardAssigneesChanged(card, before, diff.added, diff.removed))
	return card, tx.TouchCard(ctx, &card)
}

// idChange is a change of a card's labels or assignees: the ids to add and to remove, and the
// names of these two fields for errors.
type idChange struct {
	add, remove           []string
	addField, removeField string
}

// idDiff holds the ids that a change adds to a set and removes from it.
type idDiff struct{ added, removed []string }

func (d idDiff) empty() bool { return len(d.added) == 0 && len(d.removed) == 0 }

// diff returns the ids to add that are not in have, and the ids to remove that are. It
// returns an error if the change adds and removes the same id.
func (c idChange) diff(have []string) (idDiff, error) {
	d := idDiff{added: []string{}, removed: []string{}}
	for _, id := range c.add {
		if slices.Contains(c.remove, id) {
			return d, board.Invalid("%s and %s must not both contain %q.", c.addField, c.removeField, id).
				In(c.addField, board.RuleValue)
		}
		if !slices.Contains(have, id) && !slices.Contains(d.added, id) {
			d.added = append(d.added, id)
		}
	}
	for _, id := range c.remove {
		if slices.Contains(have, id) && !slices.Contains(d.removed, id) {
			d.removed = append(d.removed, id)
		}
	}
	return d, nil
}

// pick returns the labels or assignees of a card after a change, and the ids that change. load
// returns those of the given ids that the card may have. The others are errors, and allowed
// completes the phrase "must contain only".
func pick[R any](
	have []R, c idChange, idOf func(R) string, load func(ids []string) (map[string]R, error), allowed string,
) ([]R, idDiff, error) {
	ids := make([]string, len(have))
	for i, r := range have {
		ids[i] = idOf(r)
	}
	d, err := c.diff(ids)
	if err != nil || d.empty() {
		return have, d, err
	}
	known, err := load(d.added)
	if err != nil {
		return nil, d, err
	}
	out := slices.DeleteFunc(slices.Clone(have), func(r R) bool { return slices.Contains(d.removed, idOf(r)) })
	for _, id := range d.added {
		r, ok := known[id]
		if !ok {
			return nil, d, board.Invalid("%s must contain only %s; %q is not one.", c.addField, allowed, id).
				In(c.addField, board.RuleValue)
		}
		out = append(out, r)
	}
	return out, d, nil
}

// pickLabels returns a card's labels after a change, and the ids that change.
func pickLabels(ctx context.Context, tx *store.Tx, card board.Card, c idChange) ([]board.LabelRef, idDiff, error) {
	load := func(ids []string) (map[string]board.LabelRef, error) { return tx.LabelsOf(ctx, card.BoardID, ids) }
	out, d, err := pick(card.Labels, c, func(l board.LabelRef) string { return l.ID }, load, "ids of labels of the card's board")
	slices.SortFunc(out, board.LabelRef.Compare)
	return out, d, err
}

// pickAssignees is like pickLabels, but for assignees. It returns an error if the card would
// have too many.
func pickAssignees(ctx context.Context, tx *store.Tx, card board.Card, c idChange) ([]board.UserRef, idDiff, error) {
	load := func(ids []string) (map[string]board.UserRef, error) { return tx.PeopleOf(ctx, card.BoardID, ids) }
	out, d, err := pick(card.Assignees, c, func(u board.UserRef) string { return u.ID }, load, "ids of people who can see the board")
	if err != nil || d.empty() {
		return out, d, err
	}
	return out, d, board.CheckLimit("assignees on a card", len(card.Assignees)-len(d.removed), len(d.added), tx.Limits().Assignees)
}
