package main

import (
	"context"
	"crypto/rand"
	"strings"

	"cardwall/internal/account"
	"cardwall/internal/app"
	"cardwall/internal/board"
	"cardwall/internal/rest"
	"cardwall/internal/store"
)

type demoCommand struct{}

func (demoCommand) Run(ctx context.Context, g *globals) error {
	return g.with(ctx, func(db *store.DB) error { return fillDemo(ctx, g, db) })
}

const (
	demoEmail = "demo@example.com"
	demoToken = "Demo"
)

// fillDemo makes the demo account and its board when they are not there, and
// gives the account a new password and a new token, which it prints.
func fillDemo(ctx context.Context, g *globals, db *store.DB) error {
	password := strings.ToLower(rand.Text()[:16])
	hash, err := account.HashPassword(password)
	if err != nil {
		return err
	}
	var u board.User
	err = db.Write(ctx, board.System(), func(tx *store.Tx) (err error) {
		if u, err = tx.UserByEmail(ctx, demoEmail); board.IsCode(err, board.CodeNotFound) {
			u, err = app.AddUser(ctx, tx, app.NewUser{Email: demoEmail, Name: "Demo Person"})
		}
		if err != nil {
			return err
		}
		return tx.SetPassword(ctx, u.ID, hash)
	})
	if err != nil {
		return err
	}
	var token, boardID string
	err = db.Write(ctx, board.Person(u.ID), func(tx *store.Tx) (err error) {
		if boardID, err = demoBoard(ctx, tx); err != nil {
			return err
		}
		if _, err := tx.RevokeTokens(ctx, u.ID, demoToken); err != nil {
			return err
		}
		_, token, err = app.AddToken(ctx, tx, app.NewToken{Name: demoToken, Scopes: []board.Scope{board.ScopeRead, board.ScopeWrite, board.ScopeAdmin}})
		return err
	})
	if err != nil {
		return err
	}
	g.print("Sign in at   %s", g.BaseURL)
	g.print("  e-mail     %s", demoEmail)
	g.print("  password   %s", password)
	g.print("API token    %s", token)
	g.print("Reference    %s/docs", g.BaseURL)
	g.print("Try it:\n  curl -s -H 'Authorization: Bearer %s' '%s%s/boards/%s/cards?limit=3&view=compact'", token, g.BaseURL, rest.Prefix, boardID)
	return nil
}

// demoBoard finds the demo board, or makes it with its workspace.
func demoBoard(ctx context.Context, tx *store.Tx) (string, error) {
	boards, err := tx.Boards(ctx, "", true, "", 1)
	if err != nil || len(boards) > 0 {
		if len(boards) > 0 {
			return boards[0].ID, err
		}
		return "", err
	}
	w, err := app.AddWorkspace(ctx, tx, app.NewWorkspace{Name: "Demo", Plan: board.PlanBusiness})
	if err != nil {
		return "", err
	}
	b, err := app.CreateBoard(ctx, tx, app.CreateBoardInput{WorkspaceID: w.ID, Name: "Launch of the new site", Description: "Everything until the launch."})
	if err != nil {
		return "", err
	}
	labels := map[string]string{}
	for _, l := range demoLabels() {
		label, err := app.CreateLabel(ctx, tx, app.CreateLabelInput{BoardInput: app.BoardInput{BoardID: b.ID}, Name: l.name, Color: l.color})
		if err != nil {
			return "", err
		}
		labels[l.name] = label.ID
	}
	for _, l := range demoLists() {
		list, err := app.CreateList(ctx, tx, app.CreateListInput{BoardInput: app.BoardInput{BoardID: b.ID}, Name: l.name})
		if err != nil {
			return "", err
		}
		for _, c := range l.cards {
			if err := demoCardIn(ctx, tx, list.ID, c, labels); err != nil {
				return "", err
			}
		}
	}
	return b.ID, nil
}

func demoCardIn(ctx context.Context, tx *store.Tx, listID string, c demoCard, labels map[string]string) error {
	in := app.CreateCardInput{ListID: listID, Title: c.title, Description: c.text}
	if c.label != "" {
		in.Labels = []string{labels[c.label]}
	}
	if c.mine {
		in.Assignees = []string{tx.Caller().UserID}
	}
	if c.dueIn != 0 {
		in.Due = &app.DueInput{DueDate: tx.Time().AddDate(0, 0, c.dueIn).Format(board.DateLayout)}
	}
	card, err := app.CreateCard(ctx, tx, in)
	if err != nil {
		return err
	}
	at := app.CardInput{CardID: card.ID}
	if len(c.steps) > 0 {
		if _, err := app.AddChecklist(ctx, tx, app.AddChecklistInput{CardInput: at, Title: "Steps", Items: c.steps}); err != nil {
			return err
		}
	}
	if c.said != "" {
		if _, err := app.AddComment(ctx, tx, app.AddCommentInput{CardInput: at, Text: c.said}); err != nil {
			return err
		}
	}
	if c.done {
		_, err = app.UpdateCard(ctx, tx, app.UpdateCardInput{CardInput: at, Done: &c.done})
	}
	return err
}

type demoLabel struct {
	name  string
	color board.Color
}

type demoList struct {
	name  string
	cards []demoCard
}

type demoCard struct {
	title, text, label, said string
	steps                    []string
	dueIn                    int // days from today
	mine, done               bool
}

func demoLabels() []demoLabel {
	return []demoLabel{{"Bug", "red"}, {"Content", "sky"}, {"Design", "purple"}, {"Infrastructure", "green"}}
}

func demoLists() []demoList {
	return []demoList{
		{"Ideas", []demoCard{
			{title: "Newsletter for the first hundred customers", label: "Content"},
			{title: "Dark mode for the documentation", label: "Design"},
			{title: "A page that shows how fast the service is"},
		}},
		{"To do", []demoCard{
			{title: "Write the press release", text: "Two paragraphs, **one picture**.", label: "Content", dueIn: 5, mine: true, steps: []string{"Draft", "Check the names", "Send to the printer"}},
			{title: "Choose the hosting region", label: "Infrastructure", dueIn: 2},
			{title: "Broken link in the footer", label: "Bug", said: "Seen on the phone as well."},
		}},
		{"In progress", []demoCard{
			{title: "Screens of the sign-up", label: "Design", dueIn: 1, mine: true, steps: []string{"Desktop", "Phone"}},
			{title: "Move the old addresses to the new ones", label: "Infrastructure", text: "The list stands in the shared folder."},
		}},
		{"Done", []demoCard{
			{title: "Register the domain", label: "Infrastructure", done: true},
			{title: "Agree on the logo", label: "Design", done: true},
		}},
	}
}
