package main

import (
	"context"
	"strings"

	"cardwall/internal/app"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

// demoWorld returns the id of the demo account's first board. If there is none
// it creates the demo workspace with its people and boards, then adds each
// comment in a transaction of its author. An interruption between the two
// leaves a board without comments.
func demoWorld(ctx context.Context, db *store.DB, me board.User) (string, error) {
	d := demo{people: map[string]string{"": me.ID}}
	err := db.Write(ctx, board.Person(me.ID), func(tx *store.Tx) error {
		found, err := tx.Boards(ctx, "", true, "", 1)
		if err != nil || len(found) > 0 {
			if len(found) > 0 {
				d.first = found[0].ID
			}
			return err
		}
		return d.fill(ctx, tx)
	})
	if err != nil {
		return "", err
	}
	for _, r := range d.remarks {
		err := db.Write(ctx, board.Person(d.people[r.by]), func(tx *store.Tx) error {
			_, err := app.AddComment(ctx, tx, app.AddCommentInput{CardInput: app.CardInput{CardID: r.cardID}, Text: r.text})
			return err
		})
		if err != nil {
			return "", err
		}
	}
	return d.first, nil
}

// demo is the state of creating the demo workspace.
type demo struct {
	workspaceID string
	first       string            // id of the board to show first
	people      map[string]string // user ids by the names in demo_content.go; the demo account is ""
	remarks     []demoRemark
}

type demoRemark struct{ cardID, by, text string }

func (d *demo) fill(ctx context.Context, tx *store.Tx) error {
	w, err := app.AddWorkspace(ctx, tx, app.NewWorkspace{Name: "Fieldnotes"})
	if err != nil {
		return err
	}
	d.workspaceID = w.ID
	for _, p := range demoPeople() {
		first, _, _ := strings.Cut(p.name, " ")
		u, err := demoUser(ctx, tx, strings.ToLower(first)+"@example.com", p.name)
		if err != nil {
			return err
		}
		d.people[first] = u.ID
		if err := tx.SetMember(ctx, w.ID, u.ID, p.role); err != nil {
			return err
		}
	}
	for _, b := range demoBoards() {
		if err := d.board(ctx, tx, b); err != nil {
			return err
		}
	}
	for _, f := range demoFilters() {
		in := app.CreateSavedFilterInput{WorkspaceInput: app.WorkspaceInput{WorkspaceID: w.ID}, Name: f.name, Query: f.query,
			Shared: true}
		if _, err := app.CreateSavedFilter(ctx, tx, in); err != nil {
			return err
		}
	}
	name, about := "Launch", "From the first idea to the day after."
	_, err = app.SaveBoardAsTemplate(ctx, tx,
		app.SaveBoardAsTemplateInput{BoardInput: app.BoardInput{BoardID: d.first}, Name: &name, Description: &about})
	return err
}

func (d *demo) board(ctx context.Context, tx *store.Tx, in demoBoard) error {
	b, err := app.CreateBoard(ctx, tx, app.CreateBoardInput{WorkspaceID: d.workspaceID, Name: in.name,
		Description: in.about, Visibility: in.visibility})
	if err != nil {
		return err
	}
	at := app.BoardInput{BoardID: b.ID}
	if d.first == "" {
		d.first = b.ID
		if _, err := app.StarBoard(ctx, tx, at); err != nil {
			return err
		}
	}
	for _, name := range in.guests {
		if _, err := app.ShareBoard(ctx, tx,
			app.ShareBoardInput{BoardInput: at, UserID: d.people[name], Role: board.RoleCommenter}); err != nil {
			return err
		}
	}
	labels := map[string]string{}
	for _, l := range in.labels {
		label, err := app.CreateLabel(ctx, tx, app.CreateLabelInput{BoardInput: at, Name: l.name, Color: l.color})
		if err != nil {
			return err
		}
		labels[l.name] = label.ID
	}
	for _, l := range in.lists {
		new := app.CreateListInput{BoardInput: at, Name: l.name}
		if l.wip > 0 {
			new.WIPLimit = &l.wip
		}
		list, err := app.CreateList(ctx, tx, new)
		if err != nil {
			return err
		}
		for _, c := range l.cards {
			if err := d.card(ctx, tx, list.ID, c, labels); err != nil {
				return err
			}
		}
	}
	for _, s := range in.statuses {
		s.BoardID = b.ID
		if _, err := app.PostStatusUpdate(ctx, tx, s); err != nil {
			return err
		}
	}
	switch {
	case in.archived:
		_, err = app.ArchiveBoard(ctx, tx, at)
	case in.trashed:
		_, err = app.TrashBoard(ctx, tx, at)
	}
	return err
}

func (d *demo) card(ctx context.Context, tx *store.Tx, listID string, c demoCard, labels map[string]string) error {
	in := app.CreateCardInput{ListID: listID, Title: c.title, Description: c.text}
	for _, name := range c.labels {
		in.Labels = append(in.Labels, labels[name])
	}
	for _, name := range c.who {
		in.Assignees = append(in.Assignees, d.people[name])
	}
	if c.due != 0 {
		in.Due = &app.DueInput{DueDate: tx.Time().AddDate(0, 0, c.due).Format(board.DateLayout)}
		if c.at != "" {
			in.Due.DueTime, in.Due.TimeZone = c.at, "UTC"
		}
	}
	card, err := app.CreateCard(ctx, tx, in)
	if err != nil {
		return err
	}
	at := app.CardInput{CardID: card.ID}
	if len(c.steps) > 0 {
		list, err := app.AddChecklist(ctx, tx, app.AddChecklistInput{CardInput: at, Title: "Steps", Items: c.steps})
		if err != nil {
			return err
		}
		done := true
		for _, item := range list.Items[:c.stepsDone] {
			if _, err := app.UpdateChecklistItem(ctx, tx,
				app.UpdateChecklistItemInput{ItemInput: app.ItemInput{ItemID: item.ID}, Done: &done}); err != nil {
				return err
			}
		}
	}
	for _, r := range c.said {
		r.cardID = card.ID
		d.remarks = append(d.remarks, r)
	}
	switch {
	case c.done:
		_, err = app.UpdateCard(ctx, tx, app.UpdateCardInput{CardInput: at, Done: &c.done})
	case c.archived:
		_, err = app.ArchiveCard(ctx, tx, at)
	}
	return err
}
