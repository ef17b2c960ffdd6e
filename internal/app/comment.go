package app

import (
	"context"

	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/store"
)

// ListCommentsInput is the input of ListComments.
type ListCommentsInput struct {
	CardInput
	Sort string `json:"sort,omitempty" enum:"createdAt,-createdAt" doc:"The order of the comments: createdAt for oldest first, or -createdAt for newest first. Defaults to createdAt." example:"-createdAt"`
	op.Paging
}

// ListComments returns the comments of a card, oldest first unless the input has another
// order.
func ListComments(ctx context.Context, v *store.View, in ListCommentsInput) (op.Page[board.Comment], error) {
	var after string
	if err := in.After(&after); err != nil {
		return op.Page[board.Comment]{}, err
	}
	if _, err := v.Card(ctx, in.CardID, board.View); err != nil {
		return op.Page[board.Comment]{}, err
	}
	read := v.Comments
	if in.Sort == "-createdAt" {
		read = v.NewestComments
	}
	comments, err := read(ctx, in.CardID, after, in.Size()+1)
	return op.Cut(comments, in.Size(), func(m board.Comment) any { return m.ID }), err
}

// AddCommentInput holds the fields of a new comment.
type AddCommentInput struct {
	CardInput
	Text string `json:"text" maxLength:"16384" doc:"The comment's text, in Markdown." example:"The printer wants it by Friday."`
}

// AddComment adds a comment to a card.
func AddComment(ctx context.Context, tx *store.Tx, in AddCommentInput) (board.Comment, error) {
	card, err := tx.Card(ctx, in.CardID, board.Discuss)
	if err != nil {
		return board.Comment{}, err
	}
	m := board.Comment{ID: tx.NewID("cmt_"), CardID: card.ID, BoardID: card.BoardID}
	if m.Text, err = commentText(in.Text); err != nil {
		return m, err
	}
	if tx.Caller().Person() != nil {
		author, err := tx.User(ctx)
		if err != nil {
			return m, err
		}
		m.Author = &board.UserRef{ID: author.ID, Name: author.Name}
	}
	if guest := tx.Caller().Guest; guest != nil {
		m.GuestName = &guest.Name
	}
	if err := tx.InsertComment(ctx, &m); err != nil {
		return m, err
	}
	card.Comments++
	tx.Emit(card.BoardID, board.CommentAdded(card, m))
	return m, tx.TouchCard(ctx, &card)
}

func commentText(s string) (string, error) {
	if board.Blank(s) {
		return "", board.Invalid("text must not be empty.").In("text", board.RuleEmpty)
	}
	return s, nil
}

// CommentInput identifies a comment.
type CommentInput struct {
	CommentID string `json:"commentId" maxLength:"64" doc:"The id of the comment." example:"cmt_01jb2m3n4p5q6r7s8t9v0w1x2y"`
}

// GetComment returns a comment.
func GetComment(ctx context.Context, v *store.View, in CommentInput) (board.Comment, error) {
	return v.Comment(ctx, in.CommentID, board.View)
}

// EditCommentInput is the input of EditComment.
type EditCommentInput struct {
	CommentInput
	Text string `json:"text" maxLength:"16384" doc:"The new text, in Markdown." example:"The printer wants it by Thursday."`
}

// EditComment changes the text of the caller's own comment.
func EditComment(ctx context.Context, tx *store.Tx, in EditCommentInput) (board.Comment, error) {
	m, card, err := tx.Comment(ctx, in.CommentID, board.Discuss)
	if err != nil {
		return m, err
	}
	if !ownComment(tx, m) {
		return m, board.Forbidden("Only the author of a comment can edit it.")
	}
	text, err := commentText(in.Text)
	if err != nil || text == m.Text {
		return m, err
	}
	before := m.Text
	m.Text = text
	tx.Emit(card.BoardID, board.CommentEdited(card, m, before))
	if err := tx.UpdateComment(ctx, &m); err != nil {
		return m, err
	}
	return m, tx.TouchCard(ctx, &card)
}

// DeleteComment deletes a comment. Its author and the admins of the board may
// do this.
func DeleteComment(ctx context.Context, tx *store.Tx, in CommentInput) (Deleted, error) {
	m, card, err := tx.Comment(ctx, in.CommentID, board.Discuss)
	if err != nil {
		return Deleted{}, err
	}
	if !ownComment(tx, m) && !tx.On(card.BoardID).Role(tx.Caller()).Can(board.Administer) {
		return Deleted{}, board.Forbidden("Only the author of a comment or a board admin can delete it.")
	}
	card.Comments--
	tx.Emit(card.BoardID, board.CommentDeleted(card, m))
	if err := tx.DeleteComment(ctx, m.ID); err != nil {
		return Deleted{}, err
	}
	return Deleted{m.ID}, tx.TouchCard(ctx, &card)
}

func ownComment(tx *store.Tx, m board.Comment) bool {
	return m.Author != nil && m.Author.ID == tx.Caller().UserID
}
