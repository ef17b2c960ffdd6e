package automate

import (
	"context"
	"fmt"
	"time"

	"cardwall/internal/backoff"
	"cardwall/internal/board"
	"cardwall/internal/query"
	"cardwall/internal/store"
)

// cardsRead is the number of cards with a due date read per query.
const cardsRead = 200

// clock periodically runs the rules with time-based triggers. If there are several
// servers, only one does this.
func (e *Engine) clock(ctx context.Context) {
	for backoff.Pause(ctx, e.o.Clock) {
		if e.o.DB.Shared() {
			held, err := e.o.DB.Lease(ctx, clockLease, e.o.Holder, 2*e.o.Clock)
			if err != nil || !held {
				if err != nil {
					e.failed(ctx, cannotLease, err)
				}
				continue
			}
		}
		boards, err := e.o.DB.TimedBoards(ctx)
		if err != nil {
			e.failed(ctx, cannotReadTimed, err)
			continue
		}
		e.failures.Succeeded(cannotLease, cannotReadTimed)
		for _, id := range boards {
			if ctx.Err() == nil {
				e.runTimed(ctx, id)
			}
		}
	}
}

// runTimed runs the time-based rules of a board for the period since the last
// check.
func (e *Engine) runTimed(ctx context.Context, boardID string) {
	var (
		tasks       []task
		checked     []string
		workspaceID string
		now         board.Instant
	)
	if err := e.o.DB.Read(ctx, board.System(), func(v *store.View) error {
		tasks, checked, now = nil, nil, v.Now()
		b, err := v.Board(ctx, boardID, board.View)
		if err != nil {
			return err
		}
		workspaceID = b.WorkspaceID
		rules, err := v.EnabledRules(ctx, boardID, true)
		for i := range rules {
			if err != nil {
				return err
			}
			r := &rules[i]
			checked = append(checked, r.ID)
			if b.Features.Automation {
				var due []task
				due, err = dueTasks(ctx, v, r)
				tasks = append(tasks, due...)
			}
		}
		return err
	}); err != nil {
		e.failed(ctx, cannotReadDue, err)
		return
	}
	if !e.all(ctx, workspaceID, tasks) {
		return // the next check starts from the same time
	}
	if err := e.o.DB.SetWatchedUntil(ctx, checked, now); err != nil {
		e.failed(ctx, cannotNoteTime, err)
		return
	}
	e.failures.Succeeded(cannotReadDue, cannotNoteTime)
}

// dueTasks returns a task for each card for which a time-based trigger has occurred
// since the last check. The rule's query is checked when the rule runs.
func dueTasks(ctx context.Context, v *store.View, r *board.Rule) ([]task, error) {
	zone, err := board.LoadZone("timeZone", r.TimeZone)
	if err != nil {
		return nil, fmt.Errorf("load the time zone of %s's owner: %w", r.ID, err)
	}
	ahead := time.Duration(value(r.When.Hours)) * time.Hour
	// A due instant lies within a day of its date, in any time zone.
	from := r.WatchedAt.Time().Add(ahead).AddDate(0, 0, -2).Format(board.DateLayout)
	to := v.Time().Add(ahead).AddDate(0, 0, 2).Format(board.DateLayout)
	q, err := query.Filter{Done: "false", DueFrom: from, DueTo: to, Sort: "due"}.Parse(query.Env{Now: v.Time(), Zone: zone})
	if err != nil {
		return nil, fmt.Errorf("read due cards: %w", err)
	}
	kind := board.KindCardDue
	if r.When.Event == board.OnOverdue {
		kind = board.KindCardOverdue
	}
	var out []task
	page := store.CardPage{BoardID: r.BoardID, Query: q, Compact: true, Limit: cardsRead + 1}
	for {
		cards, marks, err := v.Cards(ctx, page)
		if err != nil {
			return nil, err
		}
		for i := range cards[:min(len(cards), cardsRead)] {
			c := &cards[i]
			at, ok := triggerTime(c, r.When, zone)
			if !ok || at <= r.WatchedAt || at > v.Now() {
				continue
			}
			key := fmt.Sprintf("%s:%s:%d", kind, c.ID, at)
			entry := board.Entry{ID: key, Type: kind, At: at, BoardID: r.BoardID, CardID: &c.ID, ListID: &c.ListID}
			entry.Actor.Type = board.ActorSystem
			out = append(out, task{r, &store.Occurrence{Key: key, Entry: entry}})
		}
		if len(cards) <= cardsRead {
			return out, nil
		}
		page.Cursor = marks[cardsRead-1]
	}
}
