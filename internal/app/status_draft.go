package app

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/query"
	"cardwall/internal/store"
)

const (
	draftDays     = 7    // days covered by a draft
	draftCount    = 1000 // maximum number of cards counted for each kind
	maxDraftCards = 10   // maximum number of cards listed for each kind

	draftTitle = 120 // maximum characters of a title, so that all titles fit into one update
)

// StatusDraft is a draft of a status update: the changes of a board in the last
// seven days, in Markdown.
type StatusDraft struct {
	From       string       `json:"from" format:"date" doc:"The first day that the draft covers." example:"2026-03-06"`
	To         string       `json:"to" format:"date" doc:"The last day that the draft covers: today in the caller's time zone." example:"2026-03-12"`
	Status     board.Status `json:"status" enum:"on_track,at_risk,off_track,on_hold,complete" doc:"The status of the latest status update; on_track if there is none." example:"on_track"`
	Title      string       `json:"title" doc:"A one-line summary of the changes." example:"3 done, 2 overdue"`
	Text       string       `json:"text" doc:"The changes, in Markdown." example:"### Done (1)\n\n- [Order cabinets](https://cardwall.example.com/cards/crd_01jb2m3n4p5q6r7s8t9v0w1x2y)\n"`
	StartDate  *string      `json:"startDate" format:"date" doc:"The start date of the latest status update; null if there is none." example:"2026-03-01"`
	TargetDate *string      `json:"targetDate" format:"date" doc:"The target date of the latest status update; null if there is none." example:"2026-04-15"`
	Done       int          `json:"done" doc:"The number of completed cards, at most 1,000." example:"3"`
	Moved      int          `json:"moved" doc:"The number of cards created before these days that were moved to another list but not completed, at most 1,000." example:"4"`
	Added      int          `json:"added" doc:"The number of new cards that are not done, at most 1,000." example:"5"`
	Overdue    int          `json:"overdue" doc:"The number of open cards that are overdue now, at most 1,000." example:"2"`
}

// DraftStatusUpdate returns a draft of a status update without posting it.
func DraftStatusUpdate(ctx context.Context, v *store.View, in BoardInput) (StatusDraft, error) {
	b, err := v.Board(ctx, in.BoardID, board.View)
	if err != nil {
		return StatusDraft{}, err
	}
	days, err := reportDays(ctx, v, "")
	if err != nil {
		return StatusDraft{}, err
	}
	first := days.today.AddDate(0, 0, 1-draftDays)
	d := StatusDraft{From: first.Format(board.DateLayout), To: days.today.Format(board.DateLayout), Status: board.StatusOnTrack}
	if before, err := v.StatusUpdates(ctx, b.ID, store.StatusUpdateCursor{At: v.Now() + 1}, 1); err != nil {
		return d, err
	} else if len(before) > 0 {
		d.Status, d.StartDate, d.TargetDate = before[0].Status, before[0].StartDate, before[0].TargetDate
	}
	env := query.Env{Now: v.Time(), Zone: days.zone, Me: v.Caller().UserID}
	find := func(text string) ([]board.Card, error) {
		q, err := (query.Filter{}).Within(text, env)
		if err != nil {
			return nil, err
		}
		cards, _, err := v.Cards(ctx, store.CardPage{BoardID: b.ID, Query: q, Compact: true, Limit: draftCount})
		return cards, err
	}
	done, err := find("is:done completed:" + d.From + "..* sort:-updated")
	if err != nil {
		return d, err
	}
	added, err := find("is:open created:" + d.From + "..* sort:created")
	if err != nil {
		return d, err
	}
	overdue, err := find("is:open due:overdue sort:due")
	if err != nil {
		return d, err
	}
	y, m, day := first.Date()
	moved, err := v.MovedCards(ctx, b.ID, board.InstantOf(time.Date(y, m, day, 0, 0, 0, 0, days.zone)), draftCount)
	if err != nil {
		return d, err
	}
	var text draftText
	text.section("Done", len(done), func(i int) string { return cardLink(done[i].Title, done[i].URL) })
	text.section("Moved", len(moved), func(i int) string {
		return cardLink(moved[i].Title, moved[i].URL) + " → " + escapeMarkdown(moved[i].List)
	})
	text.section("Added", len(added), func(i int) string { return cardLink(added[i].Title, added[i].URL) })
	text.section("Overdue", len(overdue), func(i int) string {
		_, due := days.span(overdue[i].Due)
		return cardLink(overdue[i].Title, overdue[i].URL) + ", due " + due
	})
	d.Done, d.Moved, d.Added, d.Overdue = len(done), len(moved), len(added), len(overdue)
	d.Title, d.Text = cmp.Or(strings.Join(text.counts, ", "), "Nothing changed"), text.String()
	return d, nil
}

// draftText builds the text of a draft.
type draftText struct {
	strings.Builder
	counts []string // the sizes of the sections, such as "3 done"
}

// section writes a heading and the lines of the first maxDraftCards of count cards. It
// writes nothing if count is 0.
func (t *draftText) section(name string, count int, line func(i int) string) {
	if count == 0 {
		return
	}
	if t.Len() > 0 {
		t.WriteByte('\n')
	}
	number := strconv.Itoa(count)
	if count == draftCount {
		number += " or more"
	}
	t.counts = append(t.counts, number+" "+strings.ToLower(name))
	fmt.Fprintf(t, "### %s (%s)\n\n", name, number)
	for i := range min(count, maxDraftCards) {
		t.WriteString("- " + line(i) + "\n")
	}
	if count > maxDraftCards {
		fmt.Fprintf(t, "- and %d more\n", count-maxDraftCards)
	}
}

// cardLink returns a Markdown link to a card. Long titles are truncated.
func cardLink(title, url string) string {
	if runes := []rune(title); len(runes) > draftTitle {
		title = string(runes[:draftTitle]) + "…"
	}
	return "[" + escapeMarkdown(title) + "](" + url + ")"
}

// escapeMarkdown escapes a string so that Markdown shows it literally (CommonMark,
// section 2.4). It replaces each sequence of white space with one space.
func escapeMarkdown(s string) string {
	var b strings.Builder
	for _, r := range strings.Join(strings.Fields(s), " ") {
		if strings.ContainsRune("\\`*_[]<>&~|", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
