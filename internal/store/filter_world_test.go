package store_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/query"
	"cardwall/internal/store"
)

// worldMaker fills a world with random cards.
type worldMaker struct {
	*world
	r        *rand.Rand
	people   []string
	labelsOf map[string][2][]string // ids and names of the labels of each board
}

// namedList is a list with the names that a card in it can be found by.
type namedList struct{ board, boardName, list, name string }

func newWorld(t *testing.T, s *apptest.Service) *world {
	ada, bob, eve := s.Person("Ada"), s.Person("Bob"), s.Person("ÉVE")
	own := ada.Workspace("Own", board.PlanTeam)
	other := bob.Workspace("Other", board.PlanTeam)
	bob.Joins(own, board.WorkspaceMember)
	eve.Joins(own, board.WorkspaceMember)
	eve.Joins(other, board.WorkspaceMember)
	ada.Joins(other, board.WorkspaceMember)
	w := &world{me: ada.ID, admin: map[string]bool{}, status: map[string]string{}, listName: []string{"To do", "Dóing", "to  DO"},
		names:  map[string]string{ada.ID: "Ada", bob.ID: "Bob", eve.ID: "ÉVE"},
		emails: map[string]string{ada.ID: "ada@example.com", bob.ID: "bob@example.com", eve.ID: "éve@example.com"}}
	m := &worldMaker{world: w, r: rand.New(rand.NewPCG(1, 2)), people: []string{ada.ID, bob.ID, eve.ID},
		labelsOf: map[string][2][]string{}}
	var lists []namedList
	for i, workspace := range []string{own, other, own} {
		owner := ada
		if workspace == other {
			owner = bob
		}
		b := owner.Must("create_board", apptest.Fields{"workspaceId": workspace, "name": []string{"One", "Two", "ONE"}[i]})
		w.admin[b.ID()] = workspace == own
		w.boards = append(w.boards, b.ID())
		var ids [2][]string
		for _, name := range []string{"Bug", "bug ", "Ünique"} {
			l := owner.Must("create_label", apptest.Fields{"boardId": b.ID(), "name": name, "color": "red"})
			ids[0], ids[1] = append(ids[0], l.ID()), append(ids[1], l.Text("name"))
			w.labels = append(w.labels, l.ID())
		}
		m.labelsOf[b.ID()] = ids
		for _, status := range [][]string{{"off_track", "on_track"}, {"at_risk"}, {}}[i] {
			owner.Must("post_status_update", apptest.Fields{"boardId": b.ID(), "status": status, "title": "So far"})
			w.status[b.ID()] = status
		}
		for _, name := range w.listName {
			l := owner.Must("create_list", apptest.Fields{"boardId": b.ID(), "name": name}).ID()
			w.lists = append(w.lists, l)
			lists = append(lists, namedList{b.ID(), b.Text("name"), l, name})
		}
	}
	for range 70 {
		m.addCard(s, lists[m.r.IntN(len(lists))])
	}
	archived := lists[1].list // archiving the list archives its cards
	ada.Must("archive_list", apptest.Fields{"listId": archived})
	for i := range w.cards {
		if now := s.DB.Now(); w.cards[i].listID == archived && w.cards[i].archived == nil {
			w.cards[i].archived = new(board.InstantOf(now))
		}
	}
	slices.SortFunc(w.cards, func(a, b record) int { return strings.Compare(a.id, b.id) })
	return w
}

func (w *worldMaker) pick(from []string) string { return from[w.r.IntN(len(from))] }

func (w *worldMaker) phrase() string {
	var words []string
	for range 1 + w.r.IntN(4) {
		words = append(words, w.pick(vocabulary))
	}
	return strings.Join(words, w.pick([]string{" ", "-", " \"'*"}))
}

// sometimes returns the current time in one of oneIn calls, and otherwise nil.
func (w *worldMaker) sometimes(tx *store.Tx, oneIn int) *board.Instant {
	if w.r.IntN(oneIn) > 0 {
		return nil
	}
	return new(tx.Now())
}

func (w *worldMaker) addCard(s *apptest.Service, in namedList) {
	var creator *string
	if w.r.IntN(4) > 0 {
		creator = new(w.pick(w.people))
	}
	s.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
		list, err := tx.List(ctx, in.list, board.Edit)
		if err != nil {
			return err
		}
		description := ""
		if w.r.IntN(2) == 0 {
			description = w.phrase()
		}
		c := board.Card{ID: tx.NewID("crd_"), BoardID: list.BoardID, ListID: list.ID, Title: w.phrase(), Description: &description,
			CreatedBy: creator}
		if c.Due, err = w.due(); err != nil {
			return err
		}
		rec := record{boardID: in.board, listID: in.list, boardName: in.boardName, listName: in.name, due: c.Due,
			texts: map[query.Place][]string{}}
		if creator != nil {
			rec.creator = *creator
		}
		for i, id := range w.labelsOf[in.board][0] {
			if w.r.IntN(3) == 0 {
				c.Labels = append(c.Labels, board.LabelRef{ID: id})
				rec.labels, rec.labelNames = append(rec.labels, id), append(rec.labelNames, w.labelsOf[in.board][1][i])
			}
		}
		for _, id := range w.people {
			if w.r.IntN(3) == 0 {
				c.Assignees = append(c.Assignees, board.UserRef{ID: id})
				rec.members = append(rec.members, id)
			}
		}
		if _, err := tx.InsertCard(ctx, &c, board.Position{}); err != nil {
			return err
		}
		rec.id, rec.created = c.ID, c.CreatedAt
		rec.texts[query.InTitle] = []string{c.Title}
		if description != "" {
			rec.texts[query.InDescription] = []string{description}
		}
		if err := w.addComments(ctx, tx, &rec); err != nil {
			return err
		}
		if err := w.addChecklists(ctx, tx, &rec); err != nil {
			return err
		}
		rec.done, rec.archived = w.sometimes(tx, 3), w.sometimes(tx, 4)
		c.DoneAt, c.ArchivedAt, c.Comments, c.ChecklistItems = rec.done, rec.archived, rec.comments,
			board.ItemCount{Done: rec.itemsDone, Total: rec.items}
		if err := tx.UpdateCardState(ctx, &c); err != nil {
			return err
		}
		rec.updated = c.UpdatedAt
		w.cards = append(w.cards, rec)
		tx.Emit(c.BoardID, board.CardCreated(c, ""))
		return nil
	})
}

func (w *worldMaker) due() (board.Due, error) {
	due := board.DueInput{TimeZone: w.pick([]string{"Europe/Berlin", "Pacific/Auckland"})}
	if w.r.IntN(3) > 0 {
		due.DueDate = w.pick(days)
		if w.r.IntN(2) == 0 {
			due.DueTime = w.pick([]string{"00:00", "01:30", "23:59"})
		}
	}
	if w.r.IntN(3) == 0 {
		due.StartDate = "2026-03-20"
		if due.DueDate == "" {
			due.StartDate = w.pick(days)
		}
	}
	if due.DueTime == "" {
		due.TimeZone = ""
	}
	if due.DueDate == "" && due.StartDate == "" {
		return board.Due{}, nil
	}
	return due.Resolve()
}

func (w *worldMaker) addComments(ctx context.Context, tx *store.Tx, rec *record) error {
	for range w.r.IntN(3) {
		m := board.Comment{ID: tx.NewID("cmt_"), CardID: rec.id, Text: w.phrase()}
		if w.r.IntN(3) > 0 {
			m.Author = &board.UserRef{ID: w.pick(w.people)}
			rec.commenters = append(rec.commenters, m.Author.ID)
		}
		if err := tx.InsertComment(ctx, &m); err != nil {
			return err
		}
		rec.comments++
		rec.texts[query.InComment] = append(rec.texts[query.InComment], m.Text)
	}
	return nil
}

func (w *worldMaker) addChecklists(ctx context.Context, tx *store.Tx, rec *record) error {
	for range w.r.IntN(2) {
		k := board.Checklist{ID: tx.NewID("chk_"), CardID: rec.id, Title: w.phrase()}
		rec.checklists++
		rec.texts[query.InChecklist] = append(rec.texts[query.InChecklist], k.Title)
		for range w.r.IntN(3) {
			i := board.ChecklistItem{ID: tx.NewID("chi_"), Title: w.phrase()}
			rec.items++
			if w.r.IntN(2) == 0 {
				i.DoneAt = new(tx.Now())
				rec.itemsDone++
			}
			k.Items = append(k.Items, i)
			rec.texts[query.InChecklist] = append(rec.texts[query.InChecklist], i.Title)
		}
		if err := tx.InsertChecklist(ctx, &k); err != nil {
			return err
		}
	}
	return nil
}
