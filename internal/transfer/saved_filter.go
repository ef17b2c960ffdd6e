package transfer

import (
	"strings"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/query"
)

// A board document contains the shared filters whose query contains the id of the
// board, of one of its lists or of one of its labels. A workspace document
// contains each shared filter once, after its boards. An export by a guest contains
// no filters, because guests cannot see shared filters. Private filters are never
// exported.

// savedFilters writes the shared filters of a workspace, oldest first. If boardID
// is set, it writes only those that refer to that board.
func (out *writer) savedFilters(workspaceID, boardID string, n *countsRecord) error {
	return out.array("savedFilters", func() error {
		return pages(func(after string) ([]board.SavedFilter, error) {
			if err := out.ctx.Err(); err != nil {
				return nil, err
			}
			return out.v.SharedFilters(out.ctx, workspaceID, after, cardPageSize)
		}, func(f board.SavedFilter) (string, error) {
			if boardID != "" {
				if refers, err := out.refersTo(boardID, f.Query); err != nil || !refers {
					return f.ID, err
				}
			}
			n.SavedFilters++
			return f.ID, out.value(savedFilterRecord{ID: f.ID, Name: f.Name, Query: f.Query, Owner: userRecord(f.Owner),
				CreatedAt: f.CreatedAt, UpdatedAt: f.UpdatedAt})
		})
	})
}

// refersTo reports whether a query refers to a board, one of its lists or one of
// its labels.
func (out *writer) refersTo(boardID, text string) (bool, error) {
	var ids []string
	mapQueryIDs(text, func(id string) string {
		if !strings.HasPrefix(id, "usr_") {
			ids = append(ids, id)
		}
		return id
	})
	locations, err := out.v.Locations(out.ctx, ids)
	for _, l := range locations {
		if l.BoardID == boardID {
			return true, err
		}
	}
	return false, err
}

// savedFilters reads the filters of a document. It must be called after the objects
// that the filters refer to have been read.
func (in *reader) savedFilters(n *countsRecord) error {
	return each(in, "savedFilters", func(at string, f *savedFilterRecord) error {
		n.SavedFilters++
		return in.savedFilter(at, f)
	})
}

func (in *reader) savedFilter(at string, f *savedFilterRecord) error {
	err := identifier(at, f.ID)
	if in.filters[f.ID] {
		err = board.Invalid("%s.id is a duplicate.", at)
	}
	in.filters[f.ID] = true
	if f.Owner.ID != "" {
		err = first(err, identifier(at+".owner", f.Owner.ID))
	}
	if strings.ContainsRune(f.Query, 0) || len(f.Query) > query.MaxTextBytes {
		err = first(err, board.Invalid("%s.query must be text of at most %d bytes "+
			"without U+0000.", at, query.MaxTextBytes))
	}
	if err := first(err, in.title(at+".name", &f.Name), in.times(at, f.CreatedAt, f.UpdatedAt)); err != nil {
		return err
	}
	owner, err := in.owner(f)
	if err != nil {
		return err
	}
	if _, ok := in.filterCounts[owner]; !ok {
		if in.filterCounts[owner], err = in.v.CountFiltersOf(in.ctx, in.workspace.ID, owner); err != nil {
			return err
		}
	}
	// Exceeding the limit does not fail the import, because the importing person
	// may become the owner of other people's filters.
	if in.filterCounts[owner] >= board.MaxSavedFilters {
		in.report.note("Saved filters over the limit for one person in a workspace, skipped", f.Name)
		return nil
	}
	text, valid := mapQueryIDs(f.Query, func(id string) string {
		newID, resolveErr := in.resolve(id)
		err = first(err, resolveErr)
		return newID
	})
	if err != nil {
		return err
	}
	if !valid {
		in.report.note("Saved filters whose query is not valid, kept unchanged", f.Name)
	}
	in.filterCounts[owner]++
	in.report.SavedFilters++
	return in.draft.SavedFilter(in.ctx, &board.SavedFilter{ID: in.draft.NewID("flt_"), WorkspaceID: in.workspace.ID,
		Name: f.Name, Query: text, Shared: true,
		Owner: board.UserRef{ID: owner}, CreatedAt: f.CreatedAt, UpdatedAt: f.UpdatedAt})
}

// owner returns the id of the new owner of a filter: the former owner if that
// person is in the workspace, and otherwise the importing person. If the server's
// operator runs the import, the owner of the workspace is used instead.
func (in *reader) owner(f *savedFilterRecord) (string, error) {
	if f.Owner.ID != "" {
		if member, err := in.v.IsMember(in.ctx, in.workspace.ID, f.Owner.ID); err != nil || member {
			return f.Owner.ID, err
		}
	}
	in.report.note("Saved filters of people who are not in the workspace, now owned by the importing person or the workspace's owner",
		f.Name)
	if id := in.v.Caller().UserID; id != "" {
		return id, nil
	}
	return in.v.WorkspaceOwner(in.ctx, in.workspace.ID)
}

// resolve returns the new id of an object that a query refers to. For an object
// that the document does not contain, it returns the same id if the object is in
// this workspace, and otherwise an unused id.
func (in *reader) resolve(sourceID string) (string, error) {
	if id, ok := in.queryIDs[sourceID]; ok {
		return id, nil
	}
	if name, ok := in.users[sourceID]; ok {
		return in.userOrPlaceholder(sourceID, name)
	}
	var (
		known bool
		err   error
	)
	if strings.HasPrefix(sourceID, "usr_") {
		known, err = in.v.IsMember(in.ctx, in.workspace.ID, sourceID)
	} else {
		locations, locationsErr := in.v.Locations(in.ctx, []string{sourceID})
		known, err = locations[sourceID].WorkspaceID == in.workspace.ID, locationsErr
	}
	if err != nil || known {
		return sourceID, err
	}
	return in.missingID(sourceID), nil
}

// idPrefix returns the prefix of the ids that mapQueryIDs replaces for a search key,
// or "" if it replaces none. Ids of integrations are not replaced.
func idPrefix(key string) string {
	switch query.Ref(key) {
	case query.RefBoard:
		return "brd_"
	case query.RefList:
		return "lst_"
	case query.RefLabel:
		return "lbl_"
	case query.RefMember, query.RefCreator, query.RefCommenter:
		return "usr_"
	}
	return ""
}

// mapQueryIDs replaces every id by which a query refers to a board, list, label or
// person with the result of fn. It does not replace search text or names that look like
// ids. If the query cannot be parsed, it returns text and false.
func mapQueryIDs(text string, fn func(id string) string) (out string, valid bool) {
	q, err := query.ParseSearch(text, query.Env{Now: time.Unix(0, 0), Zone: time.UTC, Me: "usr_"})
	if err != nil {
		return text, false
	}
	var b strings.Builder
	done := 0
	for _, t := range q.Echo() {
		prefix := idPrefix(t.Key)
		if prefix == "" {
			continue
		}
		at, end := t.Offset, t.Offset+t.Length
		for _, v := range t.Values {
			from, to := find(text[at:end], v)
			if id := strings.ToLower(v); isID(id) && strings.HasPrefix(id, prefix) {
				b.WriteString(text[done : at+from])
				b.WriteString(fn(id))
				done = at + to
			}
			at += to
		}
	}
	b.WriteString(text[done:])
	return b.String(), true
}

// find returns the start and end of a value in its term. It returns 0, 0 if the
// value is spelled differently in the term, such as ME for me. Such a value is not
// an id.
func find(term, value string) (from, to int) {
	for _, spelling := range []string{value, strings.ReplaceAll(value, `"`, `\"`)} {
		if i := strings.Index(term, spelling); i >= 0 {
			return i, i + len(spelling)
		}
	}
	return 0, 0
}
