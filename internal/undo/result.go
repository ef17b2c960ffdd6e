package undo

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// Undone is the result of undo_changes.
type Undone struct {
	CallID  *string  `json:"callId" doc:"The id of this call, with which it can be undone itself; null if it changed nothing." example:"aud_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Undone  int      `json:"undone" doc:"The number of changes that were taken back." example:"3"`
	Already int      `json:"alreadyUndone" doc:"The number of changes that had already been taken back, by an undo or by hand." example:"0"`
	Refused int      `json:"refused" doc:"The number of changes that were not taken back." example:"1"`
	Reasons []Reason `json:"reasons" doc:"Why changes were not taken back, newest first, at most 100."`
}

// Reason says why a change was not taken back.
type Reason struct {
	BoardVersion int64             `json:"boardVersion" doc:"The boardVersion after the change." example:"42"`
	Type         board.Kind        `json:"type" doc:"The kind of change." kinds:"activity" example:"card.updated"`
	CardID       *string           `json:"cardId" doc:"The id of the changed card; null if there is none." example:"crd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Code         string            `json:"code" enum:"changed_since,cannot_be_undone,rejected" doc:"changed_since: another change came after it. cannot_be_undone: the server does not have what it replaced. rejected: the caller may not make the opposite change, or it is not possible any more." example:"changed_since"`
	Message      string            `json:"message" doc:"The reason as a sentence." example:"Grace Hopper changed the title since."`
	ChangedBy    *board.EntryActor `json:"changedBy" doc:"The actor of the later change; null unless the code is changed_since."`
}

// The codes of reasons.
const (
	changedSince   = "changed_since"
	cannotBeUndone = "cannot_be_undone"
	rejected       = "rejected"
)

// maxReasons is the maximum number of reasons in a result.
const maxReasons = 100

// notUndoable is the error for a change that the activity does not describe well enough. It
// is a sentence for the caller.
type notUndoable string

func (n notUndoable) Error() string { return string(n) }

// isRefused returns the code and the message of a reason if err says why a change cannot be
// undone.
func isRefused(err error) (code, message string, ok bool) {
	var n notUndoable
	if errors.As(err, &n) {
		return cannotBeUndone, string(n), true
	}
	if f, ok := board.AsFault(err); ok {
		return rejected, f.Message, true
	}
	return "", "", false
}

// refuse records why a change stays. Later is the change that came after it, or nil; the
// message then lacks the name of its actor, which addNames adds.
func (u *Undone) refuse(e, later *board.Entry, code, message string) {
	if len(u.Reasons) == maxReasons {
		return
	}
	r := Reason{BoardVersion: e.BoardVersion, Type: e.Type, CardID: e.CardID, Code: code, Message: message}
	if later != nil {
		r.ChangedBy = &later.Actor
	}
	u.Reasons = append(u.Reasons, r)
}

// changedText returns the end of a sentence that says what a later change did.
func changedText(later board.Entry, field string) string {
	noun, _, _ := strings.Cut(string(later.Type), ".")
	noun = strings.ReplaceAll(noun, "_", " ")
	name, _, _ := strings.Cut(field, "/")
	switch name {
	case "":
		return "changed or used it since (" + string(later.Type) + ")."
	case "place":
		return "moved the " + noun + " since."
	case "due":
		return "changed the dates of the card since."
	case "archivedAt":
		return "archived or restored the " + noun + " since."
	case "done":
		return "completed or reopened the " + noun + " since."
	}
	return fmt.Sprintf("changed the %s of the %s since.", name, noun)
}

// addNames completes the messages with the names of the actors.
func (u *Undone) addNames(ctx context.Context, tx *store.Tx) error {
	var ids []string
	for _, r := range u.Reasons {
		if r.ChangedBy != nil && r.ChangedBy.Type == board.ActorPerson && r.ChangedBy.ID != nil {
			ids = append(ids, *r.ChangedBy.ID)
		}
	}
	users, err := tx.UserNames(ctx, ids)
	if err != nil {
		return err
	}
	names := map[string]string{}
	for _, u := range users {
		names[u.ID] = u.Name
	}
	for i, r := range u.Reasons {
		if r.ChangedBy != nil {
			u.Reasons[i].Message = actorName(*r.ChangedBy, names) + " " + r.Message
		}
	}
	return nil
}

// actorName returns the name of an actor at the beginning of a sentence.
func actorName(a board.EntryActor, names map[string]string) string {
	name := "Someone"
	switch {
	case a.Type == board.ActorAutomation:
		name = "An automation rule"
	case a.Type == board.ActorGuest:
		name = "A guest"
	case a.Type == board.ActorSystem:
		name = "The server"
	case a.ID != nil && names[*a.ID] != "":
		name = names[*a.ID]
	}
	if a.Client != nil {
		name += " via " + *a.Client
	}
	return name
}
