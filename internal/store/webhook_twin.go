package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"cardwall/internal/board"
)

// WarnOfTwins sets the warnings of webhooks of one workspace. A webhook gets a warning if
// another one that the caller may manage sends some of the same events to the same URL.
func (v *View) WarnOfTwins(ctx context.Context, webhooks ...*board.Webhook) error {
	if len(webhooks) == 0 {
		return nil
	}
	all := map[string]webhookRow{}
	if err := v.each(ctx, webhookSelect+"WHERE h.workspace_id = $1", []any{webhooks[0].WorkspaceID, v.caller.UserID},
		func(rows *sql.Rows) error {
			w, err := v.scanWebhook(rows)
			if err == nil && v.allowManage(&w) == nil {
				all[w.ID] = w
			}
			return err
		}); err != nil {
		return err
	}
	urls := map[string]string{}
	read := func(id string) error {
		var sealed []byte
		if _, known := urls[id]; known {
			return nil
		}
		if _, err := v.one(ctx, "SELECT address FROM webhooks WHERE id = $1", []any{id}, &sealed); err != nil {
			return fmt.Errorf("read the address of %s: %w", id, err)
		}
		plain, err := v.unseal(id, "address", sealed)
		if err != nil {
			plain = id // the key is lost; people must still be able to see and delete the webhook
		}
		urls[id] = plain
		return nil
	}
	for _, w := range webhooks {
		for _, other := range all {
			if !mayBeTwins(all[w.ID], other) {
				continue
			}
			if err := errors.Join(read(w.ID), read(other.ID)); err != nil {
				return err
			}
			if urls[w.ID] == urls[other.ID] {
				w.Warning = new(board.WebhookHasTwin)
			}
		}
	}
	return nil
}

// mayBeTwins reports whether two enabled webhooks send some of the same events to URLs that
// look alike.
func mayBeTwins(a, b webhookRow) bool {
	covers := func(a, b webhookRow) bool {
		return a.BoardID == nil && (b.BoardID == nil || b.visibility == board.VisibleToWorkspace)
	}
	return a.ID != b.ID && a.On && b.On && a.Host == b.Host && a.LastFour == b.LastFour &&
		(covers(a, b) || covers(b, a) || a.BoardID != nil && b.BoardID != nil && *a.BoardID == *b.BoardID) &&
		slices.ContainsFunc(a.Events, func(k board.Kind) bool { return slices.Contains(b.Events, k) })
}
