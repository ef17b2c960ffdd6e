package guest

import (
	"context"

	"cardwall/internal/app"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

// maxComments is the maximum number of comments on a card that guests see. If there are
// more, guests see the oldest.
const maxComments = 1_000

// CardNumberInput identifies a card on a public page.
type CardNumberInput struct {
	Number int `json:"number" minimum:"1" doc:"Number of the card on its board." example:"12"`
}

// GetCardInput is the input of GetCard.
type GetCardInput struct {
	KeyInput
	CardNumberInput
}

// SharedCardDetail is a card with its description, attachments and comments.
type SharedCardDetail struct {
	SharedCard
	List        string             `json:"list" doc:"Name of the card's list." example:"Ideas"`
	Description string             `json:"description" doc:"The card's description, in Markdown." example:"Two paragraphs, one picture."`
	Files       []SharedAttachment `json:"files" doc:"The files and links on the card, oldest first; empty if the page does not show attachments."`
	Thread      []SharedComment    `json:"thread" doc:"The first 1,000 comments, oldest first; empty if the page does not show comments."`
}

// SharedComment is the part of a comment that guests see.
type SharedComment struct {
	Author    *string        `json:"author" doc:"Name of the author, who is a guest or a member; null for a member if the page does not show names." example:"Rosa"`
	Guest     bool           `json:"guest" doc:"Whether the author is a guest." example:"true"`
	Text      string         `json:"text" doc:"The comment's text, in Markdown." example:"The printer wants it by Friday."`
	CreatedAt board.Instant  `json:"createdAt" format:"date-time" doc:"When the comment was added." example:"2026-03-02T09:00:00.000Z"`
	EditedAt  *board.Instant `json:"editedAt" format:"date-time" doc:"When the comment was last edited; null if it has never been edited." example:"2026-03-02T09:05:00.000Z"`
}

// GetCard returns a card on the page.
func GetCard(ctx context.Context, v *store.View, in GetCardInput) (SharedCardDetail, error) {
	b, p, err := v.GuestPage(ctx)
	if err != nil {
		return SharedCardDetail{}, err
	}
	card, list, err := cardOnPage(ctx, v, b, p, in.Number)
	if err != nil {
		return SharedCardDetail{}, err
	}
	out := SharedCardDetail{
		SharedCard: sharedCard(v, card, p), List: list.Name, Description: *card.Description, Files: []SharedAttachment{},
		Thread: []SharedComment{},
	}
	if p.Attachments {
		attachments, err := attachmentsOf(ctx, v, card)
		if err != nil {
			return out, err
		}
		for _, a := range attachments {
			out.Files = append(out.Files, sharedAttachment(v, a))
		}
	}
	if !p.Comments {
		return out, nil
	}
	comments, err := v.Comments(ctx, card.ID, "", maxComments)
	for _, m := range comments {
		out.Thread = append(out.Thread, sharedComment(m, p))
	}
	return out, err
}

// cardOnPage returns a card and its list. It returns a not_found error unless the card
// is open and in a list that the page shows.
func cardOnPage(
	ctx context.Context, v *store.View, b board.Board, p board.PublicPageSettings, number int,
) (board.Card, board.List, error) {
	card, err := v.CardByNumber(ctx, b.ID, number)
	if err != nil {
		return card, board.List{}, err
	}
	list, err := v.List(ctx, card.ListID, board.View)
	if err == nil && (card.ArchivedAt != nil || !p.Shows(list)) {
		err = board.NotFound()
	}
	return card, list, err
}

func sharedComment(m board.Comment, p board.PublicPageSettings) SharedComment {
	out := SharedComment{
		Author: m.GuestName, Guest: m.GuestName != nil, Text: m.Text, CreatedAt: m.CreatedAt, EditedAt: m.EditedAt,
	}
	if m.Author != nil && p.Names {
		out.Author = &m.Author.Name
	}
	return out
}

// CommentInput is the input of Comment.
type CommentInput struct {
	WriteInput
	CardNumberInput
	Text string `json:"text" maxLength:"4000" doc:"The comment's text, in Markdown." example:"The printer wants it by Friday."`
}

// Comment adds a guest's comment to a card. It has the same effects as add_comment.
func Comment(ctx context.Context, tx *store.Tx, in CommentInput) (SharedComment, error) {
	b, p, err := pageToChange(ctx, tx, in.WriteInput)
	if err != nil {
		return SharedComment{}, err
	}
	card, _, err := cardOnPage(ctx, tx.View, b, p, in.Number)
	if err != nil {
		return SharedComment{}, err
	}
	m, err := app.AddComment(ctx, tx, app.AddCommentInput{CardInput: app.CardInput{CardID: card.ID}, Text: in.Text})
	return sharedComment(m, p), err
}

// SubmitInput is the input of Submit.
type SubmitInput struct {
	WriteInput
	Title       string `json:"title" maxLength:"512" doc:"Title of the card." example:"A map of the venue"`
	Description string `json:"description,omitempty" maxLength:"4000" doc:"The card's description, in Markdown." example:"We did not find the entrance."`
}

// SubmittedCard is the card that Submit created.
type SubmittedCard struct {
	Number int     `json:"number" doc:"Number of the card on its board." example:"13"`
	Shown  bool    `json:"shown" doc:"Whether the page shows the card's list." example:"true"`
	List   *string `json:"list" doc:"Name of the card's list; null if the page does not show it." example:"Ideas"`
}

// Submit creates a guest's card. It has the same effects as create_card.
func Submit(ctx context.Context, tx *store.Tx, in SubmitInput) (SubmittedCard, error) {
	b, p, err := pageToChange(ctx, tx, in.WriteInput)
	if err != nil {
		return SubmittedCard{}, err
	}
	lists, err := tx.Lists(ctx, b.ID, false, "", tx.Limits().OpenLists)
	if err != nil {
		return SubmittedCard{}, err
	}
	list, ok := submissionList(p, lists)
	if !ok {
		return SubmittedCard{}, board.Forbidden("This page does not accept cards at the moment, because it has no list for them.")
	}
	card, err := app.CreateCard(ctx, tx, app.CreateCardInput{ListID: list.ID, Title: in.Title, Description: in.Description})
	out := SubmittedCard{Number: card.Number, Shown: p.Shows(list)}
	if out.Shown {
		out.List = &list.Name
	}
	return out, err
}

// pageToChange checks the guest's name and returns the board and the settings of
// the page that the guest changes.
func pageToChange(ctx context.Context, tx *store.Tx, in WriteInput) (board.Board, board.PublicPageSettings, error) {
	name, err := board.GuestName("name", in.Name)
	if err != nil {
		return board.Board{}, board.PublicPageSettings{}, err
	}
	return tx.GuestPage(ctx, name)
}
