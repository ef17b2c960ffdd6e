package app_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"cardwall/internal/app"
	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

// BenchmarkNotifyingChanges measures moves and comments that notify nobody, and moves on a watched
// board. The difference between the two kinds of moves is the cost of a notification.
func BenchmarkNotifyingChanges(b *testing.B) {
	s := apptest.New(b, filepath.Join(b.TempDir(), "cardwall.db"), apptest.Options{})
	o := newNotificationWorld(s)
	other := o.ada.Must("create_list", fields{"boardId": o.board, "name": "Doing"}).ID()
	card := o.card(o.ada, fields{"title": "Card"})
	lists := []string{o.list, other}
	write := func(b *testing.B, fn func(ctx context.Context, tx *store.Tx) error) {
		ctx := context.Background()
		if err := s.DB.Write(ctx, board.Person(o.ada.ID), func(tx *store.Tx) error { return fn(ctx, tx) }); err != nil {
			b.Fatal(err)
		}
	}
	move := func(b *testing.B) {
		for b.Loop() {
			write(b, func(ctx context.Context, tx *store.Tx) error {
				c, err := tx.Card(ctx, card, board.Edit)
				if err != nil {
					return err
				}
				to := lists[0]
				if c.ListID == to {
					to = lists[1]
				}
				_, err = app.MoveCard(ctx, tx, app.MoveCardInput{CardInput: app.CardInput{CardID: card}, ListID: to})
				return err
			})
		}
	}
	b.Run("move", move)
	b.Run("comment", func(b *testing.B) {
		n := 0
		for b.Loop() {
			n++
			write(b, func(ctx context.Context, tx *store.Tx) error {
				_, err := app.AddComment(ctx, tx,
					app.AddCommentInput{CardInput: app.CardInput{CardID: card}, Text: fmt.Sprint("Comment ", n)})
				return err
			})
		}
	})
	o.bob.Must("watch_board", fields{"boardId": o.board})
	b.Run("move watched", move)
}
