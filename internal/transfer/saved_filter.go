package transfer

import (
	"strings"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/query"
)

// A board's document contains the shared filters whose query refers by id to
// the board, one of its lists or one of its labels. A workspace's document
// contains all shared filters, once, after its boards. Guests do not see
// filters shared by others. Private filters are never exported.

// savedFilters writes the shared filters of a workspace, oldest first: those
// that refer to a board or, without one, all.
func (out *writer) savedFilters(workspaceID, boardID string, n *countsRecord) error {
	return out.array("savedFilters", func() error {
		return pages(func(behind string) ([]board.SavedFilter, error) {
			if err := out.ctx.Err(); err != nil {
				return nil, err
			}
			return out.v.SharedFilters(out.ctx, workspaceID, behind, cardsAtOnce)
		}, func(f board.SavedFilter) (string, error) {
			if boardID != "" {
				if about, err := out.about(boardID, f.Query); err != nil || !about {
					return f.ID, err
				}
			}
			n.SavedFilters++
			return f.ID, out.value(savedFilterRecord{ID: f.ID, Name: f.Name, Query: f.Query, Owner: userRecord(f.Owner),
				CreatedAt: f.CreatedAt, UpdatedAt: f.UpdatedAt})
		})
	})
}

// about reports whether a query refers to a board, one of its lists or its
// labels.
func (out *writer) about(boardID, text string) (bool, error) {
	var ids []string
	eachNamed(text, func(id string) string {
		if !strings.HasPrefix(id, "usr_") {
			ids = append(ids, id)
		}
		return id
	})
	homes, err := out.v.Homes(out.ctx, ids)
	for _, h := range homes {
		if h.BoardID == boardID {
			return true, err
		}
	}
	return false, err
}

// savedFilters reads the filters of a document, after the objects they refer
// to.
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
		err = first(err, board.Invalid("%s.query must be a text of at most %d bytes "+
			"without U+0000.", at, query.MaxTextBytes))
	}
	if err := first(err, in.title(at+".name", &f.Name), in.times(at, f.CreatedAt, f.UpdatedAt)); err != nil {
		return err
	}
	owner, err := in.owner(f)
	if err != nil {
		return err
	}
	if _, ok := in.owned[owner]; !ok {
		if in.owned[owner], err = in.v.CountFiltersOf(in.ctx, in.workspace.ID, owner); err != nil {
			return err
		}
	}
	// This does not fail the whole import, because filters of many people may
	// become those of one.
	if in.owned[owner] >= board.MaxSavedFilters {
		in.report.note("Saved filters beyond those that one person can keep in a workspace, left out", f.Name)
		return nil
	}
	text, understood := eachNamed(f.Query, func(id string) string {
		here, failed := in.here(id)
		err = first(err, failed)
		return here
	})
	if err != nil {
		return err
	}
	if !understood {
		in.report.note("Saved filters whose query is not valid, kept unchanged", f.Name)
	}
	in.owned[owner]++
	in.report.SavedFilters++
	return in.draft.SavedFilter(in.ctx, &board.SavedFilter{ID: in.draft.NewID("flt_"), WorkspaceID: in.workspace.ID,
		Name: f.Name, Query: text, Shared: true,
		Owner: board.UserRef{ID: owner}, CreatedAt: f.CreatedAt, UpdatedAt: f.UpdatedAt})
}

// owner returns the new owner of a filter: its owner, or the importing person.
func (in *reader) owner(f *savedFilterRecord) (string, error) {
	if f.Owner.ID != "" {
		if member, err := in.v.WorkspacePerson(in.ctx, in.workspace.ID, f.Owner.ID); err != nil || member {
			return f.Owner.ID, err
		}
	}
	in.report.note("Saved filters of people who are not in the workspace, now owned by the importing person", f.Name)
	if id := in.v.Caller().UserID; id != "" {
		return id, nil
	}
	return in.v.WorkspaceOwner(in.ctx, in.workspace.ID)
}

// here returns the new id of an object in a query. If the document does not
// contain the object, its id stays if it is in this workspace. Otherwise it
// becomes an unused id.
func (in *reader) here(there string) (string, error) {
	if id, ok := in.named[there]; ok {
		return id, nil
	}
	if name, ok := in.users[there]; ok {
		return in.someone(there, name)
	}
	var (
		known bool
		err   error
	)
	if strings.HasPrefix(there, "usr_") {
		known, err = in.v.WorkspacePerson(in.ctx, in.workspace.ID, there)
	} else {
		homes, failed := in.v.Homes(in.ctx, []string{there})
		known, err = homes[there].WorkspaceID == in.workspace.ID, failed
	}
	if err != nil || known {
		return there, err
	}
	return in.lost(there), nil
}

// namedBy returns the prefix of the ids that a key of the search grammar
// accepts. All other values of the key are names.
func namedBy(key string) string {
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

// eachNamed replaces every id by which a query refers to an object with the
// result of fn. Texts and names that look like ids are not replaced. Understood
// is false if the query cannot be parsed.
func eachNamed(text string, fn func(id string) string) (out string, understood bool) {
	q, err := query.ParseSearch(text, query.Env{Now: time.Unix(0, 0), Zone: time.UTC, Me: "usr_"})
	if err != nil {
		return text, false
	}
	var b strings.Builder
	done := 0
	for _, t := range q.Echo() {
		prefix := namedBy(t.Key)
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

// find returns the position of a value in its term. A value that is spelled
// differently in the term (ME for me) is not found, and is not an id.
func find(term, value string) (from, to int) {
	for _, written := range []string{value, strings.ReplaceAll(value, `"`, `\"`)} {
		if i := strings.Index(term, written); i >= 0 {
			return i, i + len(written)
		}
	}
	return 0, 0
}
