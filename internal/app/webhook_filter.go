package app

import (
	"context"
	"slices"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// filterInput holds the filter of a webhook. Absent fields stay unchanged.
type filterInput struct {
	Lists  []string `json:"lists,omitempty" maxItems:"50" doc:"Only for webhooks of a board: the ids of the lists whose events are sent. A card that moves from or to one of them matches, too. Empty for all lists." example:"[\"lst_01jb2m3n4p5q6r7s8t9v0w1x2y\"]"`
	Labels []string `json:"labels,omitempty" maxItems:"50" doc:"Only for webhooks of a board: the ids of labels. Only events on cards that have one of them are sent. Empty for all cards." example:"[\"lbl_01jb2m3n4p5q6r7s8t9v0w1x2y\"]"`
}

// setFilter changes the filter of a webhook. It returns an invalid_request error if the
// webhook covers a workspace, or a new id does not belong to the webhook's board.
func (in filterInput) setFilter(ctx context.Context, tx *store.Tx, w *board.Webhook) error {
	for _, f := range []struct {
		name  string
		given []string
		set   *[]string
		found func(context.Context, string, []string) ([]string, error)
	}{
		{"lists", in.Lists, &w.Lists, tx.ListIDs}, {"labels", in.Labels, &w.Labels, tx.LabelIDs},
	} {
		if f.given == nil {
			continue
		}
		ids := slices.Compact(slices.Sorted(slices.Values(f.given)))
		if len(ids) > 0 {
			if w.BoardID == nil {
				return board.Invalid("%s: only a webhook of a board can have filters.", f.name).In(f.name, board.RuleValue)
			}
			found, err := f.found(ctx, *w.BoardID, ids)
			if err != nil {
				return err
			}
			for _, id := range ids {
				if !slices.Contains(found, id) && !slices.Contains(*f.set, id) {
					return board.Invalid("%s: %q does not belong to the webhook's board.", f.name, id).In(f.name, board.RuleValue)
				}
			}
		}
		*f.set = append([]string{}, ids...)
	}
	return nil
}
