package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"cardwall/internal/board"
	"cardwall/internal/sqldb"
	"cardwall/internal/store/search"
)

// Counting reads many cards to compute a few numbers. The cards of each list are read as
// one aggregated string from a covering index, and the card ids of each label as another.
// The strings save SQLite a row for every card, assignee and label, and a sort for every
// GROUP BY.

// countAtOnce is the number of boards that one statement counts. It keeps statements
// short.
const countAtOnce = 64

// summaryCounter counts the cards of some boards.
type summaryCounter struct {
	v      *View
	boards map[string]*boardCount
	since  board.Instant // the earliest of the boards' since times
}

type boardCount struct {
	Summary
	past   int           // cards due before this day are long overdue
	pastAt board.Instant // cards due before this instant are long overdue
	stale  board.Instant // cards last changed before this time are long stale
	since  board.Instant // creations and completions count from this time on

	cards map[string]*countedCard // the cards that are not archived, whether done or not, by id
}

func newBoardCount(at board.Instant) *boardCount {
	b := &boardCount{Summary: Summary{CountedAt: at}, pastAt: at - dueSlack, stale: at - staleSlack, since: at - flowSlack,
		cards: map[string]*countedCard{}}
	b.past = dayNumber(b.pastAt.Time().UTC().Format(board.DateLayout))
	return b
}

// countedCard is a card while it is counted.
type countedCard struct {
	id       string
	done     bool
	day      int           // day on which the card is due; 0 for none, -1 if at is set
	at       board.Instant // instant at which the card is due; 0 for none
	assigned bool
}

// Summaries counts the cards of boards and returns a summary of each. It does not check
// permissions.
func (v *View) Summaries(ctx context.Context, boardIDs []string) (map[string]*Summary, error) {
	at := make(map[string]board.Instant, len(boardIDs))
	for _, id := range boardIDs {
		at[id] = v.now
	}
	return v.summariesAt(ctx, boardIDs, at)
}

// summariesAt is Summaries with an individual counting time for each board.
func (v *View) summariesAt(ctx context.Context, boardIDs []string, at map[string]board.Instant) (map[string]*Summary, error) {
	out := make(map[string]*Summary, len(boardIDs))
	for ids := range slices.Chunk(boardIDs, countAtOnce) {
		n := summaryCounter{v: v, boards: map[string]*boardCount{}, since: v.now}
		for _, id := range ids {
			b := newBoardCount(at[id])
			n.boards[id], n.since = b, min(n.since, b.since)
		}
		for _, read := range []func(context.Context, []string) error{n.lists, n.labels, n.people, n.flow, n.unplanned} {
			if err := read(ctx, ids); err != nil {
				return nil, fmt.Errorf("count cards of boards: %w", err)
			}
		}
		for id, b := range n.boards {
			out[id] = b.finish()
		}
	}
	return out, nil
}

// lists reads the open lists of the boards with their cards.
func (n *summaryCounter) lists(ctx context.Context, ids []string) error {
	var a sqldb.Args
	text := `SELECT l.id, l.board_id, l.name, l.wip_limit, l.wip_mode, (SELECT string_agg(concat(
		CASE WHEN c.done_at IS NOT NULL THEN 'd' WHEN c.due_date IS NULL THEN 'u' WHEN c.due_at IS NULL THEN c.due_date
		ELSE concat('t', c.due_at) END, ':', c.updated_at, ':', c.id), ' ')
		FROM cards c WHERE c.list_id = l.id AND ` + search.OpenCard + `)
		FROM lists l WHERE l.archived_at IS NULL AND l.board_id IN (` + a.In(ids) + ") ORDER BY l.id"
	return n.v.each(ctx, text, a, func(rows *sql.Rows) error {
		var (
			l       ListSummary
			boardID string
			cards   sql.NullString
		)
		if err := rows.Scan(&l.ID, &boardID, &l.Name, &l.WIPLimit, &l.WIPMode, &cards); err != nil {
			return err
		}
		b := n.boards[boardID]
		for text := range each(cards.String) {
			if err := b.card(&l, text); err != nil {
				return fmt.Errorf("parse cards of %s: %w", l.ID, err)
			}
		}
		l.sort()
		b.Lists = append(b.Lists, l)
		return nil
	})
}

// card counts a card. The text contains its due time, the time of its last change and its
// id.
func (b *boardCount) card(l *ListSummary, text string) error {
	due, rest, _ := strings.Cut(text, ":")
	changed, id, _ := strings.Cut(rest, ":")
	at, err := strconv.ParseInt(changed, 10, 64)
	if err != nil {
		return err
	}
	c := &countedCard{id: id}
	switch {
	case due == "d":
		c.done = true
	case due == "u":
	case strings.HasPrefix(due, "t"):
		n, err := strconv.ParseInt(due[1:], 10, 64)
		if err != nil {
			return err
		}
		c.at, c.day = board.Instant(n), -1
	default:
		c.day = dayNumber(due)
	}
	b.cards[id] = c
	l.add(b, c)
	if !c.done {
		b.changed(OldCard{board.Instant(at), id})
	}
	return nil
}

// changed counts the last change to an open card.
func (b *boardCount) changed(c OldCard) {
	if c.UpdatedAt < b.stale {
		b.LongStale++
	} else {
		b.Updated = append(b.Updated, c.UpdatedAt)
	}
	b.Oldest = AddOldCard(b.Oldest, c)
}

// AddOldCard adds a card to the cards that have gone longest without a change, least
// recently changed first. It returns at most OldestCards cards.
func AddOldCard(oldest []OldCard, c OldCard) []OldCard {
	compare := func(a, b OldCard) int { return cmp.Or(cmp.Compare(a.UpdatedAt, b.UpdatedAt), cmp.Compare(a.ID, b.ID)) }
	if n := len(oldest); n == OldestCards && compare(oldest[n-1], c) < 0 {
		return oldest
	}
	at, _ := slices.BinarySearchFunc(oldest, c, compare)
	oldest = slices.Insert(oldest, at, c)
	return oldest[:min(len(oldest), OldestCards)]
}

// add counts a card.
func (d *DueCounts) add(b *boardCount, c *countedCard) {
	switch {
	case c.done:
		d.Done++
	case c.day == 0:
		d.Undated++
	case c.day > 0 && c.day < b.past, c.day < 0 && c.at < b.pastAt:
		d.Past++
		day := c.day
		if day < 0 {
			day = dayNumber(c.at.Time().UTC().Format(board.DateLayout))
		}
		if d.PastFrom == 0 || day < d.PastFrom {
			d.PastFrom = day
		}
	case c.day > 0:
		d.Days = append(d.Days, DayCount{c.day, 1})
	default:
		d.Times = append(d.Times, c.at)
	}
}

// sort sorts the days and the instants, and merges equal days. It is called after the last
// card was added.
func (d *DueCounts) sort() {
	slices.Sort(d.Times)
	slices.SortFunc(d.Days, func(a, b DayCount) int { return cmp.Compare(a.Day, b.Day) })
	days := d.Days[:0]
	for _, on := range d.Days {
		if last := len(days) - 1; last >= 0 && days[last].Day == on.Day {
			days[last].Cards += on.Cards
		} else {
			days = append(days, on)
		}
	}
	d.Days = days
}

// labels reads the labels of the boards with the ids of their cards.
func (n *summaryCounter) labels(ctx context.Context, ids []string) error {
	var a sqldb.Args
	text := `SELECT a.board_id, a.name, a.color, (SELECT string_agg(k.card_id, ' ') FROM card_labels k WHERE k.label_id = a.id)
		FROM labels a WHERE a.board_id IN (` + a.In(ids) + ") ORDER BY a.id"
	return n.v.each(ctx, text, a, func(rows *sql.Rows) error {
		var (
			l       LabelSummary
			boardID string
			cards   sql.NullString
		)
		if err := rows.Scan(&boardID, &l.Name, &l.Color, &cards); err != nil {
			return err
		}
		b := n.boards[boardID]
		for id := range each(cards.String) {
			if c := b.cards[id]; c != nil {
				l.add(b, c)
			}
		}
		if l.Cards() > 0 {
			l.sort()
			b.Labels = append(b.Labels, l)
		}
		return nil
	})
}

// people reads the assignees of the boards' cards.
func (n *summaryCounter) people(ctx context.Context, ids []string) error {
	var a sqldb.Args
	text := `SELECT b.id, (SELECT string_agg(concat(k.card_id, ':', k.user_id, ':', k.assigned_at), ' ')
		FROM cards c JOIN card_assignees k ON k.card_id = c.id WHERE c.board_id = b.id) FROM boards b WHERE b.id IN (` + a.In(ids) + ")"
	return n.v.each(ctx, text, a, func(rows *sql.Rows) error {
		var (
			boardID  string
			assigned sql.NullString
		)
		if err := rows.Scan(&boardID, &assigned); err != nil {
			return err
		}
		b := n.boards[boardID]
		people := map[string]*PersonSummary{}
		for text := range each(assigned.String) {
			cardID, rest, _ := strings.Cut(text, ":")
			userID, since, _ := strings.Cut(rest, ":")
			c := b.cards[cardID]
			if c == nil {
				continue
			}
			c.assigned = true
			p := people[userID]
			if p == nil {
				p = &PersonSummary{UserID: strings.Clone(userID)}
				people[userID] = p
			}
			p.add(b, c)
			at, err := strconv.ParseInt(since, 10, 64)
			if err != nil {
				return fmt.Errorf("parse assignment: %w", err)
			}
			if !c.done && board.Instant(at) >= b.CountedAt-recentSlack {
				p.Assigned = append(p.Assigned, board.Instant(at))
			}
		}
		for _, p := range people {
			p.sort()
			slices.Sort(p.Assigned)
			b.People = append(b.People, *p)
		}
		slices.SortFunc(b.People, func(a, b PersonSummary) int { return cmp.Compare(a.UserID, b.UserID) })
		return nil
	})
}

// flow reads the cards that were created or completed recently. It includes archived cards
// and cards in archived lists.
func (n *summaryCounter) flow(ctx context.Context, ids []string) error {
	var a sqldb.Args
	since := a.Add(int64(n.since))
	text := "SELECT l.board_id, (SELECT string_agg(CASE WHEN c.done_at >= " + since + `
		THEN concat(c.created_at, ':', c.done_at, ':', c.moved_at) ELSE CAST(c.created_at AS TEXT) END, ' ')
		FROM cards c WHERE c.list_id = l.id AND (c.created_at >= ` + since + " OR c.done_at >= " + since + `))
		FROM lists l WHERE ` + search.ShownList + " AND l.board_id IN (" + a.In(ids) + ")"
	return n.v.each(ctx, text, a, func(rows *sql.Rows) error {
		var (
			boardID string
			cards   sql.NullString
		)
		if err := rows.Scan(&boardID, &cards); err != nil {
			return err
		}
		b := n.boards[boardID]
		for text := range each(cards.String) {
			if err := b.flow(text); err != nil {
				return fmt.Errorf("parse times of cards: %w", err)
			}
		}
		return nil
	})
}

// flow counts a card. The text contains the time of its creation and, if the card was
// completed recently, the times of its completion and of its first move to another list.
func (b *boardCount) flow(text string) error {
	first, rest, finished := strings.Cut(text, ":")
	done, moved, _ := strings.Cut(rest, ":")
	var at [3]int64
	for i, number := range [...]string{first, done, moved} {
		if number == "" {
			continue
		}
		var err error
		if at[i], err = strconv.ParseInt(number, 10, 64); err != nil {
			return err
		}
	}
	if created := board.Instant(at[0]); created >= b.since {
		b.Created = append(b.Created, created)
	}
	if finished && board.Instant(at[1]) >= b.since {
		f := FinishedCard{At: board.Instant(at[1]), Lead: max(0, at[1]-at[0]), Cycle: -1}
		if at[2] > 0 && at[2] <= at[1] {
			f.Cycle = at[1] - at[2]
		}
		b.Finished = append(b.Finished, f)
	}
	return nil
}

// unplanned counts the open cards without any date.
func (n *summaryCounter) unplanned(ctx context.Context, ids []string) error {
	var a sqldb.Args
	undated := "c.archived_at IS NULL AND COALESCE(c.due_date, c.start_date) IS NULL AND COALESCE(c.start_date, c.due_date) IS NULL " +
		"AND c.done_at IS NULL"
	text := "SELECT b.id, (SELECT count(*) FROM cards c WHERE c.board_id = b.id AND " + undated +
		") - (SELECT count(*) FROM lists l JOIN cards c ON c.list_id = l.id WHERE l.board_id = b.id AND l.archived_at IS NOT NULL AND " +
		undated + ") FROM boards b WHERE b.id IN (" + a.In(ids) + ")"
	return n.v.each(ctx, text, a, func(rows *sql.Rows) error {
		var (
			id    string
			cards int
		)
		err := rows.Scan(&id, &cards)
		n.boards[id].Unplanned = cards
		return err
	})
}

// finish completes the summary after the last card, and returns it.
func (b *boardCount) finish() *Summary {
	for _, c := range b.cards {
		if !c.done && !c.assigned {
			b.Unassigned++
		}
	}
	slices.Sort(b.Updated)
	slices.Sort(b.Created)
	slices.SortFunc(b.Finished, func(x, y FinishedCard) int {
		return cmp.Or(cmp.Compare(x.At, y.At), cmp.Compare(x.Lead, y.Lead), cmp.Compare(x.Cycle, y.Cycle))
	})
	for i := range b.Oldest {
		// The id is a substring of a large string, which must not stay in memory.
		b.Oldest[i].ID = strings.Clone(b.Oldest[i].ID)
	}
	return &b.Summary
}

// each iterates over the space-separated parts of a string. An empty string has no
// parts.
func each(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for more := text != ""; more; {
			var part string
			if part, text, more = strings.Cut(text, " "); !yield(part) {
				return
			}
		}
	}
}
