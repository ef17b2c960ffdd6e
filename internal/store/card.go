package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"

	"cardwall/internal/board"
	"cardwall/internal/query"
	"cardwall/internal/sqldb"
	"cardwall/internal/store/search"
)

const (
	// The columns of the card c and of its list l.
	cardColumns = `c.id, c.board_id, c.list_id, c.rank, c.number, c.title, c.done_at, c.archived_at, l.archived_at, c.due_date, c.due_at,
		c.start_date, c.start_at, c.time_zone, c.items_done, c.items_total, c.comments, c.attachments, c.cover_id, c.cover_width, c.cover_height,
		c.created_by, c.created_at, c.updated_at`
	cardLoad = "SELECT " + accessColumns + ", " + cardColumns + ", c.description FROM cards c JOIN lists l ON l.id = c.list_id " +
		"JOIN boards b ON b.id = c.board_id" + accessJoins + "WHERE c.id = $1 AND " + search.ShownList
	cardAccess = "SELECT " + accessColumns + " FROM cards c JOIN lists l ON l.id = c.list_id " +
		"JOIN boards b ON b.id = c.board_id" + accessJoins + "WHERE c.id = $1 AND " + search.ShownList
	cardLock = "SELECT b.id FROM boards b JOIN cards c ON c.board_id = b.id WHERE c.id = $1 FOR UPDATE OF b"
)

// cardDest returns the scan destinations of cardColumns, followed by that of the
// description.
func cardDest(c *board.Card) []any {
	return []any{&c.ID, &c.BoardID, &c.ListID, &c.Rank, &c.Number, &c.Title, &c.DoneAt, &c.ArchivedAt, &c.ListArchivedAt, &c.DueDate, &c.DueAt,
		&c.StartDate, &c.StartAt, &c.TimeZone, &c.ChecklistItems.Done, &c.ChecklistItems.Total, &c.Comments, &c.Attachments,
		&c.CoverID, &c.CoverWidth, &c.CoverHeight, &c.CreatedBy,
		&c.CreatedAt, &c.UpdatedAt, &c.Description}
}

// Card loads the card with the given id. It returns an error unless the caller has the
// capability on the card's board.
func (v *View) Card(ctx context.Context, id string, need board.Capability) (board.Card, error) {
	var c board.Card
	if err := v.authorized(ctx, need, cardLoad, id, cardDest(&c)...); err != nil {
		return c, err
	}
	cards := []board.Card{c}
	err := v.hydrate(ctx, cards)
	return cards[0], err
}

// CardDetail loads a card and its checklists. It returns an error unless the caller has the
// capability on the card's board.
func (v *View) CardDetail(ctx context.Context, id string, need board.Capability) (board.CardDetail, error) {
	text, args := shownWith([]string{id})
	v.run.Expect(text, args...)
	v.run.Expect(checklistsOf, id)
	c, err := v.Card(ctx, id, need)
	if err != nil {
		return board.CardDetail{}, err
	}
	lists, err := v.Checklists(ctx, id)
	return board.CardDetail{Card: c, Checklists: lists}, err
}

// Card locks the card's board and loads the card for a change. It returns an archived
// error for an archived card unless the capability is board.Unarchive.
func (tx *Tx) Card(ctx context.Context, id string, need board.Capability) (board.Card, error) {
	text, args := shownWith([]string{id})
	if err := tx.lockToLoad(ctx, cardLock, cardLoad, id, announced{text, args}); err != nil {
		return board.Card{}, err
	}
	c, err := tx.View.Card(ctx, id, need)
	if err == nil {
		err = tx.loaded(c.BoardID, id)
	}
	if err == nil && c.ArchivedAt != nil && need != board.Unarchive {
		err = archivedFault(c)
	}
	if err == nil {
		tx.loadedRecord(c.ID, c.BoardID, c.Title, *c.Description)
	}
	return c, err
}

// archivedFault returns the error for a change to an archived card.
func archivedFault(c board.Card) error {
	if *c.ArchivedBy == board.ArchivedByList {
		return board.Refuse(board.CodeArchived, "The card is in an archived list. Restore the list first.")
	}
	return board.Refuse(board.CodeArchived, "The card is archived. Restore it first.")
}

// hydrate sets the fields of cards that are not columns: labels, assignees, the URL,
// whether the card is done, and whether it or its list is archived.
func (v *View) hydrate(ctx context.Context, cards []board.Card) error {
	for chunk := range slices.Chunk(cards, 1024) {
		if err := v.hydrateChunk(ctx, chunk); err != nil {
			return err
		}
	}
	return nil
}

func (v *View) hydrateChunk(ctx context.Context, cards []board.Card) error {
	type person struct {
		board.UserRef
		since int64
	}
	byID, people := make(map[string]*board.Card, len(cards)), map[*board.Card][]person{}
	ids := make([]string, len(cards))
	for i := range cards {
		c := &cards[i]
		c.Done = c.DoneAt != nil
		c.SetArchived(c.ArchivedAt, c.ListArchivedAt)
		c.SetCover()
		c.URL = v.db.opts.BaseURL + "/cards/" + c.ID
		c.Labels, c.Assignees = []board.LabelRef{}, []board.UserRef{}
		byID[c.ID], ids[i] = c, c.ID
	}
	text, args := shownWith(ids)
	err := v.each(ctx, text, args, func(rows *sql.Rows) error {
		var (
			which, at               int64
			cardID, id, name, color string
		)
		if err := rows.Scan(&which, &cardID, &id, &name, &color, &at); err != nil {
			return err
		}
		if c := byID[cardID]; which == 1 {
			c.Labels = append(c.Labels, board.LabelRef{ID: id, Name: name, Color: board.Color(color)})
		} else {
			people[c] = append(people[c], person{board.UserRef{ID: id, Name: name}, at})
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read labels and assignees: %w", err)
	}
	for i := range cards {
		slices.SortFunc(cards[i].Labels, board.LabelRef.Compare)
	}
	for c, all := range people {
		slices.SortFunc(all, func(a, b person) int {
			return cmp.Or(cmp.Compare(a.since, b.since), cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID))
		})
		for _, p := range all {
			c.Assignees = append(c.Assignees, p.UserRef)
		}
	}
	return nil
}

// shownWith returns the query for the labels and assignees of cards.
func shownWith(ids []string) (text string, a sqldb.Args) {
	labelled, assigned := a.In(ids), a.In(ids) // separate parameters, because SQLite is slower with shared ones
	return `SELECT 1, k.card_id, a.id, a.name, a.color, 0 FROM card_labels k JOIN labels a ON a.id = k.label_id
		WHERE k.card_id IN (` + labelled + `)
		UNION ALL SELECT 2, k.card_id, u.id, u.name, '', k.assigned_at FROM card_assignees k JOIN users u ON u.id = k.user_id
		WHERE k.card_id IN (` + assigned + `)`, a
}

// InsertCard writes a new card on a loaded board, with its labels and assignees, and
// gives it the board's next number. It returns the id of the open card before it in the
// list, or "" if it is the first.
func (tx *Tx) InsertCard(ctx context.Context, c *board.Card, at board.Position) (after string, err error) {
	p, err := tx.findPosition(ctx, cardSiblings(), c.ListID, "", "", at)
	if err != nil {
		return "", err
	}
	a := tx.On(c.BoardID)
	tx.storedRecord(c.ID, c.BoardID, c.Title, *c.Description)
	c.Rank, c.Number = p.rank, a.NextNumber
	a.NextNumber++
	a.AllCards++
	a.CountOpen(*c, 1)
	c.CreatedAt, c.UpdatedAt = tx.now, tx.now
	c.URL = tx.db.opts.BaseURL + "/cards/" + c.ID
	if err := tx.exec(ctx, `INSERT INTO cards (id, board_id, list_id, rank, number, title, done_at, due_date, due_at, start_date, start_at,
		time_zone, created_by, created_at, updated_at, description) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12,
		$13, $14, $15, $16)`,
		c.ID, c.BoardID, c.ListID, c.Rank, c.Number, c.Title, null(c.DoneAt), c.DueDate, null(c.DueAt), c.StartDate, null(c.StartAt),
		c.TimeZone, c.CreatedBy, int64(c.CreatedAt), int64(c.UpdatedAt), *c.Description); err != nil {
		return "", fmt.Errorf("insert card: %w", err)
	}
	if err := tx.addCardTexts(ctx, c); err != nil {
		return "", err
	}
	for _, l := range c.Labels {
		if err := tx.AddCardLabel(ctx, c.ID, l.ID); err != nil {
			return "", err
		}
	}
	for _, u := range c.Assignees {
		if err := tx.AddAssignee(ctx, c.ID, u.ID); err != nil {
			return "", err
		}
	}
	return p.after, nil
}

// PlaceCard moves a card to a position in a list of its own board.
func (tx *Tx) PlaceCard(ctx context.Context, c *board.Card, listID string, at board.Position) (Placement, error) {
	p, rank, err := tx.place(ctx, cardSiblings(), row{c.ID, c.ListID, c.Rank}, listID, at)
	if err != nil || !p.Moved {
		return p, err
	}
	c.ListID, c.Rank = listID, rank
	return p, tx.UpdateCardState(ctx, c)
}

// UpdateCardText writes a card's title, its description and whether it is done. Before is
// the card before the change. The search index is updated only for a title or description
// that differs.
func (tx *Tx) UpdateCardText(ctx context.Context, c *board.Card, before board.Card) error {
	c.UpdatedAt = tx.now
	c.Done = c.DoneAt != nil
	tx.storedRecord(c.ID, c.BoardID, c.Title, *c.Description)
	set, args := "title = $1, description = $2, updated_at = $3", []any{c.Title, *c.Description, int64(c.UpdatedAt), c.ID}
	if c.Done != before.Done { // most indexes contain done_at, so writing it costs more
		set, args = set+", done_at = $5", append(args, null(c.DoneAt))
	}
	if err := tx.exec(ctx, "UPDATE cards SET "+set+" WHERE id = $4", args...); err != nil {
		return err
	}
	if c.Title != before.Title {
		if err := tx.indexText(ctx, c.ID, query.InTitle, "", c.Title); err != nil {
			return fmt.Errorf("index title: %w", err)
		}
	}
	if *c.Description != *before.Description {
		if err := tx.indexText(ctx, c.ID, query.InDescription, "", *c.Description); err != nil {
			return fmt.Errorf("index description: %w", err)
		}
	}
	return nil
}

// TouchCard writes a card's update time and its numbers of comments, checklist items and
// attachments. It costs less than UpdateCardState, because few indexes contain these columns.
func (tx *Tx) TouchCard(ctx context.Context, c *board.Card) error {
	c.UpdatedAt = tx.now
	return tx.exec(ctx, "UPDATE cards SET items_done = $1, items_total = $2, comments = $3, attachments = $4, updated_at = $5 WHERE id = $6",
		c.ChecklistItems.Done, c.ChecklistItems.Total, c.Comments, c.Attachments, int64(c.UpdatedAt), c.ID)
}

// UpdateCardState writes the list and rank of a card, its dates, whether it is done or
// archived, and its numbers of checklist items and comments.
func (tx *Tx) UpdateCardState(ctx context.Context, c *board.Card) error {
	c.UpdatedAt = tx.now
	c.Done = c.DoneAt != nil
	return tx.exec(ctx, `UPDATE cards SET list_id = $1, rank = $2, done_at = $3, archived_at = $4, due_date = $5,
		due_at = $6, start_date = $7, start_at = $8, time_zone = $9, items_done = $10, items_total = $11, comments = $12, updated_at = $13,
		moved_at = CASE WHEN list_id = $1 THEN moved_at ELSE COALESCE(moved_at, $13) END WHERE id = $14`,
		c.ListID, c.Rank, null(c.DoneAt), null(c.OwnArchivedAt()), c.DueDate,
		null(c.DueAt), c.StartDate, null(c.StartAt), c.TimeZone, c.ChecklistItems.Done, c.ChecklistItems.Total, c.Comments,
		int64(c.UpdatedAt), c.ID)
}

// CardBefore returns the id of the open card before a card in its list, or "" if there
// is none.
func (tx *Tx) CardBefore(ctx context.Context, c board.Card) (string, error) {
	return tx.before(ctx, cardSiblings(), c.ListID, c.Rank)
}

// CountOpenCards returns the number of cards in a list that are not archived themselves.
// It counts them even if the list is archived, although they are not open then.
func (v *View) CountOpenCards(ctx context.Context, listID string) (int, error) {
	return v.count(ctx, "SELECT count(*) FROM cards WHERE list_id = $1 AND archived_at IS NULL", listID)
}

// AddCardLabel adds a label of the same board to a card that does not have it.
func (tx *Tx) AddCardLabel(ctx context.Context, cardID, labelID string) error {
	return tx.exec(ctx, "INSERT INTO card_labels (card_id, label_id) VALUES ($1, $2)", cardID, labelID)
}

// RemoveCardLabel removes a label from a card.
func (tx *Tx) RemoveCardLabel(ctx context.Context, cardID, labelID string) error {
	return tx.exec(ctx, "DELETE FROM card_labels WHERE card_id = $1 AND label_id = $2", cardID, labelID)
}

// AddAssignee assigns a card to a person who is not assigned to it.
func (tx *Tx) AddAssignee(ctx context.Context, cardID, userID string) error {
	return tx.exec(ctx, "INSERT INTO card_assignees (card_id, user_id, assigned_at) VALUES ($1, $2, $3)", cardID, userID, int64(tx.now))
}

// RemoveAssignee removes a person from the assignees of a card.
func (tx *Tx) RemoveAssignee(ctx context.Context, cardID, userID string) error {
	return tx.exec(ctx, "DELETE FROM card_assignees WHERE card_id = $1 AND user_id = $2", cardID, userID)
}

// LabelsOf returns the labels of a board with the given ids, keyed by id.
func (v *View) LabelsOf(ctx context.Context, boardID string, ids []string) (map[string]board.LabelRef, error) {
	out := map[string]board.LabelRef{}
	err := sqldb.InChunks(ids, func(in string, args []any) error {
		return v.each(ctx, fmt.Sprintf("SELECT id, name, color FROM labels WHERE id IN (%s) AND board_id = $%d", in, len(args)+1),
			append(args, boardID), func(rows *sql.Rows) error {
				var l board.LabelRef
				err := rows.Scan(&l.ID, &l.Name, &l.Color)
				out[l.ID] = l
				return err
			})
	})
	return out, err
}

// PeopleOf returns the people with the given ids who can see a loaded board, keyed by
// id.
func (v *View) PeopleOf(ctx context.Context, boardID string, ids []string) (map[string]board.UserRef, error) {
	a := v.On(boardID)
	out := map[string]board.UserRef{}
	err := sqldb.InChunks(ids, func(in string, args []any) error {
		n := len(args)
		text := fmt.Sprintf(`SELECT u.id, u.name, wm.role, bm.role FROM users u JOIN workspace_members wm ON wm.user_id = u.id
			AND wm.workspace_id = $%d
			LEFT JOIN board_members bm ON bm.user_id = u.id AND bm.board_id = $%d WHERE u.id IN (%s) AND u.deleted_at IS NULL`, n+1, n+2, in)
		return v.each(ctx, text, append(args, a.WorkspaceID, boardID), func(rows *sql.Rows) error {
			var (
				u           board.UserRef
				inWorkspace board.WorkspaceRole
				onBoard     sql.NullString
			)
			if err := rows.Scan(&u.ID, &u.Name, &inWorkspace, &onBoard); err != nil {
				return err
			}
			if board.RoleOn(inWorkspace, board.Role(onBoard.String), a.Visibility) != board.RoleNone {
				out[u.ID] = u
			}
			return nil
		})
	})
	return out, err
}

// onCards reads the records on many cards, with statements that have the ids of some of the cards as the values of
// an IN list.
func onCards[T any](cardIDs []string, read func(in string, args []any) ([]T, error)) ([]T, error) {
	out := []T{}
	err := sqldb.InChunks(cardIDs, func(in string, args []any) error {
		records, err := read(in, args)
		out = append(out, records...)
		return err
	})
	return out, err
}
