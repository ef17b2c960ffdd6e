package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/query"
	"cardwall/internal/store"
)

// ListSavedFiltersInput is the input of ListSavedFilters.
type ListSavedFiltersInput struct {
	WorkspaceInput
	op.Paging
}

// ListSavedFilters returns the caller's own filters of a workspace and the
// filters that members share, oldest first. Guests see only their own.
func ListSavedFilters(ctx context.Context, v *store.View, in ListSavedFiltersInput) (op.Page[board.SavedFilter], error) {
	var after string
	if err := in.After(&after); err != nil {
		return op.Page[board.SavedFilter]{}, err
	}
	w, err := v.Workspace(ctx, in.WorkspaceID, board.ViewWorkspace)
	if err != nil {
		return op.Page[board.SavedFilter]{}, err
	}
	filters, err := v.SavedFilters(ctx, w.ID, after, in.Size()+1)
	if err != nil {
		return op.Page[board.SavedFilter]{}, err
	}
	page := op.Cut(filters, in.Size(), func(f board.SavedFilter) any { return f.ID })
	return page, markBroken(ctx, v, w, page.Items)
}

// CreateSavedFilterInput holds the fields of a new filter.
type CreateSavedFilterInput struct {
	WorkspaceInput
	Name   string `json:"name" maxLength:"512" doc:"The filter's name." example:"My bugs this week"`
	Query  string `json:"query" minLength:"0" maxLength:"16384" doc:"The query, in the search grammar. An empty query matches every card that is not archived." example:"is:open label:bug member:me due:week"`
	Shared bool   `json:"shared,omitempty" doc:"Whether the filter is shared with the members of the workspace. Guests cannot share filters." example:"false"`
}

// CreateSavedFilter stores a query. It returns an error with an offset if the
// query is invalid. A query with an unknown id is stored, and the filter is
// marked as broken.
func CreateSavedFilter(ctx context.Context, tx *store.Tx, in CreateSavedFilterInput) (board.SavedFilter, error) {
	w, err := tx.OnWorkspace(ctx, in.WorkspaceID, board.ViewWorkspace)
	if err != nil {
		return board.SavedFilter{}, err
	}
	me, err := tx.User(ctx)
	if err != nil {
		return board.SavedFilter{}, err
	}
	f := board.SavedFilter{ID: tx.NewID("flt_"), WorkspaceID: w.ID, Owner: board.UserRef{ID: me.ID, Name: me.Name}}
	if err := setFields(ctx, tx, w, &f, &in.Name, &in.Query, &in.Shared); err != nil {
		return f, err
	}
	count, err := tx.CountSavedFilters(ctx, w.ID)
	if err != nil {
		return f, err
	}
	if err := board.CheckLimit("saved filters of one person in a workspace", count, 1, board.MaxSavedFilters); err != nil {
		return f, err
	}
	if err := tx.InsertSavedFilter(ctx, &f); err != nil {
		return f, err
	}
	return withBroken(ctx, tx.View, w, f)
}

// setFields validates and sets the given fields of a filter. Nil fields stay
// unchanged.
func setFields(ctx context.Context, tx *store.Tx, w board.Workspace, f *board.SavedFilter, name, text *string, shared *bool) (err error) {
	if name != nil {
		if f.Name, err = title("name", *name); err != nil {
			return err
		}
	}
	if text != nil {
		env, err := environment(ctx, tx.View, "", store.CardPage{WorkspaceID: w.ID})
		if err != nil {
			return err
		}
		if _, err := (query.Filter{}).Within(*text, env); err != nil {
			return err // offsets refer to the caller's own text
		}
		f.Query = strings.TrimSpace(*text)
	}
	if shared != nil {
		if *shared && !w.Role.Can(board.ViewDirectory) {
			return board.Forbidden("Your role in this workspace is %s. Guests cannot share filters.", w.Role)
		}
		f.Shared = *shared
	}
	return nil
}

// SavedFilterInput identifies a filter.
type SavedFilterInput struct {
	FilterID string `json:"filterId" maxLength:"64" doc:"The id of the saved filter." example:"flt_01jb2m3n4p5q6r7s8t9v0w1x2y"`
}

// GetSavedFilter returns one of the caller's own filters, or one that a member shares. Guests
// see only their own.
func GetSavedFilter(ctx context.Context, v *store.View, in SavedFilterInput) (board.SavedFilter, error) {
	f, err := v.SavedFilter(ctx, in.FilterID)
	if err != nil {
		return f, err
	}
	w, err := v.Workspace(ctx, f.WorkspaceID, board.ViewWorkspace)
	if err != nil {
		return board.SavedFilter{}, err
	}
	return withBroken(ctx, v, w, f)
}

// UpdateSavedFilterInput holds the fields to change. Absent fields stay
// unchanged.
type UpdateSavedFilterInput struct {
	SavedFilterInput
	Name   *string `json:"name,omitempty" maxLength:"512" doc:"The new name." example:"Bugs of the week"`
	Query  *string `json:"query,omitempty" maxLength:"16384" doc:"The new query, in the search grammar." example:"is:open label:bug due:week"`
	Shared *bool   `json:"shared,omitempty" doc:"Whether the filter is shared with the members of the workspace. Guests cannot share filters." example:"true"`
}

// UpdateSavedFilter changes a filter. People can change their own filters. Owners and
// admins of the workspace can change any shared filter.
func UpdateSavedFilter(ctx context.Context, tx *store.Tx, in UpdateSavedFilterInput) (board.SavedFilter, error) {
	f, err := tx.SavedFilter(ctx, in.FilterID)
	if err != nil {
		return f, err
	}
	w, err := tx.View.Workspace(ctx, f.WorkspaceID, board.ViewWorkspace)
	if err != nil {
		return f, err
	}
	before := f
	if err := setFields(ctx, tx, w, &f, in.Name, in.Query, in.Shared); err != nil {
		return f, err
	}
	if f != before {
		if err := tx.UpdateSavedFilter(ctx, &f); err != nil {
			return f, err
		}
	}
	return withBroken(ctx, tx.View, w, f)
}

// DeleteSavedFilter deletes a filter. It requires the same permissions as
// UpdateSavedFilter.
func DeleteSavedFilter(ctx context.Context, tx *store.Tx, in SavedFilterInput) (Deleted, error) {
	f, err := tx.SavedFilter(ctx, in.FilterID)
	if err != nil {
		return Deleted{}, err
	}
	return Deleted{f.ID}, tx.DeleteSavedFilter(ctx, f.ID)
}

// ListFilterCardsInput is the input of ListFilterCards.
type ListFilterCardsInput struct {
	SavedFilterInput
	CardFilter
	op.Paging
}

// filterCursor is the cursor of a list of cards with a hash of the filter's query.
type filterCursor struct {
	store.CardCursor
	Query string `json:"q"`
}

// ListFilterCards returns the cards that match a filter, on all boards of its
// workspace that the caller can see. The other parameters narrow the result.
// The default order is most recently changed first. Archived cards and cards on
// archived boards are omitted, unless the query or the input includes archived
// cards. A cursor becomes invalid when the filter's query changes.
func ListFilterCards(ctx context.Context, v *store.View, in ListFilterCardsInput) (op.Page[board.Card], error) {
	f, err := v.SavedFilter(ctx, in.FilterID)
	if err != nil {
		return op.Page[board.Card]{}, err
	}
	sum := sha256.Sum256([]byte(f.Query))
	cursor := filterCursor{Query: hex.EncodeToString(sum[:8])}
	current := cursor.Query
	if err := in.After(&cursor); err != nil {
		return op.Page[board.Card]{}, err
	}
	if cursor.Query != current {
		return op.Page[board.Card]{}, board.Invalid("cursor: the filter has changed since the previous page. Start "+
			"again without a cursor.").In("cursor", board.RuleValue)
	}
	env, err := environment(ctx, v, in.TimeZone, store.CardPage{WorkspaceID: f.WorkspaceID})
	if err != nil {
		return op.Page[board.Card]{}, err
	}
	env.Lenient = query.SavedParam
	q, err := in.Within(f.Query, env)
	if err != nil {
		return op.Page[board.Card]{}, err
	}
	if q.Sort.By == query.SortNone {
		q.Sort = query.Sort{By: query.SortUpdated, Desc: true}
	}
	archived := q.Archived != query.ArchivedNo
	cards, cursors, err := v.Cards(ctx, store.CardPage{
		WorkspaceID: f.WorkspaceID, IncludeArchived: archived, Query: q,
		Compact: in.View == "compact", Cursor: cursor.CardCursor, Limit: in.Size() + 1,
	})
	if err != nil || len(cards) <= in.Size() {
		return op.Page[board.Card]{Items: cards}, err
	}
	return op.Page[board.Card]{Items: cards[:in.Size()], Next: filterCursor{cursors[in.Size()-1], current}}, nil
}

func withBroken(ctx context.Context, v *store.View, w board.Workspace, f board.SavedFilter) (board.SavedFilter, error) {
	one := []board.SavedFilter{f}
	err := markBroken(ctx, v, w, one)
	return one[0], err
}

// referenceKinds lists the kinds of objects that a query can refer to by id, in the
// order used in messages.
var referenceKinds = [...]struct {
	ref  query.Ref
	name string
}{
	{query.RefBoard, "a board"}, {query.RefList, "a list"}, {query.RefLabel, "a label"},
	{query.RefMember, "a person"}, {query.RefCreator, "a person"}, {query.RefCommenter, "a person"},
}

// markBroken marks the filters of a workspace that are broken for the caller. A
// filter is broken if its query is no longer valid, or if it refers, by id or by a
// person's name, to something that does not exist or that the caller cannot see. A
// filter with such references still runs, but the references match nothing.
func markBroken(ctx context.Context, v *store.View, w board.Workspace, filters []board.SavedFilter) error {
	if len(filters) == 0 {
		return nil
	}
	env, err := environment(ctx, v, "", store.CardPage{WorkspaceID: w.ID})
	if err != nil {
		return err
	}
	named := make([]map[query.Ref][]string, len(filters))
	var all []string
	for i := range filters {
		q, err := (query.Filter{}).Within(filters[i].Query, env)
		if refusal, ok := board.AsFault(err); ok {
			filters[i].Broken, filters[i].Problem = true, &refusal.Message
		}
		named[i] = map[query.Ref][]string{}
		for n := range query.Leaves(q.Where) {
			if in, ok := n.(query.In); ok {
				named[i][in.Ref] = append(named[i][in.Ref], in.IDs...)
				all = append(all, in.IDs...)
			}
		}
	}
	known, err := v.Known(ctx, w, all)
	if err != nil {
		return err
	}
	for i := range filters {
		if text := missing(named[i], known); text != "" {
			filters[i].Broken, filters[i].Problem = true, &text
		}
	}
	return nil
}

// missing returns a message about the kinds of unknown objects, or "" if all
// are known.
func missing(named map[query.Ref][]string, known map[string]bool) string {
	var kinds []string
	for _, thing := range referenceKinds {
		unknown := func(id string) bool { return !known[id] }
		if slices.ContainsFunc(named[thing.ref], unknown) && !slices.Contains(kinds, thing.name) {
			kinds = append(kinds, thing.name)
		}
	}
	n := len(kinds)
	switch n {
	case 0:
		return ""
	case 1:
		return "The query refers to " + kinds[0] + " that does not exist or that you cannot see."
	}
	return "The query refers to " + strings.Join(kinds[:n-1], ", ") + " and " + kinds[n-1] +
		" that do not exist or that you cannot see."
}
