package transfer

import (
	"strings"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/query"
)

// Which filters a document holds: that of a board the shared ones whose query
// names the board, one of its lists or one of its labels by id, that of a
// workspace all shared ones, once, beside its boards. Who is a guest sees none
// that others share, and filters that their owners keep for themselves are in
// no document.

// savedFilters writes the shared filters of a workspace, in the order of their
// making: those that name a board or, without one, all.
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
			return f.ID, out.value(savedFilterRecord{ID: f.ID, Name: f.Name, Query: f.Query, Owner: userRecord(f.Owner), CreatedAt: f.CreatedAt, UpdatedAt: f.UpdatedAt})
		})
	})
}

// about tells whether a query names a board, one of its lists or its labels.
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

// savedFilters reads the filters of a document, at the end of what they name.
func (in *reader) savedFilters(n *countsRecord) error {
	return each(in, "savedFilters", func(at string, f *savedFilterRecord) error {
		n.SavedFilters++
		return in.savedFilter(at, f)
	})
}

func (in *reader) savedFilter(at string, f *savedFilterRecord) error {
	err := identifier(at, f.ID)
	if in.filters[f.ID] {
		err = board.Invalid("%s.id was there before.", at)
	}
	in.filters[f.ID] = true
	if f.Owner.ID != "" {
		err = first(err, identifier(at+".owner", f.Owner.ID))
	}
	if strings.ContainsRune(f.Query, 0) || len(f.Query) > query.MaxTextBytes {
		err = first(err, board.Invalid("%s.query must be a text of at most %d bytes without U+0000.", at, query.MaxTextBytes))
	}
	if err := first(err, in.title(at+".name", &f.Name), in.times(at, f.CreatedAt, f.UpdatedAt)); err != nil {
		return err
	}
	owner, err := in.owner(f)
	if err != nil {
		return err
	}
	if _, ok := in.owned[owner]; !ok {
		if in.owned[owner], err = in.tx.CountFiltersOf(in.ctx, in.workspace.ID, owner); err != nil {
			return err
		}
	}
	// No reason to refuse a whole workspace: what many had may become one's.
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
		in.report.note("Saved filters whose query is not understood, kept as they are", f.Name)
	}
	in.owned[owner]++
	in.report.SavedFilters++
	return in.tx.TransferSavedFilter(in.ctx, &board.SavedFilter{ID: in.tx.NewID("flt_"), WorkspaceID: in.workspace.ID, Name: f.Name, Query: text, Shared: true,
		Owner: board.UserRef{ID: owner}, CreatedAt: f.CreatedAt, UpdatedAt: f.UpdatedAt})
}

// owner is whose the filter becomes: its owner's, or the importer's.
func (in *reader) owner(f *savedFilterRecord) (string, error) {
	if f.Owner.ID != "" {
		if member, err := in.tx.WorkspacePerson(in.ctx, in.workspace.ID, f.Owner.ID); err != nil || member {
			return f.Owner.ID, err
		}
	}
	in.report.note("Saved filters of people who are not in the workspace, given to who imports", f.Name)
	if id := in.tx.Caller().UserID; id != "" {
		return id, nil
	}
	return in.tx.WorkspaceOwner(in.ctx, in.workspace.ID)
}

// here is the id here of what a query names. What the document does not hold
// stays when it is in this workspace; else it becomes an id of nothing.
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
		known, err = in.tx.WorkspacePerson(in.ctx, in.workspace.ID, there)
	} else {
		homes, failed := in.tx.Homes(in.ctx, []string{there})
		known, err = homes[there].WorkspaceID == in.workspace.ID, failed
	}
	if err != nil || known {
		return there, err
	}
	return in.lost(there), nil
}

// namedBy is the prefix of the ids that a key of the search grammar takes.
// Every other value of it is a name.
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

// eachNamed puts what fn returns in the place of every id by which a query
// names something. What looks like an id in a text or in a name is none; a
// query that the grammar does not understand names nothing.
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

// find is where a value stands in its term. One that a term has in other words
// (ME for me) is nowhere, and no id.
func find(term, value string) (from, to int) {
	for _, written := range []string{value, strings.ReplaceAll(value, `"`, `\"`)} {
		if i := strings.Index(term, written); i >= 0 {
			return i, i + len(written)
		}
	}
	return 0, 0
}
