package app

import (
	"context"
	"slices"
	"strconv"

	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/store"
)

// Expanded holds the records on the cards of a response that the caller chose. It has at most op.MaxExpanded, where
// checklist items count and their checklists do not.
type Expanded struct {
	Comments    []board.Comment    `json:"comments,omitzero" doc:"The comments on the cards, grouped by card and oldest first. Absent unless chosen."`
	Checklists  []board.Checklist  `json:"checklists,omitzero" doc:"The checklists on the cards, grouped by card and oldest first. Absent unless chosen."`
	Attachments []board.Attachment `json:"attachments,omitzero" doc:"The attachments of the cards, grouped by card and oldest first. Absent unless chosen."`
	Activity    []board.Entry      `json:"activity,omitzero" doc:"The activity of the cards, grouped by card and newest first. Absent unless chosen."`
}

func expandCard(ctx context.Context, v *store.View, c board.CardDetail, names []string) (Expanded, error) {
	return expand(ctx, v, []board.Card{c.Card}, names)
}

func expandCards(ctx context.Context, v *store.View, page op.Page[board.Card], names []string) (Expanded, error) {
	return expand(ctx, v, page.Items, names)
}

// expand returns the records with the given names on loaded cards. It returns an invalid_request error if there are
// too many.
func expand(ctx context.Context, v *store.View, cards []board.Card, names []string) (out Expanded, err error) {
	ids, count := make([]string, len(cards)), map[string]int{}
	for i, c := range cards {
		ids[i] = c.ID
		count["comments"] += c.Comments
		count["checklists"] += c.ChecklistItems.Total
		count["attachments"] += c.Attachments
	}
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	left := op.MaxExpanded
	for _, name := range names {
		left -= count[name]
	}
	if left < 0 {
		return out, tooManyExpanded()
	}
	for _, name := range names {
		if err == nil {
			err = out.add(ctx, v, name, ids, left)
		}
	}
	if len(out.Activity) > left {
		return Expanded{}, tooManyExpanded()
	}
	return out, err
}

// add loads the records with a name. It loads at most one more entry of the activity than are left.
func (out *Expanded) add(ctx context.Context, v *store.View, name string, cardIDs []string, left int) (err error) {
	switch name {
	case "comments":
		out.Comments, err = v.CommentsOn(ctx, cardIDs)
	case "checklists":
		out.Checklists, err = v.ChecklistsOn(ctx, cardIDs)
	case "attachments":
		out.Attachments, err = v.AttachmentsOn(ctx, cardIDs)
	case "activity":
		out.Activity, err = v.ActivityOn(ctx, cardIDs, left+1)
	}
	return err
}

func tooManyExpanded() error {
	most := "at most " + strconv.Itoa(op.MaxExpanded) + " records"
	f := board.Invalid("expand returns %s. Request fewer cards with limit, or list the records of each card.", most).
		Allows(op.ExpandParameter, board.RuleValue, most)
	f.Reason = board.ReasonExpandLimit
	return f
}
