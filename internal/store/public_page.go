package store

import (
	"context"
	"strings"

	"cardwall/internal/board"
)

const publicPageSelect = "SELECT p.board_id, p.secret, p.mode, p.list_id, p.all_lists, p.lists, p.comments, p.names, p.attachments, " +
	"p.welcome, p.updated_at FROM public_pages p "

// publicPageScan collects the columns of a row of public_pages.
type publicPageScan struct {
	page                                   board.PublicPageSettings
	secret                                 []byte
	lists                                  string
	allLists, comments, names, attachments int64
}

func (s *publicPageScan) dest() []any {
	p := &s.page
	return []any{&p.BoardID, &s.secret, &p.Mode, &p.ListID, &s.allLists, &s.lists, &s.comments, &s.names, &s.attachments,
		&p.Welcome, &p.UpdatedAt}
}

func (s *publicPageScan) result() board.PublicPageSettings {
	p := s.page
	p.AllLists, p.Comments, p.Names, p.Attachments = s.allLists != 0, s.comments != 0, s.names != 0, s.attachments != 0
	p.Lists = strings.FieldsFunc(s.lists, func(c rune) bool { return c == ',' })
	return p
}

// PublicPage returns the settings of the public page of a board. The board must have been
// loaded for one of its admins, because the URL in the settings gives access. If the board
// has no page, PublicPage returns the settings of a new page, which is disabled and has no
// URL.
func (v *View) PublicPage(ctx context.Context, boardID string) (board.PublicPageSettings, error) {
	var s publicPageScan
	found, err := v.one(ctx, publicPageSelect+"WHERE p.board_id = $1", []any{boardID}, s.dest()...)
	if err != nil || !found {
		return board.NewPublicPage(boardID), err
	}
	p := s.result()
	p.On = v.On(boardID).Features.PublicPage
	key, err := v.opened(PageSealContext(boardID), s.secret)
	url := v.publicAddress(string(key))
	p.URL = &url
	return p, err
}

func (v *View) publicAddress(key string) string { return v.db.opts.BaseURL + board.PublicPath + key }

// GuestPage returns the public page whose key the caller presented, with its board, and
// gives the caller access to the board as a guest. It returns a not_found error if the
// key is not valid, the page is disabled, or the board is confidential or in the trash.
func (v *View) GuestPage(ctx context.Context) (board.Board, board.PublicPageSettings, error) {
	var s publicPageScan
	guest := v.caller.Guest
	if guest == nil {
		return board.Board{}, board.PublicPageSettings{}, board.NotFound()
	}
	found, err := v.one(ctx, publicPageSelect+"JOIN boards b ON b.id = p.board_id JOIN workspaces w ON w.id = b.workspace_id "+
		"WHERE p.hash = $1 AND w.trashed_at IS NULL",
		[]any{guest.Key}, s.dest()...)
	if err == nil && !found {
		err = board.NotFound()
	}
	if err != nil {
		return board.Board{}, board.PublicPageSettings{}, err
	}
	p := s.result()
	p.On = true
	v.caller.Guest = &board.Guest{Key: guest.Key, Name: guest.Name, BoardID: p.BoardID, Mode: p.Mode, Comments: p.Comments}
	b, err := v.Board(ctx, p.BoardID, board.View)
	return b, p, err
}

// GuestPage is like View.GuestPage, for a change by a guest with the given name. It locks
// the board first, so that no change is accepted after the page was disabled.
func (tx *Tx) GuestPage(ctx context.Context, name string) (board.Board, board.PublicPageSettings, error) {
	if guest := tx.caller.Guest; guest != nil {
		tx.caller.Guest = &board.Guest{Key: guest.Key, Name: name}
		if err := tx.lock(ctx, "SELECT b.id FROM boards b JOIN public_pages p ON p.board_id = b.id WHERE p.hash = $1 FOR UPDATE OF b",
			guest.Key); err != nil {
			return board.Board{}, board.PublicPageSettings{}, err
		}
	}
	return tx.View.GuestPage(ctx)
}

// CardByNumber loads the card with the given number on a board.
func (v *View) CardByNumber(ctx context.Context, boardID string, number int) (board.Card, error) {
	var id string
	found, err := v.one(ctx, "SELECT id FROM cards WHERE board_id = $1 AND number = $2", []any{boardID, number}, &id)
	if err == nil && !found {
		err = board.NotFound()
	}
	if err != nil {
		return board.Card{}, err
	}
	return v.Card(ctx, id, board.View)
}

// SetPublicPage stores the settings of the public page of a board, which must be locked.
// If renew is set or the page has no URL yet, the page gets a new URL and the former one
// stops working.
func (tx *Tx) SetPublicPage(ctx context.Context, p *board.PublicPageSettings, renew bool) error {
	now := tx.now
	p.UpdatedAt = &now
	settings := []any{p.BoardID, string(p.Mode), p.ListID, flag(p.AllLists), strings.Join(p.Lists, ","), flag(p.Comments),
		flag(p.Names), p.Welcome, int64(now), flag(p.Attachments)}
	if p.URL != nil && !renew {
		return tx.exec(ctx, "UPDATE public_pages SET mode = $2, list_id = $3, all_lists = $4, lists = $5, comments = $6, names = $7, "+
			"welcome = $8, updated_at = $9, attachments = $10 WHERE board_id = $1", settings...)
	}
	key := board.NewSecret()
	sealed, err := tx.sealed(ctx, PageSealContext(p.BoardID), []byte(key))
	if err != nil {
		return err
	}
	url := tx.publicAddress(key)
	p.URL = &url
	return tx.exec(ctx, `INSERT INTO public_pages (board_id, mode, list_id, all_lists, lists, comments, names, welcome,
		updated_at, attachments, hash, secret)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) ON CONFLICT (board_id) DO UPDATE
		SET mode = excluded.mode, list_id = excluded.list_id,
		all_lists = excluded.all_lists, lists = excluded.lists, comments = excluded.comments, names = excluded.names, welcome = excluded.welcome,
		updated_at = excluded.updated_at, attachments = excluded.attachments, hash = excluded.hash,
		secret = excluded.secret`, append(settings, board.SecretHash(key), sealed)...)
}
