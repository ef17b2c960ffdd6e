package board_test

import (
	"testing"

	"cardwall/internal/board"
)

func TestWebhookFilter(t *testing.T) {
	t.Parallel()
	card := board.Card{ID: "crd_1", ListID: "lst_todo"}
	detail := board.CardDetail{Card: card}
	red := []board.LabelRef{{ID: "lbl_red"}}
	lists, labels := board.WebhookFilter{Lists: []string{"lst_todo"}}, board.WebhookFilter{Labels: []string{"lbl_red"}}
	both := board.WebhookFilter{Lists: lists.Lists, Labels: labels.Labels}
	gone := board.WebhookFilter{Lists: []string{"lst_deleted"}}
	other := board.Card{ID: "crd_1", ListID: "lst_done"}
	for name, c := range map[string]struct {
		filter board.WebhookFilter
		event  board.Event
		labels []string // of the card, after the change
		want   bool
	}{
		"no filter, a card":           {board.WebhookFilter{}, board.CardCreated(card, ""), nil, true},
		"no filter, no card":          {board.WebhookFilter{}, board.StatusPosted(board.StatusUpdate{}), nil, true},
		"a card in the list":          {lists, board.CardCompleted(card), nil, true},
		"a card in another list":      {lists, board.CardCompleted(other), nil, false},
		"moved out of the list":       {lists, board.CardMoved(other, "lst_todo", "", ""), nil, true},
		"moved into the list":         {lists, board.CardMoved(card, "lst_done", "", ""), nil, true},
		"moved between other lists":   {lists, board.CardMoved(other, "lst_doing", "", ""), nil, false},
		"left the board":              {lists, board.CardMovedAway("crd_1", "lst_todo", ""), nil, true},
		"left from another list":      {lists, board.CardMovedAway("crd_1", "lst_done", ""), nil, false},
		"came to the board":           {lists, board.CardMovedIn(detail, "", ""), nil, true},
		"the list was archived":       {lists, board.ListArchived(board.List{ID: "lst_todo"}), nil, true},
		"another list was archived":   {lists, board.ListArchived(board.List{ID: "lst_done"}), nil, false},
		"a status update":             {lists, board.StatusPosted(board.StatusUpdate{}), nil, false},
		"a list that was deleted":     {gone, board.CardCompleted(card), nil, false},
		"a comment":                   {lists, board.CommentAdded(card, board.Comment{}), nil, true},
		"a card with the label":       {labels, board.CardCompleted(card), []string{"lbl_blue", "lbl_red"}, true},
		"a card without the label":    {labels, board.CardCompleted(card), []string{"lbl_blue"}, false},
		"a card without labels":       {labels, board.CardCompleted(card), nil, false},
		"the label was added":         {labels, board.CardLabelsChanged(card, nil, []string{"lbl_red"}, nil), []string{"lbl_red"}, true},
		"the label was removed":       {labels, board.CardLabelsChanged(card, red, nil, []string{"lbl_red"}), nil, true},
		"another label was added":     {labels, board.CardLabelsChanged(card, nil, []string{"lbl_blue"}, nil), []string{"lbl_blue"}, false},
		"left the board, with labels": {labels, board.CardMovedAway("crd_1", "lst_todo", ""), nil, true},
		"came to the board, labels":   {labels, board.CardMovedIn(detail, "", ""), nil, false},
		"a list, with labels":         {labels, board.ListArchived(board.List{ID: "lst_todo"}), nil, false},
		"a status update, labels":     {labels, board.StatusPosted(board.StatusUpdate{}), nil, false},
		"list and label":              {both, board.CardCompleted(card), []string{"lbl_red"}, true},
		"only the list":               {both, board.CardCompleted(card), nil, false},
		"only the label":              {both, board.CardCompleted(other), []string{"lbl_red"}, false},
		"the filter's list, archived": {both, board.ListArchived(board.List{ID: "lst_todo"}), nil, false},
	} {
		if got := c.filter.Matches(c.event, c.labels); got != c.want {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
		if !c.filter.NeedsLabels(c.event) && c.filter.Matches(c.event, []string{"lbl_red"}) != c.filter.Matches(c.event, nil) {
			t.Errorf("%s: the labels are not needed, but change the result", name)
		}
	}
}
