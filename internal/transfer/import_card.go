package transfer

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

const (
	maxWIPLimit = 200_000 // as in update_list
	maxNumber   = 1_000_000_000
)

type importedCard struct {
	CardRecord
	Comments []commentRecord `json:"comments"`
}

func (r *boardReader) card(at string, in *importedCard) error {
	c, err := r.cardOf(at, in)
	if err != nil {
		return err
	}
	full := store.WholeCard{CardDetail: board.CardDetail{Card: c}}
	if full.Checklists, err = r.checklists(at, c.ID, in.Checklists); err != nil {
		return err
	}
	for i, m := range in.Comments {
		comment, err := r.comment(fmt.Sprintf("%s.comments[%d]", at, i), c.ID, m)
		if err != nil {
			return err
		}
		full.CommentList = append(full.CommentList, comment)
	}
	if full.AttachmentList, err = r.attachments(at, &full.Card, in.Attachments); err != nil {
		return err
	}
	if err := r.draft.Card(r.ctx, &full); err != nil {
		return err
	}
	r.counts.Cards++
	r.imported.Cards++
	r.reportProgress(r.counts.Cards)
	return nil
}

func (r *boardReader) cardOf(at string, in *importedCard) (board.Card, error) {
	a, limits := r.draft.On(r.target.ID), r.v.Limits()
	id, err := r.newRecordID(at, in.ID, "crd_")
	if err != nil {
		return board.Card{}, err
	}
	if in.ArchivedBy != nil && *in.ArchivedBy == board.ArchivedByList {
		in.ArchivedAt = nil // the list's record says when
	}
	if in.ArchivedAt == nil && r.archived[r.ids[in.ListID]] == nil {
		err = checkLimit("cards on a board, not counting archived ones", a.OpenCards+1, limits.OpenCards)
	}
	if err := first(err, checkLimit("cards on a board, including archived ones", a.AllCards+1, limits.AllCards),
		checkLimit("assignees on a card", len(in.Assignees), limits.Assignees),
		r.title(at+".title", &in.Title), r.text(at+".description", in.Description), r.times(at, in.CreatedAt, in.UpdatedAt),
		due(at, in.Due)); err != nil {
		return board.Card{}, err
	}
	if in.Number < 1 || in.Number > maxNumber || r.numbers[in.Number] {
		return board.Card{}, board.Invalid("%s.number must be from 1 to %d and unique.", at, maxNumber)
	}
	r.numbers[in.Number] = true
	list, ok := r.ids[in.ListID]
	last, isList := r.ranks[list]
	if !ok || !isList {
		return board.Card{}, board.Invalid("%s.listId must be the id of a list in the document.", at)
	}
	rank, err := board.RankBetween(last, "")
	if err != nil {
		return board.Card{}, err
	}
	r.ranks[list] = rank
	c := board.Card{ID: id, BoardID: r.target.ID, ListID: list, Rank: rank, Number: in.Number, Title: in.Title,
		Description: &in.Description, DoneAt: in.DoneAt, ArchivedAt: in.ArchivedAt, ListArchivedAt: r.archived[list],
		Due: in.Due, CreatedAt: in.CreatedAt, UpdatedAt: in.UpdatedAt}
	if c.CreatedBy, err = r.optionalPerson(at+".createdBy", in.CreatedBy); err != nil {
		return c, err
	}
	seen := map[string]bool{}
	for _, sourceID := range in.Labels {
		l := r.ids[sourceID]
		if !r.labels[l] || seen[l] {
			return c, board.Invalid("%s.labels must contain labels of the board, without duplicates.", at)
		}
		seen[l] = true
		c.Labels = append(c.Labels, board.LabelRef{ID: l})
	}
	for _, sourceID := range in.Assignees {
		id, err := r.person(at+".assignees", sourceID)
		if err != nil {
			return c, err
		}
		if seen[id] {
			return c, board.Invalid("%s.assignees must not contain duplicates.", at)
		}
		seen[id] = true
		c.Assignees = append(c.Assignees, board.UserRef{ID: id})
	}
	return c, nil
}

func (r *boardReader) checklists(at, cardID string, in []checklistRecord) ([]board.Checklist, error) {
	if err := checkLimit("checklists on a card", len(in), r.v.Limits().Checklists); err != nil {
		return nil, err
	}
	out := make([]board.Checklist, len(in))
	for n, k := range in {
		at := fmt.Sprintf("%s.checklists[%d]", at, n)
		id, err := r.newRecordID(at, k.ID, "chk_")
		if err := first(err, r.title(at+".title", &k.Title), r.times(at, k.CreatedAt, k.UpdatedAt),
			checkLimit("items in a checklist", len(k.Items), r.v.Limits().Items)); err != nil {
			return nil, err
		}
		out[n] = board.Checklist{ID: id, CardID: cardID, Title: k.Title, CreatedAt: k.CreatedAt, UpdatedAt: k.UpdatedAt}
		for m, i := range k.Items {
			at := fmt.Sprintf("%s.items[%d]", at, m)
			id, err := r.newRecordID(at, i.ID, "chi_")
			if err := first(err, r.title(at+".title", &i.Title), r.times(at, i.CreatedAt, i.UpdatedAt)); err != nil {
				return nil, err
			}
			out[n].Items = append(out[n].Items, board.ChecklistItem{ID: id, Title: i.Title, DoneAt: i.DoneAt, CreatedAt: i.CreatedAt,
				UpdatedAt: i.UpdatedAt})
			r.counts.Items++
			r.imported.Items++
		}
		r.counts.Checklists++
		r.imported.Checklists++
	}
	return out, nil
}

func (r *boardReader) comment(at, cardID string, in commentRecord) (board.Comment, error) {
	id, err := r.newRecordID(at, in.ID, "cmt_")
	if err := first(err, r.text(at+".text", in.Text), r.times(at, in.CreatedAt, in.CreatedAt)); err != nil {
		return board.Comment{}, err
	}
	m := board.Comment{ID: id, CardID: cardID, GuestName: in.GuestName, Text: in.Text, CreatedAt: in.CreatedAt, EditedAt: in.EditedAt}
	if in.GuestName != nil {
		if _, err := board.GuestName(at+".guestName", *in.GuestName); err != nil ||
			utf8.RuneCountInString(*in.GuestName) > board.GuestNameLength {
			return board.Comment{}, board.Invalid("%s.guestName must be a valid guest name.", at)
		}
	}
	author, err := r.optionalPerson(at+".author", in.Author)
	if err != nil {
		return board.Comment{}, err
	}
	if author != nil {
		m.Author = &board.UserRef{ID: *author}
	}
	r.counts.Comments++
	r.imported.Comments++
	return m, nil
}

// The checks below reject only values that no operation can have written.

// first returns the first error that is not nil.
func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func checkLimit(noun string, count, limit int) error {
	if count <= limit {
		return nil
	}
	return board.Refuse(board.CodeLimitReached, "There can be at most %d %s; the file has more.", limit, noun)
}

// identifier returns an error unless s can be an id: 1 to 64 bytes without control
// characters. The check is lenient because another program may have written the file.
func identifier(at, s string) error {
	if s == "" || len(s) > 64 || strings.ContainsFunc(s, unicode.IsControl) {
		return board.Invalid("%s.id must be a valid id.", at)
	}
	return nil
}

// title validates a name or title. It removes characters that board.Line refuses,
// because earlier versions accepted them.
func (in *reader) title(at string, s *string) error {
	if strings.TrimSpace(*s) == "" || strings.ContainsFunc(*s, unicode.IsControl) || utf8.RuneCountInString(*s) > in.v.Limits().Title {
		return board.Invalid("%s must be one line of at most %d characters and must not "+
			"be empty.", at, in.v.Limits().Title).In(at, board.RuleEmpty)
	}
	clean := cmp.Or(board.CleanLine(*s), "Untitled")
	if clean != strings.TrimSpace(*s) {
		in.report.note("Names from which forbidden characters were removed", clean)
	}
	*s = clean
	return nil
}

func (in *reader) text(at, s string) error {
	if strings.ContainsRune(s, 0) || utf8.RuneCountInString(s) > in.v.Limits().Text {
		return board.Invalid("%s must be text of at most %d characters without U+0000.", at, in.v.Limits().Text).
			In(at, board.RuleValue)
	}
	return nil
}

// times returns an error if a time is missing. A missing time is decoded as 0, which
// is in 1970, before any board was created.
func (in *reader) times(at string, created, updated board.Instant) error {
	if created == 0 || updated == 0 {
		return board.Invalid("%s must have the times at which it was created and last changed.", at).In(at, board.RuleValue)
	}
	return nil
}

func color(at string, c board.Color) error {
	for _, known := range board.Colors {
		if c == known {
			return nil
		}
	}
	return board.Invalid("%s.color must be one of %s.", at, board.JoinValues(board.Colors[:]))
}

func due(at string, d board.Due) error {
	for _, day := range []struct {
		field string
		date  *string
		at    *board.Instant
	}{{"dueDate", d.DueDate, d.DueAt}, {"startDate", d.StartDate, d.StartAt}} {
		if day.date == nil && day.at != nil || day.at != nil && d.TimeZone == nil {
			return board.Invalid("%s: an instant requires %s and timeZone.", at, day.field).In(at, board.RuleValue)
		}
		if day.date != nil {
			if _, err := board.ParseDate(at+"."+day.field, *day.date); err != nil {
				return err
			}
		}
	}
	if d.TimeZone != nil {
		_, err := board.LoadZone(at+".timeZone", *d.TimeZone)
		return err
	}
	return nil
}

func kind(at string, k board.Kind) error {
	if k == "" || len(k) > 64 || strings.Trim(string(k), "abcdefghijklmnopqrstuvwxyz_.") != "" {
		return board.Invalid("%s.type must be an event kind.", at)
	}
	return nil
}

const maxDepth = 32 // maximum levels of nesting in a change

// plainChanges returns an error if changes contain U+0000 or are nested more than
// maxDepth levels deep.
func plainChanges(at string, c board.Changes) error {
	for field, ft := range c {
		if strings.ContainsRune(field, 0) || !isPlain(ft.From, maxDepth) || !isPlain(ft.To, maxDepth) {
			return board.Invalid("%s.changes must not contain U+0000 or be nested more than %d "+
				"levels deep.", at, maxDepth)
		}
	}
	return nil
}

func isPlain(v any, depth int) bool {
	switch v := v.(type) {
	case string:
		return !strings.ContainsRune(v, 0)
	case []any:
		for _, e := range v {
			if depth == 0 || !isPlain(e, depth-1) {
				return false
			}
		}
	case map[string]any:
		for name, e := range v {
			if depth == 0 || strings.ContainsRune(name, 0) || !isPlain(e, depth-1) {
				return false
			}
		}
	}
	return true
}
