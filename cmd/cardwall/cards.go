package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"cardwall/clients/go"
)

// cardsCommand works with the cards of a server, through its API.
type cardsCommand struct {
	List   cardsListCommand   `cmd:"" help:"List the open cards of a board."`
	Create cardsCreateCommand `cmd:"" help:"Create a card, and print its id."`
	Move   cardsMoveCommand   `cmd:"" help:"Move a card to a list, of its board or of another one."`
}

type cardsListCommand struct {
	Board string `env:"-" required:"" placeholder:"BOARD" help:"Board: its id, URL or name."`
	List  string `env:"-" placeholder:"LIST" help:"Only cards of this list: its id or name."`
	Due   string `env:"-" placeholder:"WHEN" help:"Only cards that are due then, such as today, week or overdue."`
	listFlags
	remoteFlags
}

func (c cardsListCommand) Run(ctx context.Context, g *globals) error {
	client, err := c.client(ctx, g)
	if err != nil {
		return err
	}
	boardID, err := findBoard(ctx, client, c.Board)
	if err != nil {
		return err
	}
	board, err := client.GetBoard(ctx, boardID, cardwall.GetBoardParams{})
	if err != nil {
		return err
	}
	params := cardwall.ListCardsParams{List: c.List, Due: c.Due}
	if c.List != "" && !listID.MatchString(c.List) {
		if params.List, err = listNamed(board.Data.Lists, c.List); err != nil {
			return err
		}
	}
	names := map[string]string{}
	for _, list := range board.Data.Lists {
		names[list.ID] = list.Name
	}
	me, err := client.GetMe(ctx, cardwall.GetMeParams{})
	if err != nil {
		return err
	}
	zone, err := time.LoadLocation(me.Data.TimeZone)
	if err != nil {
		return err
	}
	header := []string{"ID", "NUMBER", "LIST", "TITLE", "DUE", "DONE"}
	return printList(g, c.listFlags, client.IterateCards(ctx, boardID, params), header, func(card cardwall.Card) []string {
		done := ""
		if card.Done {
			done = "done"
		}
		list := cmp.Or(names[card.ListID], card.ListID)
		return []string{card.ID, strconv.FormatInt(card.Number, 10), list, card.Title, dueText(card, zone), done}
	})
}

// dueTime is the form of a due date with a time of day.
const dueTime = "2006-01-02T15:04"

// dueText returns when a card is due: a date or, in the time zone, a date and a time.
func dueText(card cardwall.Card, zone *time.Location) string {
	if card.DueAt != nil {
		if at, err := time.Parse(time.RFC3339, *card.DueAt); err == nil {
			return at.In(zone).Format(dueTime)
		}
	}
	if card.DueDate != nil {
		return *card.DueDate
	}
	return ""
}

// dueInput returns the due date for a text that dueText could have returned. A time of day is in the
// time zone of the person's account.
func dueInput(ctx context.Context, client *cardwall.Client, text string) (*cardwall.DueInput, error) {
	date, at, timed := strings.Cut(text, "T")
	if !timed {
		return &cardwall.DueInput{DueDate: &text}, nil
	}
	me, err := client.GetMe(ctx, cardwall.GetMeParams{})
	if err != nil {
		return nil, err
	}
	return &cardwall.DueInput{DueDate: &date, DueTime: &at, TimeZone: &me.Data.TimeZone}, nil
}

type cardsCreateCommand struct {
	Title       string   `arg:"" help:"Title of the card."`
	List        string   `env:"-" required:"" placeholder:"LIST" help:"List: its id or, with --board, its name."`
	Board       string   `env:"-" placeholder:"BOARD" help:"Board of the list: its id, URL or name."`
	Description string   `env:"-" placeholder:"TEXT" help:"Description, in Markdown."`
	Due         string   `env:"-" placeholder:"YYYY-MM-DD[THH:MM]" help:"When the card is due. A time is in the time zone of your account."`
	Label       []string `env:"-" sep:"none" placeholder:"ID" help:"Label of the card. Can be repeated."`
	outputFlags
	remoteFlags
}

func (c cardsCreateCommand) Run(ctx context.Context, g *globals) error {
	client, err := c.client(ctx, g)
	if err != nil {
		return err
	}
	list, err := findListOn(ctx, client, c.Board, c.List)
	if err != nil {
		return err
	}
	params := cardwall.CreateCardParams{ListID: list, Title: c.Title, Labels: c.Label}
	if c.Description != "" {
		params.Description = &c.Description
	}
	if c.Due != "" {
		if params.Due, err = dueInput(ctx, client, c.Due); err != nil {
			return err
		}
	}
	card, err := client.CreateCard(ctx, params)
	if err != nil {
		return err
	}
	return printRecord(g, c.outputFlags, card.Data.ID, card.Data)
}

type cardsMoveCommand struct {
	Card     string `arg:"" help:"Card: its id or URL or, with --board, its number."`
	List     string `env:"-" required:"" placeholder:"LIST" help:"List: its id, or its name on the board of the card."`
	Board    string `env:"-" placeholder:"BOARD" help:"Board of the card: its id, URL or name."`
	Position string `env:"-" enum:"top,bottom" default:"bottom" help:"Position in the list: top or bottom (default ${default})."`
	outputFlags
	remoteFlags
}

func (c cardsMoveCommand) Run(ctx context.Context, g *globals) error {
	client, err := c.client(ctx, g)
	if err != nil {
		return err
	}
	card, err := c.card(ctx, client)
	if err != nil {
		return err
	}
	id, err := findList(ctx, client, card.BoardID, c.List)
	if err != nil {
		return err
	}
	boardID := card.BoardID
	if id == c.List { // it may be on another board
		list, err := client.GetList(ctx, id, cardwall.GetListParams{})
		if err != nil {
			return err
		}
		boardID = list.Data.BoardID
	}
	position := cardwall.Bottom()
	if c.Position == "top" {
		position = cardwall.Top()
	}
	if boardID != card.BoardID {
		params := cardwall.MoveCardToBoardParams{ListID: id, Position: position}
		moved, err := client.MoveCardToBoard(ctx, card.ID, params)
		if err != nil {
			return err
		}
		return printRecord(g, c.outputFlags, card.ID, moved.Data)
	}
	moved, err := client.MoveCard(ctx, card.ID, cardwall.MoveCardParams{ListID: id, Position: position})
	if err != nil {
		return err
	}
	return printRecord(g, c.outputFlags, card.ID, moved.Data)
}

// card returns the card to move.
func (c cardsMoveCommand) card(ctx context.Context, client *cardwall.Client) (*cardwall.CardDetail, error) {
	if match := cardID.FindStringSubmatch(c.Card); match != nil {
		card, err := client.GetCard(ctx, match[1], cardwall.GetCardParams{})
		if err != nil {
			return nil, err
		}
		return &card.Data, nil
	}
	number, err := strconv.ParseInt(c.Card, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("%s is not the id, URL or number of a card", strconv.Quote(c.Card))
	}
	if c.Board == "" {
		return nil, errors.New("to name a card by its number, add --board")
	}
	boardID, err := findBoard(ctx, client, c.Board)
	if err != nil {
		return nil, err
	}
	card, err := client.GetCardByNumber(ctx, boardID, number, cardwall.GetCardByNumberParams{})
	if err != nil {
		return nil, err
	}
	return &card.Data, nil
}

// findListOn returns the id of a list. If a board is given, the list can be named by its name.
func findListOn(ctx context.Context, client *cardwall.Client, board, list string) (string, error) {
	id := ""
	if board != "" {
		var err error
		if id, err = findBoard(ctx, client, board); err != nil {
			return "", err
		}
	}
	return findList(ctx, client, id, list)
}
