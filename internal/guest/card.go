package guest

import (
	"context"

	"cardwall/internal/app"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

// commentsShown is how many comments of a card a guest sees at most, the first.
const commentsShown = 1_000

// CardNumberInput names a card on a page.
type CardNumberInput struct {
	Number int `json:"number" minimum:"1" doc:"The card's number." example:"12"`
}

// LookAtCardInput names a card on a page.
type LookAtCardInput struct {
	KeyInput
	CardNumberInput
}

// SharedCardDetail is a card with what was said on it.
type SharedCardDetail struct {
	SharedCard
	List        string          `json:"list" doc:"The name of the list that it stands in." example:"Ideas"`
	Description string          `json:"description" doc:"The details, in Markdown." example:"Two paragraphs, one picture."`
	Said        []SharedComment `json:"said" doc:"Its first 1,000 comments, oldest first; none where comments are not shown."`
}

// SharedComment is what guests see of a comment.
type SharedComment struct {
	Author    *string        `json:"author" doc:"Who said it: the name that a guest gave, or a member's; null where names of members are not shown." example:"Rosa"`
	Guest     bool           `json:"guest" doc:"Whether a guest said it." example:"true"`
	Text      string         `json:"text" doc:"What was said, in Markdown." example:"The printer wants it by Friday."`
	CreatedAt board.Instant  `json:"createdAt" format:"date-time" doc:"When it was said." example:"2026-03-02T09:00:00.000Z"`
	EditedAt  *board.Instant `json:"editedAt" format:"date-time" doc:"When it was last edited; null when it never was." example:"2026-03-02T09:05:00.000Z"`
}

// LookAtCard answers a card that the page shows.
func LookAtCard(ctx context.Context, v *store.View, in LookAtCardInput) (SharedCardDetail, error) {
	b, p, err := v.GuestPage(ctx)
	if err != nil {
		return SharedCardDetail{}, err
	}
	card, list, err := onPage(ctx, v, b, p, in.Number)
	if err != nil {
		return SharedCardDetail{}, err
	}
	out := SharedCardDetail{SharedCard: shared(card, p), List: list.Name, Description: *card.Description, Said: []SharedComment{}}
	if !p.Comments {
		return out, nil
	}
	comments, err := v.Comments(ctx, card.ID, "", commentsShown)
	for _, m := range comments {
		out.Said = append(out.Said, sharedComment(m, p))
	}
	return out, err
}

// onPage finds a card that the page shows: an open one, of a list that is shown.
func onPage(ctx context.Context, v *store.View, b board.Board, p board.PublicPageSettings, number int) (board.Card, board.List, error) {
	card, err := v.CardNumbered(ctx, b.ID, number)
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
	out := SharedComment{Author: m.GuestName, Guest: m.GuestName != nil, Text: m.Text, CreatedAt: m.CreatedAt, EditedAt: m.EditedAt}
	if m.Author != nil && p.Names {
		out.Author = &m.Author.Name
	}
	return out
}

// CommentInput is what a guest says on a card.
type CommentInput struct {
	WriteInput
	CardNumberInput
	Text string `json:"text" maxLength:"4000" doc:"What is said, in Markdown." example:"The printer wants it by Friday."`
}

// Comment says something on a card in the name of a guest, as add_comment does.
func Comment(ctx context.Context, tx *store.Tx, in CommentInput) (SharedComment, error) {
	b, p, err := enter(ctx, tx, in.WriteInput)
	if err != nil {
		return SharedComment{}, err
	}
	card, _, err := onPage(ctx, tx.View, b, p, in.Number)
	if err != nil {
		return SharedComment{}, err
	}
	m, err := app.AddComment(ctx, tx, app.AddCommentInput{CardInput: app.CardInput{CardID: card.ID}, Text: in.Text})
	return sharedComment(m, p), err
}

// SubmitInput is a card of a guest's.
type SubmitInput struct {
	WriteInput
	Title       string `json:"title" maxLength:"512" doc:"What it is about." example:"A map of the venue"`
	Description string `json:"description,omitempty" maxLength:"4000" doc:"The details, in Markdown." example:"We did not find the entrance."`
}

// SubmittedCard is what became of it.
type SubmittedCard struct {
	Number int     `json:"number" doc:"The card's number on its board." example:"13"`
	Shown  bool    `json:"shown" doc:"Whether the page shows the list that it is in." example:"true"`
	List   *string `json:"list" doc:"The name of that list, if the page shows it." example:"Ideas"`
}

// Submit makes a card in the name of a guest, as create_card does.
func Submit(ctx context.Context, tx *store.Tx, in SubmitInput) (SubmittedCard, error) {
	b, p, err := enter(ctx, tx, in.WriteInput)
	if err != nil {
		return SubmittedCard{}, err
	}
	lists, err := tx.Lists(ctx, b.ID, false, "", tx.Limits().OpenLists)
	if err != nil {
		return SubmittedCard{}, err
	}
	list, ok := landing(p, lists)
	if !ok {
		return SubmittedCard{}, board.Forbidden("This page has no list at the moment that takes cards.")
	}
	card, err := app.CreateCard(ctx, tx, app.CreateCardInput{ListID: list.ID, Title: in.Title, Description: in.Description})
	out := SubmittedCard{Number: card.Number, Shown: p.Shows(list)}
	if out.Shown {
		out.List = &list.Name
	}
	return out, err
}

// enter lets a guest of that name onto the page for a change.
func enter(ctx context.Context, tx *store.Tx, in WriteInput) (board.Board, board.PublicPageSettings, error) {
	name, err := board.GuestName("name", in.Name)
	if err != nil {
		return board.Board{}, board.PublicPageSettings{}, err
	}
	return tx.GuestPage(ctx, name)
}
