package app

import (
	"context"
	"slices"

	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/store"
)

// ListLabelsInput is the input of ListLabels.
type ListLabelsInput struct {
	BoardInput
	op.Paging
}

type labelKey struct {
	Name string `json:"n"`
	ID   string `json:"i"`
}

// ListLabels returns the labels of a board, sorted by name.
func ListLabels(ctx context.Context, v *store.View, in ListLabelsInput) (op.Page[board.Label], error) {
	var after labelKey
	if err := in.After(&after); err != nil {
		return op.Page[board.Label]{}, err
	}
	if err := v.CheckBoard(ctx, in.BoardID, board.View); err != nil {
		return op.Page[board.Label]{}, err
	}
	labels, err := v.Labels(ctx, in.BoardID, after.Name, after.ID, in.Size()+1)
	return op.Cut(labels, in.Size(), func(l board.Label) any { return labelKey{l.Name, l.ID} }), err
}

// CreateLabelInput holds the fields of a new label.
type CreateLabelInput struct {
	BoardInput
	NewLabel
}

// NewLabel holds the name and the color of a new label.
type NewLabel struct {
	Name  string      `json:"name,omitempty" maxLength:"512" doc:"The label's name; may be empty for a label with only a color." example:"Bug"`
	Color board.Color `json:"color" enum:"gray,red,orange,yellow,lime,green,teal,sky,blue,purple,pink,brown" doc:"The label's color." example:"red"`
}

// CreateLabel creates a label on a board.
func CreateLabel(ctx context.Context, tx *store.Tx, in CreateLabelInput) (board.Label, error) {
	if _, err := tx.Board(ctx, in.BoardID, board.Edit); err != nil {
		return board.Label{}, err
	}
	name, err := labelName(in.Name)
	if err != nil {
		return board.Label{}, err
	}
	count, err := tx.CountLabels(ctx, in.BoardID)
	if err != nil {
		return board.Label{}, err
	}
	if err := board.CheckLimit("labels on a board", count, 1, tx.Limits().Labels); err != nil {
		return board.Label{}, err
	}
	l := board.Label{ID: tx.NewID("lbl_"), BoardID: in.BoardID, Name: name, Color: in.Color}
	if err := tx.InsertLabel(ctx, &l); err != nil {
		return l, err
	}
	tx.Emit(l.BoardID, board.LabelCreated(l))
	return l, nil
}

func labelName(s string) (string, error) {
	if s == "" {
		return "", nil
	}
	return title("name", s)
}

// LabelInput identifies a label.
type LabelInput struct {
	LabelID string `json:"labelId" maxLength:"64" doc:"The id of the label." example:"lbl_01jb2m3n4p5q6r7s8t9v0w1x2y"`
}

// GetLabel returns a label.
func GetLabel(ctx context.Context, v *store.View, in LabelInput) (board.Label, error) {
	return v.Label(ctx, in.LabelID, board.View)
}

// UpdateLabelInput holds the fields to change. Absent fields stay unchanged.
type UpdateLabelInput struct {
	LabelInput
	Name  *string      `json:"name,omitempty" maxLength:"512" doc:"The new name." example:"Defect"`
	Color *board.Color `json:"color,omitempty" enum:"gray,red,orange,yellow,lime,green,teal,sky,blue,purple,pink,brown" doc:"The new color." example:"orange"`
}

// UpdateLabel changes a label on all cards that have it.
func UpdateLabel(ctx context.Context, tx *store.Tx, in UpdateLabelInput) (board.Label, error) {
	l, err := tx.Label(ctx, in.LabelID, board.Edit)
	if err != nil {
		return l, err
	}
	changes := board.Changes{}
	if in.Name != nil {
		name, err := labelName(*in.Name)
		if err != nil {
			return l, err
		}
		board.Set(changes, "name", l.Name, name)
		l.Name = name
	}
	if in.Color != nil {
		board.Set(changes, "color", l.Color, *in.Color)
		l.Color = *in.Color
	}
	if len(changes) == 0 {
		return l, nil
	}
	tx.Emit(l.BoardID, board.LabelUpdated(l, changes))
	return l, tx.UpdateLabel(ctx, &l)
}

// labelSlice is the maximum number of cards from which one transaction removes a label.
const labelSlice = 100

// DeleteLabel deletes a label and removes it from its cards. It records an event
// for each open card that had the label, and one for the label itself.
func DeleteLabel(ctx context.Context, tx *store.Tx, in LabelInput) (Deleted, error) {
	l, err := tx.Label(ctx, in.LabelID, board.Edit)
	if err != nil {
		return Deleted{}, err
	}
	for more := true; more; {
		if more, err = removeFromSomeCards(ctx, tx, l); err != nil {
			return Deleted{}, err
		}
	}
	tx.Emit(l.BoardID, board.LabelDeleted(l))
	return Deleted{l.ID}, tx.DeleteLabel(ctx, l.ID)
}

// removeLabelInSlices removes a label from its cards, in separate transactions, until at
// most labelSlice cards are left. DeleteLabel then removes it from the rest and deletes it.
// Thousands of changes in one transaction would block other writers. After an
// interruption, the changes so far are valid and recorded, and the next attempt continues.
func removeLabelInSlices(ctx context.Context, db *store.DB, caller board.Caller, in *LabelInput) error {
	for {
		many := false
		if err := db.Read(ctx, caller, func(v *store.View) error {
			cards, err := v.LabelledCards(ctx, in.LabelID, labelSlice+1)
			many = len(cards) > labelSlice
			return err
		}); err != nil || !many {
			return err
		}
		if _, err := db.WriteSliceFor(ctx, caller, func(tx *store.Tx) error {
			l, err := tx.Label(ctx, in.LabelID, board.Edit)
			if err != nil {
				return err
			}
			if _, err := removeFromSomeCards(ctx, tx, l); err != nil {
				return err
			}
			return tx.Audit(ctx, "delete_label", l.ID)
		}); err != nil {
			return err
		}
	}
}

// removeFromSomeCards removes a label from at most labelSlice open cards. It reports
// whether more open cards may have the label.
func removeFromSomeCards(ctx context.Context, tx *store.Tx, l board.Label) (more bool, err error) {
	cards, err := tx.LabelledCards(ctx, l.ID, labelSlice)
	if err != nil {
		return false, err
	}
	for _, card := range cards {
		before := card.Labels
		card.Labels = slices.DeleteFunc(slices.Clone(before), func(have board.LabelRef) bool { return have.ID == l.ID })
		tx.Emit(l.BoardID, board.CardLabelsChanged(card, before, []string{}, []string{l.ID}))
	}
	return len(cards) == labelSlice, tx.RemoveLabel(ctx, l.ID, cards)
}
