package store

import (
	"context"
	"database/sql"

	"cardwall/internal/board"
	"cardwall/internal/query"
)

const (
	commentColumns = "m.id, m.card_id, c.board_id, m.author_id, u.name, m.guest_name, m.text, m.created_at, m.edited_at"
	commentLoad    = "SELECT " + accessColumns + ", " + commentColumns + ` FROM comments m JOIN cards c ON c.id = m.card_id
		JOIN boards b ON b.id = c.board_id
		LEFT JOIN users u ON u.id = m.author_id` + accessJoins + "WHERE m.id = $1"
	commentLock = "SELECT b.id FROM boards b JOIN cards c ON c.board_id = b.id JOIN comments m ON m.card_id = c.id " +
		"WHERE m.id = $1 FOR UPDATE OF b"
)

// commentScan collects the columns of a comment, which may have no author.
type commentScan struct {
	comment              board.Comment
	authorID, authorName sql.NullString
}

func (s *commentScan) dest() []any {
	m := &s.comment
	return []any{&m.ID, &m.CardID, &m.BoardID, &s.authorID, &s.authorName, &m.GuestName, &m.Text, &m.CreatedAt, &m.EditedAt}
}

func (s *commentScan) result() board.Comment {
	m := s.comment
	if s.authorID.Valid {
		m.Author = &board.UserRef{ID: s.authorID.String, Name: s.authorName.String}
	}
	return m
}

// Comment loads the comment with the given id. It returns an error unless the caller has the
// capability on the comment's board.
func (v *View) Comment(ctx context.Context, id string, need board.Capability) (board.Comment, error) {
	var s commentScan
	err := v.authorized(ctx, need, commentLoad+" AND "+shownCard, id, s.dest()...)
	return s.result(), err
}

// CommentText returns the text of a comment.
func (v *View) CommentText(ctx context.Context, id string) (string, error) {
	var s commentScan
	err := v.authorized(ctx, board.View, commentLoad+" AND "+shownCard, id, s.dest()...)
	return s.comment.Text, err
}

// Comment locks the board and loads a comment and its card for a change.
func (tx *Tx) Comment(ctx context.Context, id string, need board.Capability) (board.Comment, board.Card, error) {
	var s commentScan
	if err := tx.lockToLoad(ctx, commentLock, commentLoad, id); err != nil {
		return board.Comment{}, board.Card{}, err
	}
	if err := tx.authorized(ctx, need, commentLoad, id, s.dest()...); err != nil {
		return board.Comment{}, board.Card{}, err
	}
	m := s.result()
	card, err := tx.Card(ctx, m.CardID, need)
	if err == nil {
		tx.loadedRecord(m.ID, card.BoardID, m.Text)
	}
	return m, card, err
}

// NewestComments returns a page of the comments of a loaded card, newest first, starting after
// the given id, or with the newest if it is "".
func (v *View) NewestComments(ctx context.Context, cardID, after string, limit int) ([]board.Comment, error) {
	if after == "" {
		after = "~" // sorts after all ids
	}
	return v.comments(ctx, "m.card_id = $1 AND m.id < $2 ORDER BY m.id DESC LIMIT $3", cardID, after, limit)
}

// Comments returns a page of the comments of a loaded card, oldest first, starting after
// the given id.
func (v *View) Comments(ctx context.Context, cardID, after string, limit int) ([]board.Comment, error) {
	return v.comments(ctx, "m.card_id = $1 AND m.id > $2 ORDER BY m.id LIMIT $3", cardID, after, limit)
}

// CommentsOn returns the comments of loaded cards, grouped by card and oldest first.
func (v *View) CommentsOn(ctx context.Context, cardIDs []string) ([]board.Comment, error) {
	return onCards(cardIDs, func(in string, args []any) ([]board.Comment, error) {
		return v.comments(ctx, "m.card_id IN ("+in+") ORDER BY m.card_id, m.id", args...)
	})
}

func (v *View) comments(ctx context.Context, where string, args ...any) ([]board.Comment, error) {
	out := []board.Comment{}
	err := v.each(ctx, "SELECT "+commentColumns+` FROM comments m JOIN cards c ON c.id = m.card_id LEFT JOIN users u ON u.id = m.author_id
		WHERE `+where, args, func(rows *sql.Rows) error {
		var s commentScan
		err := rows.Scan(s.dest()...)
		out = append(out, s.result())
		return err
	})
	return out, err
}

// InsertComment writes a new comment. The caller must update the card's comment count.
func (tx *Tx) InsertComment(ctx context.Context, m *board.Comment) error {
	m.CreatedAt, tx.comment = tx.now, m.ID
	tx.storedRecord(m.ID, tx.boardOf(m.CardID), m.Text)
	if err := tx.exec(ctx, "INSERT INTO comments (id, card_id, author_id, guest_name, text, created_at) VALUES ($1, $2, $3, $4, $5, $6)",
		m.ID, m.CardID, null(authorID(m.Author)), m.GuestName, m.Text, int64(tx.now)); err != nil {
		return err
	}
	return tx.addText(ctx, m.CardID, query.InComment, m.ID, m.Text)
}

// UpdateComment replaces the text of a comment. No copy of the former text remains.
func (tx *Tx) UpdateComment(ctx context.Context, m *board.Comment) error {
	m.EditedAt, tx.comment = &tx.now, m.ID
	tx.storedRecord(m.ID, tx.boardOf(m.ID), m.Text)
	if err := tx.rewriteResponses(ctx, m.ID, m.Text); err != nil {
		return err
	}
	if err := tx.exec(ctx, "UPDATE comments SET text = $1, edited_at = $2 WHERE id = $3", m.Text, int64(tx.now), m.ID); err != nil {
		return err
	}
	return tx.indexText(ctx, m.CardID, query.InComment, m.ID, m.Text)
}

// DeleteComment deletes a comment. No copy of its text remains.
func (tx *Tx) DeleteComment(ctx context.Context, id string) error {
	tx.deletedRecord(id)
	if err := tx.rewriteResponses(ctx, id, ""); err != nil {
		return err
	}
	if err := tx.exec(ctx, "DELETE FROM texts WHERE card_id = (SELECT card_id FROM comments WHERE id = $1) AND place = 'comment' "+
		"AND ref = $1", id); err != nil {
		return err
	}
	return tx.exec(ctx, "DELETE FROM comments WHERE id = $1", id)
}
