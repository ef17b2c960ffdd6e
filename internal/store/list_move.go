package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"

	"cardwall/internal/board"
	"cardwall/internal/sqldb"
)

// A job moves a long list to another board in short transactions, each of which leaves
// both boards consistent. First the job moves the cards in batches to a hidden list on the
// same board. Then it moves the empty list. Finally it moves the cards in batches back to
// the list. Until the move ends, nobody else can change the list or add cards to it, so
// that the cards keep their ranks.

// ListMove is a list that a job is moving to another board.
type ListMove struct {
	JobID    string
	List     board.List
	From, To string // board ids

	hidden string // id of the hidden list on From that contains the detached cards
}

// Arrived reports whether the list is on its new board.
func (m ListMove) Arrived() bool { return m.List.BoardID == m.To }

// StartListMove starts the move of a loaded list to another board. Until the move ends,
// only the job can change the list.
func (tx *Tx) StartListMove(ctx context.Context, jobID string, l board.List, to string) error {
	hidden := l
	hidden.ID = tx.NewID("lst_")
	if err := tx.InsertHiddenList(ctx, jobID, &hidden, board.Position{}); err != nil {
		return err
	}
	if err := tx.exec(ctx, "INSERT INTO list_moves (job_id, list_id, hidden_id, from_id, to_id) VALUES ($1, $2, $3, $4, $5)",
		jobID, l.ID, hidden.ID, l.BoardID, to); err != nil {
		return fmt.Errorf("start move of list: %w", err)
	}
	// Each card counts twice, because it is detached and attached again.
	return tx.exec(ctx, "UPDATE jobs SET total = (SELECT 2 * count(*) FROM cards WHERE list_id = $1) WHERE id = $2", l.ID, jobID)
}

// ListMove returns the list that a job is moving. It locks and loads both boards, like
// loadJobBoard.
func (tx *Tx) ListMove(ctx context.Context, jobID string) (m ListMove, err error) {
	m.JobID = jobID
	found, err := tx.one(ctx, "SELECT list_id, hidden_id, from_id, to_id FROM list_moves WHERE job_id = $1", []any{jobID},
		&m.List.ID, &m.hidden, &m.From, &m.To)
	if err == nil && !found {
		err = fmt.Errorf("%s is not moving a list", jobID)
	}
	if err != nil {
		return m, err
	}
	if err := tx.LockBoardsOf(ctx, m.From, m.To); err != nil {
		return m, err
	}
	for _, id := range []string{m.From, m.To} {
		if err := tx.loadJobBoard(ctx, id); err != nil {
			return m, err
		}
	}
	m.List, err = tx.loadJobList(ctx, m.List.ID)
	return m, err
}

// loadJobList returns a list for a job, without its card count. It does not check
// permissions, and accepts a board in any state.
func (tx *Tx) loadJobList(ctx context.Context, id string) (l board.List, err error) {
	err = tx.each(ctx, "SELECT "+listFields+"0 FROM lists l WHERE l.id = $1", []any{id}, func(rows *sql.Rows) error {
		return rows.Scan(listDest(&l)...)
	})
	if err == nil {
		tx.loadedRecord(l.ID, l.BoardID, l.Name)
	}
	return l, err
}

// DetachCards moves at most limit cards, in order, from the list of a job to the hidden
// list. It returns their ids, or none if the list is empty.
func (tx *Tx) DetachCards(ctx context.Context, m ListMove, limit int) ([]string, error) {
	ids, err := tx.texts(ctx, "SELECT id FROM cards WHERE list_id = $1 ORDER BY rank, id LIMIT $2", m.List.ID, limit)
	if err != nil || len(ids) == 0 {
		return ids, err
	}
	var a sqldb.Args
	var open, done int
	if _, err := tx.one(ctx, "SELECT count(*), count(done_at) FROM cards WHERE id IN ("+a.In(ids)+") AND archived_at IS NULL", a,
		&open, &done); err != nil {
		return nil, err
	}
	from := tx.On(m.From)
	from.AllCards -= len(ids)
	from.OpenCards -= open
	from.DoneCards -= done
	a = nil
	if err := tx.exec(ctx, "UPDATE cards SET list_id = "+a.Add(m.hidden)+" WHERE id IN ("+a.In(ids)+")", a...); err != nil {
		return nil, fmt.Errorf("detach cards: %w", err)
	}
	return ids, tx.addJobProgress(ctx, m.JobID, len(ids))
}

// AttachCards moves at most limit cards from the hidden list back to the list, which must
// be on its new board. It returns the cards with the labels that they had on their former
// board, and the id of the open card before them. It returns no cards if the hidden list
// is empty. Otherwise, the caller must then call ReplaceLabels.
func (tx *Tx) AttachCards(ctx context.Context, m ListMove, limit int) (cards []WholeCard, after string, err error) {
	ids, err := tx.texts(ctx, "SELECT id FROM cards WHERE list_id = $1 ORDER BY rank, id LIMIT $2", m.hidden, limit)
	if err != nil || len(ids) == 0 {
		return nil, "", err
	}
	if cards, err = tx.MoveCardsToBoard(ctx, m.From, ids, m.List); err != nil {
		return nil, "", err
	}
	if after, err = tx.before(ctx, cardSiblings(), m.List.ID, cards[0].Rank); err != nil {
		return nil, "", err
	}
	return cards, after, tx.addJobProgress(ctx, m.JobID, len(ids))
}

// addJobProgress adds to the number of records that a job has written.
func (tx *Tx) addJobProgress(ctx context.Context, jobID string, records int) error {
	return tx.exec(ctx, "UPDATE jobs SET done = done + $1 WHERE id = $2", records, jobID)
}

// AddDropped records, in the result of a job that moves a list, the labels and people that
// were removed from cards.
func (tx *Tx) AddDropped(ctx context.Context, jobID string, labels []board.LabelRef, people []board.UserRef) error {
	if len(labels)+len(people) == 0 {
		return nil
	}
	r, err := tx.jobResult(ctx, jobID)
	if err != nil {
		return err
	}
	for _, l := range labels {
		if !slices.Contains(r.DroppedLabels, l) {
			r.DroppedLabels = append(r.DroppedLabels, l)
		}
	}
	for _, p := range people {
		if !slices.Contains(r.DroppedAssignees, p) {
			r.DroppedAssignees = append(r.DroppedAssignees, p)
		}
	}
	slices.SortFunc(r.DroppedLabels, board.LabelRef.Compare)
	return tx.setJobResult(ctx, jobID, r)
}

// EndListMove deletes the hidden list and marks the job as done. The list and all cards
// must be on their new board.
func (tx *Tx) EndListMove(ctx context.Context, m ListMove) error {
	tx.grow(m.From, -sizeOf(m.List.Name), 0)
	if err := tx.exec(ctx, "DELETE FROM lists WHERE id = $1", m.hidden); err != nil { // also deletes the row in list_moves
		return fmt.Errorf("end move of list: %w", err)
	}
	r, err := tx.jobResult(ctx, m.JobID)
	if err != nil {
		return err
	}
	r.ListID = &m.List.ID
	if err := tx.setJobResult(ctx, m.JobID, r); err != nil {
		return err
	}
	return tx.exec(ctx, "UPDATE jobs SET state = $1, done = total, holder = '', ended_at = $2 WHERE id = $3", string(board.JobDone),
		int64(tx.now), m.JobID)
}

// jobResult returns the result of a job so far.
func (tx *Tx) jobResult(ctx context.Context, jobID string) (r jobResult, err error) {
	r.BoardIDs = []string{}
	var text sql.NullString
	if _, err := tx.one(ctx, "SELECT result FROM jobs WHERE id = $1", []any{jobID}, &text); err != nil || !text.Valid {
		return r, err
	}
	if err := json.Unmarshal([]byte(text.String), &r); err != nil {
		return r, fmt.Errorf("decode result of %s: %w", jobID, err)
	}
	return r, nil
}

func (tx *Tx) setJobResult(ctx context.Context, jobID string, r jobResult) error {
	text, err := json.Marshal(r, json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("encode result: %w", err)
	}
	return tx.exec(ctx, "UPDATE jobs SET result = $1 WHERE id = $2", string(text), jobID)
}
