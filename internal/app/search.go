package app

import (
	"context"

	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/query"
	"cardwall/internal/store"
)

// searchGrammar describes the grammar of package query to those who write a query.
const searchGrammar = "A card must match every term of q; a term with - in front must not match. Terms are a word, a " +
	"\"phrase\", the beginning of a word (plan*), or key:value. Commas between values mean or; quote values with spaces. " +
	"is: open, done, archived, overdue, assigned, unassigned, checked or unchecked. has: and no: description, " +
	"checklist, comment, attachment, due, start, assignee or label. board:, list: and label: a name or an id. " +
	"member:, creator: and commenter: a name, an email address, an id or me. due: and start: a date, >date, date..date, " +
	"today, week, month, overdue, none or a number of days from today. created:, updated: and completed: a date, >date, " +
	"date..date, today or a number of days until today. " +
	"title:, description:, comment:, checklist: and attachment: a word or phrase. sort: position, due, start, " +
	"created, updated, title or relevance, with - in front for descending order. For example: is:open member:me due:week " +
	"-label:\"On hold\" sort:due."

// SearchCardsInput is the input of SearchCards.
type SearchCardsInput struct {
	Q           string `json:"q" maxLength:"16384" doc:"The search text, such as: is:open label:bug due:week \"exact phrase\" word*." example:"is:open release"`
	WorkspaceID string `json:"workspaceId,omitempty" maxLength:"64" doc:"Only cards on boards of the workspace with this id." example:"wsp_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	TimeZone    string `json:"timeZone,omitempty" doc:"The time zone for dates and for words such as today, as an IANA name such as Europe/Zurich. Defaults to the caller's time zone." example:"Europe/Zurich"`
	View        string `json:"view,omitempty" enum:"compact,full" doc:"Use compact to omit descriptions. Defaults to full." example:"compact"`
	op.Paging
}

// SearchCards returns matching cards on every board that the caller can see.
// The default order is most recently changed first or, for assistants, by relevance. Archived cards and cards on
// archived boards are omitted, unless the search text includes archived cards.
func SearchCards(ctx context.Context, v *store.View, in SearchCardsInput) (op.Page[board.Card], error) {
	if in.WorkspaceID != "" {
		if _, err := v.Workspace(ctx, in.WorkspaceID, board.ViewWorkspace); err != nil {
			return op.Page[board.Card]{}, err
		}
	}
	filter := CardFilter{Filter: query.Filter{Q: in.Q, TimeZone: in.TimeZone}, View: in.View}
	q, err := filter.parse(ctx, v, store.CardPage{WorkspaceID: in.WorkspaceID})
	if err != nil {
		return op.Page[board.Card]{}, err
	}
	switch {
	case q.Sort.By != query.SortNone:
	case v.Caller().Assistant:
		q.Sort = query.Sort{By: query.SortRelevance}
	default:
		q.Sort = query.Sort{By: query.SortUpdated, Desc: true}
	}
	archived := q.Archived != query.ArchivedNo
	page, err := filter.cards(ctx, v, in.Paging, store.CardPage{WorkspaceID: in.WorkspaceID, IncludeArchived: archived, Query: q})
	page.Query = SearchedQuery{Text: q.String(), Terms: q.Echo()}
	return page, err
}

// SearchedQuery is the parsed search text.
type SearchedQuery struct {
	Text  string       `json:"text" doc:"The whole query in the search grammar, as a saved filter stores it." example:"is:open release"`
	Terms []query.Term `json:"terms" doc:"The terms of the query."`
}
