package main

import (
	"context"
	"strings"

	"cardwall/internal/app"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

// demoWorld returns the id of the demo account's first board. If the account has
// no board, demoWorld creates the demo workspace with its people and boards. It
// then adds each comment in a separate transaction as its author. If it is
// interrupted, the next call does not add the missing comments, because the boards
// already exist.
func demoWorld(ctx context.Context, db *store.DB, demoAccount board.User) (string, error) {
	d := demo{people: map[string]string{"": demoAccount.ID}}
	err := db.Write(ctx, board.Person(demoAccount.ID), func(tx *store.Tx) error {
		found, err := tx.Boards(ctx, "", true, "", 1)
		if err != nil || len(found) > 0 {
			if len(found) > 0 {
				d.first = found[0].ID
			}
			return err
		}
		return d.createWorkspace(ctx, tx)
	})
	if err != nil {
		return "", err
	}
	for _, c := range d.comments {
		err := db.Write(ctx, board.Person(d.people[c.by]), func(tx *store.Tx) error {
			_, err := app.AddComment(ctx, tx, app.AddCommentInput{CardInput: app.CardInput{CardID: c.cardID}, Text: c.text})
			return err
		})
		if err != nil {
			return "", err
		}
	}
	return d.first, nil
}

// demo holds the state while the demo workspace is being created.
type demo struct {
	workspaceID string
	first       string            // id of the board to show first
	people      map[string]string // user ids by the names in demo_content.go; the demo account is ""
	comments    []demoComment
}

type demoComment struct{ cardID, by, text string }

func (d *demo) createWorkspace(ctx context.Context, tx *store.Tx) error {
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
		if err := d.createBoard(ctx, tx, b); err != nil {
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
	name, description := "Launch", "From the first idea to the day after."
	_, err = app.SaveBoardAsTemplate(ctx, tx,
		app.SaveBoardAsTemplateInput{BoardInput: app.BoardInput{BoardID: d.first}, Name: &name, Description: &description})
	return err
}

func (d *demo) createBoard(ctx context.Context, tx *store.Tx, in demoBoard) error {
	input := app.CreateBoardInput{WorkspaceID: d.workspaceID, Name: in.name, Description: in.description, Visibility: in.visibility}
	for _, l := range in.labels {
		input.Labels = append(input.Labels, app.NewLabel{Name: l.name, Color: l.color})
	}
	for _, l := range in.lists {
		list := app.NewList{Name: l.name}
		if l.wip > 0 {
			list.WIPLimit = &l.wip
		}
		input.Lists = append(input.Lists, list)
	}
	b, err := app.CreateBoard(ctx, tx, input)
	if err != nil {
		return err
	}
	ref := app.BoardInput{BoardID: b.ID}
	if d.first == "" {
		d.first = b.ID
		if _, err := app.StarBoard(ctx, tx, ref); err != nil {
			return err
		}
	}
	for _, name := range in.guests {
		if _, err := app.ShareBoard(ctx, tx,
			app.ShareBoardInput{BoardInput: ref, UserID: d.people[name], Role: board.RoleCommenter}); err != nil {
			return err
		}
	}
	labels := map[string]string{}
	for _, l := range b.Labels {
		labels[l.Name] = l.ID
	}
	for i, l := range in.lists {
		for _, c := range l.cards {
			if err := d.createCard(ctx, tx, b.Lists[i].ID, c, labels); err != nil {
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
		_, err = app.ArchiveBoard(ctx, tx, ref)
	case in.trashed:
		_, err = app.TrashBoard(ctx, tx, ref)
	}
	return err
}

func (d *demo) createCard(ctx context.Context, tx *store.Tx, listID string, c demoCard, labels map[string]string) error {
	in := app.CreateCardInput{ListID: listID, Title: c.title, Description: c.description}
	for _, name := range c.labels {
		in.Labels = append(in.Labels, labels[name])
	}
	for _, name := range c.assignees {
		in.Assignees = append(in.Assignees, d.people[name])
	}
	if c.due != 0 {
		in.Due = &app.DueInput{DueDate: tx.Time().AddDate(0, 0, c.due).Format(board.DateLayout)}
		if c.dueTime != "" {
			in.Due.DueTime, in.Due.TimeZone = c.dueTime, "UTC"
		}
	}
	card, err := app.CreateCard(ctx, tx, in)
	if err != nil {
		return err
	}
	ref := app.CardInput{CardID: card.ID}
	if len(c.steps) > 0 {
		list, err := app.AddChecklist(ctx, tx, app.AddChecklistInput{CardInput: ref, Title: "Steps", Items: c.steps})
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
	for _, comment := range c.comments {
		comment.cardID = card.ID
		d.comments = append(d.comments, comment)
	}
	switch {
	case c.done:
		_, err = app.UpdateCard(ctx, tx, app.UpdateCardInput{CardInput: ref, Done: &c.done})
	case c.archived:
		_, err = app.ArchiveCard(ctx, tx, ref)
	}
	return err
}
