package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/go-json-experiment/json"

	"cardwall/internal/board"
)

// A job that copies a list writes the cards before anyone can see them: the new list is
// archived, and a row in job_lists hides it. One short transaction then makes the list
// visible and reserves the board versions of all its changes. Afterwards, the job writes
// the activity entries of these versions. Until the last entry is written, View.Changes
// stops before the first reserved version.

// ListPart is a batch of consecutive cards of a list that a job copies.
type ListPart struct {
	At    board.Instant `json:"at"`    // when the cards were created
	Start int           `json:"start"` // number of cards before the part
	After string        `json:"after"` // id of the card before the part; "" for none
	Ranks []string      `json:"ranks"`
	Cards []WholeCard   `json:"cards"`
}

// Bytes returns the storage that the cards of the part use.
func (p ListPart) Bytes() board.Bytes {
	var n int64
	for _, c := range p.Cards {
		n += c.bytes()
	}
	return board.Bytes(n)
}

// InsertHiddenList writes the list of a job at a position on a loaded board. The list is
// hidden until RevealJobList.
func (tx *Tx) InsertHiddenList(ctx context.Context, jobID string, l *board.List, at board.Position) error {
	if err := tx.insertArchivedList(ctx, l, at); err != nil {
		return err
	}
	return tx.exec(ctx, "INSERT INTO job_lists (list_id, job_id, board_id) VALUES ($1, $2, $3)", l.ID, jobID, l.BoardID)
}

// OpenListBytes returns the storage that the open cards of a list use, without the content
// of attached files. The list's board must be loaded.
func (v *View) OpenListBytes(ctx context.Context, listID string) (n board.Bytes, err error) {
	_, err = v.one(ctx, "SELECT "+cardTextBytes("c.list_id = $1 AND c.archived_at IS NULL"), []any{listID}, &n)
	return n, err
}

// ListBytes is OpenListBytes for all cards, including archived ones.
func (v *View) ListBytes(ctx context.Context, listID string) (n board.Bytes, err error) {
	_, err = v.one(ctx, "SELECT "+cardTextBytes("c.list_id = $1"), []any{listID}, &n)
	return n, err
}

// CountCards returns the number of cards in a list, including archived ones. The list's
// board must be loaded.
func (v *View) CountCards(ctx context.Context, listID string) (int, error) {
	return v.count(ctx, "SELECT count(*) FROM cards WHERE list_id = $1", listID)
}

// jobList is a hidden list of a job.
type jobList struct {
	id, boardID        string
	firstNumber, cards int
}

// jobList returns the hidden list of a job. It locks and loads the list's board, like
// loadJobBoard.
func (tx *Tx) jobList(ctx context.Context, jobID string) (l jobList, err error) {
	found, err := tx.one(ctx, "SELECT list_id, board_id, first_number, cards FROM job_lists WHERE job_id = $1", []any{jobID}, &l.id,
		&l.boardID, &l.firstNumber, &l.cards)
	if err == nil && !found {
		err = board.Refuse(board.CodeNotFound, "The board was deleted.")
	}
	if err != nil {
		return l, err
	}
	return l, tx.loadJobBoard(ctx, l.boardID)
}

// loadJobBoard locks and loads a board for a job. It does not check permissions, and
// accepts a board in any state. It returns a not_found error if the board was deleted.
func (tx *Tx) loadJobBoard(ctx context.Context, boardID string) error {
	if err := tx.lock(ctx, boardLock, boardID); err != nil {
		return err
	}
	var s accessScan
	found, err := tx.one(ctx, "SELECT "+accessColumns+" FROM boards b"+accessJoins+"WHERE b.id = $1", []any{boardID, tx.caller.UserID},
		s.dest()...)
	if err == nil && !found {
		err = board.Refuse(board.CodeNotFound, "The board was deleted.")
	}
	if err == nil {
		tx.remember(s.result())
	}
	return err
}

// SetListParts records that all parts of a job that copies a list are stored, and
// reserves the numbers of its cards.
func (tx *Tx) SetListParts(ctx context.Context, jobID string, parts, cards int) error {
	l, err := tx.jobList(ctx, jobID)
	if err != nil {
		return err
	}
	if err := tx.exec(ctx, "UPDATE job_lists SET first_number = $1, cards = $2 WHERE job_id = $3", tx.On(l.boardID).NextNumber, cards,
		jobID); err != nil {
		return err
	}
	if err := tx.exec(ctx, "UPDATE boards SET next_number = next_number + $1 WHERE id = $2", cards, l.boardID); err != nil {
		return err
	}
	return tx.SetJobParts(ctx, jobID, parts, 2*cards, nil) // a card and its activity entry count separately
}

// WriteListPart writes the cards of a part to the hidden list of a job. It omits deleted
// labels and people who can no longer see the board.
func (tx *Tx) WriteListPart(ctx context.Context, jobID string, part int, p ListPart) error {
	l, err := tx.jobList(ctx, jobID)
	if err != nil {
		return err
	}
	labelIDs, userIDs := p.used()
	labels, err := tx.LabelsOf(ctx, l.boardID, labelIDs)
	if err != nil {
		return err
	}
	people, err := tx.PeopleOf(ctx, l.boardID, userIDs)
	if err != nil {
		return err
	}
	var r rows
	for i, c := range p.Cards {
		c.keepOnly(func(id string) bool { _, ok := labels[id]; return ok }, func(id string) bool { _, ok := people[id]; return ok })
		c.BoardID, c.ListID, c.Number, c.Rank = l.boardID, l.id, l.firstNumber+p.Start+i, p.Ranks[i]
		c.SetTimes(p.At)
		if err := r.card(&c); err != nil {
			return err
		}
		tx.grow(l.boardID, c.bytes(), 0)
	}
	if err := tx.writeRows(ctx, &r); err != nil {
		return err
	}
	return tx.exec(ctx, "UPDATE jobs SET written = $1, done = done + $2 WHERE id = $3", part+1, len(p.Cards), jobID)
}

// used returns the ids of the labels and assignees that the cards of the part have.
func (p ListPart) used() (labelIDs, userIDs []string) {
	labels, people := map[string]bool{}, map[string]bool{}
	for _, c := range p.Cards {
		for _, l := range c.Labels {
			labels[l.ID] = true
		}
		for _, u := range c.Assignees {
			people[u.ID] = true
		}
	}
	return slices.Sorted(maps.Keys(labels)), slices.Sorted(maps.Keys(people))
}

// keepOnly removes the labels and assignees for which label or person returns false. It
// allocates new slices, because a copy of the card may share the old ones.
func (c *WholeCard) keepOnly(label, person func(id string) bool) {
	labels, people := []board.LabelRef{}, []board.UserRef{}
	for _, l := range c.Labels {
		if label(l.ID) {
			labels = append(labels, l)
		}
	}
	for _, u := range c.Assignees {
		if person(u.ID) {
			people = append(people, u)
		}
	}
	c.Labels, c.Assignees = labels, people
}

// JobListCards returns the id of the board and the number of cards of a job's hidden
// list. It returns a not_found error if the board was deleted.
func (v *View) JobListCards(ctx context.Context, jobID string) (boardID string, cards int, err error) {
	found, err := v.one(ctx, "SELECT board_id, cards FROM job_lists WHERE job_id = $1", []any{jobID}, &boardID, &cards)
	if err == nil && !found {
		err = board.Refuse(board.CodeNotFound, "The board was deleted.")
	}
	return boardID, cards, err
}

// usedOnCards contains the ids of all labels and assignees on the cards of a list.
type usedOnCards struct {
	Labels []string `json:"labels"`
	People []string `json:"people"`
}

// RevealJobList makes the list of a job visible. It locks and loads the list's board. It
// returns the list and the id of the open list before it. The caller must emit the event
// of the new list, and then call ReserveVersions for the events of its cards.
func (tx *Tx) RevealJobList(ctx context.Context, jobID string) (l board.List, after string, err error) {
	var hidden jobList
	if hidden, err = tx.jobList(ctx, jobID); err != nil {
		return l, "", err
	}
	if err := tx.exec(ctx, "DELETE FROM job_lists WHERE job_id = $1", jobID); err != nil {
		return l, "", err
	}
	if l, err = tx.loadJobList(ctx, hidden.id); err != nil {
		return l, "", err
	}
	l.ArchivedAt, l.OpenCards = nil, hidden.cards
	a := tx.On(l.BoardID)
	a.OpenLists++
	a.AllCards += hidden.cards
	if err := tx.UpdateList(ctx, &l); err != nil {
		return l, "", err
	}
	if err := tx.RecountOpenCards(ctx, l.BoardID); err != nil {
		return l, "", err
	}
	if after, err = tx.ListBefore(ctx, l); err != nil {
		return l, "", err
	}
	return l, after, tx.deferEntries(ctx, jobID, hidden)
}

// deferEntries marks the next versions of the board as pending: one for the event of the
// new list, and one for each card. RecordListPart later writes the entries of the cards.
func (tx *Tx) deferEntries(ctx context.Context, jobID string, l jobList) error {
	var used usedOnCards
	for _, u := range []struct {
		text string
		ids  *[]string
	}{
		{"SELECT DISTINCT k.label_id FROM cards c JOIN card_labels k ON k.card_id = c.id WHERE c.list_id = $1", &used.Labels},
		{"SELECT DISTINCT k.user_id FROM cards c JOIN card_assignees k ON k.card_id = c.id WHERE c.list_id = $1", &used.People},
	} {
		ids, err := tx.texts(ctx, u.text, l.id)
		if err != nil {
			return err
		}
		*u.ids = ids
	}
	text, err := json.Marshal(used)
	if err != nil {
		return fmt.Errorf("encode labels and people: %w", err)
	}
	first := tx.On(l.boardID).Version + 1
	return tx.exec(ctx, `INSERT INTO pending_activity (job_id, board_id, first, last, at, list_id, first_number, used)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
		jobID, l.boardID, first, first+int64(l.cards), int64(tx.now), l.id, l.firstNumber, string(text))
}

// ReserveVersions reserves n versions of a board for entries that a job writes later. They
// follow the versions of all events that the transaction has emitted so far.
func (tx *Tx) ReserveVersions(boardID string, n int) {
	a := tx.On(boardID)
	a.Version += int64(n)
	tx.drafted += int64(n)
	tx.touch(a)
}

// RecordListPart emits the events of a part's cards with the versions reserved for them.
// The transaction must act for the job's caller, but with the permissions of the system.
// RecordListPart does nothing if the board was deleted.
func (tx *Tx) RecordListPart(ctx context.Context, jobID string, part int, p ListPart,
	event func(c WholeCard, after string) board.Event) error {
	var (
		boardID, listID, text string
		first                 int64
		at                    board.Instant
		number                int
		used                  usedOnCards
	)
	found, err := tx.one(ctx, "SELECT board_id, list_id, used, first, at, first_number FROM pending_activity WHERE job_id = $1", []any{jobID},
		&boardID, &listID, &text, &first, &at, &number)
	if err != nil || !found { // the board was deleted
		return err
	}
	if err := json.Unmarshal([]byte(text), &used); err != nil {
		return fmt.Errorf("decode labels and people: %w", err)
	}
	if err := tx.loadJobBoard(ctx, boardID); err != nil {
		return err
	}
	tx.now = at // a higher version must not have an earlier time
	labels, people := setOf(used.Labels), setOf(used.People)
	after := p.After
	for i, c := range p.Cards {
		c.keepOnly(func(id string) bool { return labels[id] }, func(id string) bool { return people[id] })
		c.BoardID, c.ListID, c.Number, c.Rank = boardID, listID, number+p.Start+i, p.Ranks[i]
		c.SetTimes(p.At)
		a := *tx.On(boardID)
		a.Version = first + 1 + int64(p.Start+i)
		tx.pending = append(tx.pending, pendingEvent{access: &a, event: event(c, after), id: tx.NewID("act_")})
		after = c.ID
	}
	if err := tx.exec(ctx, "UPDATE pending_activity SET written = $1 WHERE job_id = $2", part+1, jobID); err != nil {
		return err
	}
	return tx.exec(ctx, "UPDATE jobs SET done = done + $1 WHERE id = $2", len(p.Cards), jobID)
}

func setOf(ids []string) map[string]bool {
	set := make(map[string]bool, len(ids))
	for _, id := range ids {
		set[id] = true
	}
	return set
}

// EndJobList marks a job as done after its list has become visible. If complete is false,
// the activity entries of some cards are missing. EndJobList then marks the activity of
// the board as incomplete up to the last reserved version.
func (tx *Tx) EndJobList(ctx context.Context, jobID string, complete bool) error {
	var (
		boardID, listID string
		last            int64
		result          = jobResult{BoardIDs: []string{}}
	)
	found, err := tx.one(ctx, "SELECT board_id, list_id, last FROM pending_activity WHERE job_id = $1", []any{jobID}, &boardID, &listID, &last)
	if err != nil {
		return err
	}
	if found {
		result.ListID = &listID
		tx.effects.Boards = append(tx.effects.Boards, boardID)
		if !complete {
			if err := tx.exec(ctx, "UPDATE boards SET reduced_to = $1 WHERE id = $2 AND reduced_to < $1", last, boardID); err != nil {
				return err
			}
		}
	}
	text, err := json.Marshal(result, json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("encode result: %w", err)
	}
	return errors.Join(
		tx.exec(ctx, "DELETE FROM pending_activity WHERE job_id = $1", jobID),
		tx.exec(ctx, "UPDATE jobs SET state = $1, result = $2, done = total, holder = '', ended_at = $3 WHERE id = $4",
			string(board.JobDone), string(text), int64(tx.now), jobID))
}

// AbandonedList returns the id of a hidden list whose job has failed or was canceled,
// or "" if there is none.
func (v *View) AbandonedList(ctx context.Context) (id string, err error) {
	_, err = v.one(ctx, "SELECT l.list_id FROM job_lists l JOIN jobs j ON j.id = l.job_id WHERE j.ended_at IS NOT NULL LIMIT 1", nil, &id)
	return id, err
}
