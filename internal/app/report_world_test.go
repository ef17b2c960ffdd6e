package app_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"pgregory.net/rapid"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

// reportWorld is an in-memory model of a workspace that is also stored in the database. The tests
// compute the expected reports from the model.
type reportWorld struct {
	id     string
	people []board.UserRef
	boards []*reportBoard
}

type reportBoard struct {
	board.Board
	shared []string        // people with a role on the board
	seenBy map[string]bool // people who can see the board, by ID
	labels []board.LabelRef
	lists  []*reportList
}

type reportList struct {
	board.List
	cards []*reportCard
}

type reportCard struct {
	board.Card
	moves []board.Instant
}

var reportZones = []string{"UTC", "Pacific/Kiritimati", "America/St_Johns", "Pacific/Pago_Pago", "Australia/Lord_Howe",
	"Europe/Berlin", "America/Sao_Paulo"}

const dayLong = 24 * time.Hour

// newReportWorld generates and stores a workspace with Ada as the owner, Bob as a member and Gus as
// a guest.
func newReportWorld(rt *rapid.T, s *apptest.Service, ada, bob, gus *apptest.Person) *reportWorld {
	w := &reportWorld{id: ada.Workspace("Reports", board.PlanTeam)}
	bob.Joins(w.id, board.WorkspaceMember)
	gus.Joins(w.id, board.WorkspaceGuest)
	for _, p := range []*apptest.Person{ada, bob, gus} {
		w.people = append(w.people, board.UserRef{ID: p.ID, Name: p.Name})
	}
	now := s.Clock.Now()
	// maybe draws a number from 0 to n and reports whether it is 0.
	maybe := func(label string, n int) bool { return rapid.IntRange(0, n).Draw(rt, label) == 0 }
	s.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
		in, err := tx.Workspace(ctx, w.id, board.ViewWorkspace)
		if err != nil {
			return err
		}
		// A placeholder for a person on another server is not a member, but can be assigned to cards.
		d := tx.NewDraft(in)
		id, err := d.Placeholder(ctx, tx.NewID("usr_"), "Elsewhere")
		if err := errors.Join(err, d.Flush(ctx)); err != nil {
			return err
		}
		w.people = append(w.people, board.UserRef{ID: id, Name: "Elsewhere"})
		for range rapid.IntRange(1, 4).Draw(rt, "boards") {
			b := drawReportBoard(rt, tx, w, now, maybe)
			if err := writeBoard(ctx, tx, w, b, in); err != nil {
				return err
			}
			w.boards = append(w.boards, b)
		}
		return nil
	})
	return w
}

func drawReportBoard(rt *rapid.T, tx *store.Tx, w *reportWorld, now time.Time,
	maybe func(string, int) bool) *reportBoard {
	b := &reportBoard{Board: board.Board{
		ID: tx.NewID("brd_"), WorkspaceID: w.id,
		Name:       rapid.SampledFrom([]string{"Launch", "launch", "Ärger"}).Draw(rt, "name"),
		Visibility: rapid.SampledFrom(allVisibilities).Draw(rt, "visibility"), Features: board.NewBoardFeatures(),
	}, seenBy: map[string]bool{}}
	b.Features.Calendar = !maybe("no calendar", 4)
	b.Features.WIPLimits = !maybe("no limits", 4)
	at := board.InstantOf(now)
	if maybe("board archived", 6) {
		b.ArchivedAt = &at
	}
	if maybe("board trashed", 8) {
		b.TrashedAt = &at
	}
	for i, p := range w.people[:3] {
		shared := maybe("shared with "+p.Name, 2)
		b.seenBy[p.ID] = shared || b.Visibility == "workspace" && i < 2
		if shared {
			b.shared = append(b.shared, p.ID)
		}
	}
	for range 3 {
		b.labels = append(b.labels, board.LabelRef{ID: tx.NewID("lbl_"),
			Name:  rapid.SampledFrom([]string{"Bug", "Idea", ""}).Draw(rt, "label"),
			Color: rapid.SampledFrom([]board.Color{"red", "lime"}).Draw(rt, "color")})
	}
	number := 0
	for range rapid.IntRange(0, 4).Draw(rt, "lists") {
		l := &reportList{List: board.List{ID: tx.NewID("lst_"), BoardID: b.ID,
			Name: rapid.SampledFrom([]string{"To do", "Doing"}).Draw(rt, "list"), WIPMode: "soft"}}
		if maybe("list archived", 5) {
			l.ArchivedAt = &at
		}
		if maybe("wip", 1) {
			limit := rapid.IntRange(1, 4).Draw(rt, "limit")
			l.WIPLimit = &limit
		}
		for range rapid.IntRange(0, 7).Draw(rt, "cards") {
			number++
			c := drawReportCard(rt, now, maybe)
			c.ID, c.BoardID, c.ListID, c.Number = tx.NewID("crd_"), b.ID, l.ID, number
			c.Title, c.Description = "Card", new(string)
			for _, k := range b.labels {
				if maybe("labeled", 2) {
					c.Labels = append(c.Labels, k)
				}
			}
			for _, p := range w.people {
				if maybe("assigned", 3) {
					c.Assignees = append(c.Assignees, p)
				}
			}
			l.cards = append(l.cards, c)
		}
		b.lists = append(b.lists, l)
	}
	return b
}

func drawReportCard(rt *rapid.T, now time.Time, maybe func(string, int) bool) *reportCard {
	// The generated times are minutes away from all limits that depend on the current time, so that
	// the result does not change while the test runs.
	ago := func(label string, days int) *board.Instant {
		at := board.InstantOf(now.Add(-time.Duration(rapid.IntRange(3, days*24*60).Draw(rt, label)) * time.Minute))
		return &at
	}
	c := &reportCard{}
	c.CreatedAt = *ago("created", 110)
	c.UpdatedAt = *ago("updated", 28)
	if gap := now.Sub(c.UpdatedAt.Time()) - 14*dayLong; gap.Abs() < 2*time.Minute {
		c.UpdatedAt -= board.Instant((5 * time.Minute).Milliseconds())
	}
	if maybe("done", 2) {
		c.DoneAt = ago("done at", 110)
	}
	if maybe("archived", 5) {
		c.ArchivedAt = ago("archived at", 28)
	}
	for range rapid.IntRange(0, 2).Draw(rt, "moves") {
		c.moves = append(c.moves, *ago("moved", 110))
	}
	day := func(label string, from, to int) string {
		return now.AddDate(0, 0,
			rapid.OneOf(rapid.IntRange(-1, 1), rapid.IntRange(from, to)).Draw(rt, label)).UTC().Format(board.DateLayout)
	}
	clock := func(label string) string {
		if maybe(label, 1) {
			return ""
		}
		return fmt.Sprintf("%02d:%02d", rapid.IntRange(0, 23).Draw(rt, label+" hour"),
			rapid.SampledFrom([]int{0, 15, 30, 59}).Draw(rt, label+" minute"))
	}
	for c.DueDate == nil && c.StartDate == nil && !maybe("undated", 3) {
		in := board.DueInput{TimeZone: rapid.SampledFrom(reportZones).Draw(rt, "card zone")}
		if !maybe("no due", 4) {
			in.DueDate, in.DueTime = day("due", -5, rapid.SampledFrom([]int{10, 100}).Draw(rt, "how late")), clock("due time")
		}
		if !maybe("no start", 2) {
			in.StartDate, in.StartTime = day("start", rapid.SampledFrom([]int{-30, -150}).Draw(rt, "how early"),
				8), clock("start time")
		}
		if due, err := in.Resolve(); err == nil {
			c.Due = due
		}
		if c.DueAt != nil && c.DueAt.Time().Sub(now).Abs() < 2*time.Minute {
			c.Due = board.Due{}
		}
	}
	return c
}

func writeBoard(ctx context.Context, tx *store.Tx, w *reportWorld, b *reportBoard, in board.Workspace) error {
	d := tx.NewDraft(in)
	if err := errors.Join(d.Board(ctx, &b.Board), d.Flush(ctx)); err != nil {
		return err
	}
	for _, p := range w.people[:3] {
		if err := tx.RemoveBoardMember(ctx, b.ID, p.ID); err != nil {
			return err
		}
	}
	for _, id := range b.shared {
		if err := tx.SetBoardMember(ctx, b.ID, id, board.RoleViewer); err != nil {
			return err
		}
	}
	for _, k := range b.labels {
		if err := d.Label(ctx, &board.Label{ID: k.ID, BoardID: b.ID, Name: k.Name, Color: k.Color}); err != nil {
			return err
		}
	}
	ranks, err := board.RanksAfter("", 50)
	if err != nil {
		return err
	}
	version := int64(0)
	for i, l := range b.lists {
		l.Rank = ranks[i]
		if err := d.List(ctx, &l.List); err != nil {
			return err
		}
		for j, c := range l.cards {
			c.Rank = ranks[j]
			if err := d.Card(ctx, &store.WholeCard{CardDetail: board.CardDetail{Card: c.Card}}); err != nil {
				return err
			}
			for _, at := range c.moves {
				version++
				if err := d.Entry(ctx, &board.Entry{ID: tx.NewID("act_"), Type: board.KindCardMoved, At: at, BoardID: b.ID, CardID: &c.ID,
					Actor: board.EntryActor{Actor: board.Actor{Type: board.ActorSystem}}, BoardVersion: version}); err != nil {
					return err
				}
			}
		}
	}
	if err := errors.Join(d.EndBoard(ctx, b.ID, 1), d.Flush(ctx)); err != nil {
		return err
	}
	return tx.UpdateBoard(ctx, &b.Board) // also stores TrashedAt
}

// reported calls fn for every card that a person's reports include.
func (w *reportWorld) reported(userID string, fn func(b *reportBoard, l *reportList, c *reportCard)) {
	for _, b := range w.boards {
		for _, l := range b.lists {
			for _, c := range l.cards {
				if b.seenBy[userID] && b.ArchivedAt == nil && b.TrashedAt == nil && l.ArchivedAt == nil && c.ArchivedAt == nil {
					fn(b, l, c)
				}
			}
		}
	}
}

func dayOf(at board.Instant, zone *time.Location) string {
	return at.Time().In(zone).Format(board.DateLayout)
}

// expectedOverdue reports whether a card is overdue.
func expectedOverdue(c *reportCard, now time.Time, zone *time.Location) bool {
	switch {
	case c.DoneAt != nil || c.DueDate == nil:
		return false
	case c.DueAt != nil:
		return c.DueAt.Time().Before(now)
	}
	return *c.DueDate < now.In(zone).Format(board.DateLayout)
}

// expectedSoon reports whether a card is due today or in the next six days.
func expectedSoon(c *reportCard, now time.Time, zone *time.Location) bool {
	if c.DoneAt != nil || c.DueDate == nil {
		return false
	}
	day := *c.DueDate
	if c.DueAt != nil {
		day = dayOf(*c.DueAt, zone)
	}
	today := now.In(zone).Format(board.DateLayout)
	last, _ := time.Parse(board.DateLayout, today)
	return day >= today && day <= last.AddDate(0, 0, 6).Format(board.DateLayout)
}
