package store

import (
	"context"
	"strings"

	"github.com/go-json-experiment/json"

	"cardwall/internal/board"
)

// maxUnusedClients is the maximum number of clients that nobody has authorized.
const maxUnusedClients = 10_000

// InsertClient writes an OAuth client that registered itself. Of the clients that nobody
// has authorized, it keeps only the newest maxUnusedClients. It deletes at most 100
// others.
func (tx *Tx) InsertClient(ctx context.Context, c board.Client) error {
	addresses, err := json.Marshal(c.RedirectURIs)
	if err != nil {
		return err
	}
	if err := tx.exec(ctx, "INSERT INTO oauth_clients (id, name, uri, redirect_uris, grant_types, created_at) VALUES ($1, $2, $3, $4, $5, $6)",
		c.ID, c.Name, c.URI, string(addresses), strings.Join(c.GrantTypes, " "), int64(tx.now)); err != nil {
		return err
	}
	return tx.exec(ctx, "DELETE FROM oauth_clients WHERE used_at IS NULL AND id IN (SELECT id FROM oauth_clients "+
		"WHERE used_at IS NULL ORDER BY created_at DESC, id DESC LIMIT 100 OFFSET $1)", maxUnusedClients)
}

// Client returns an OAuth client that registered itself. It returns a not_found error if
// there is no such client or it was deleted.
func (v *View) Client(ctx context.Context, id string) (board.Client, error) {
	var (
		c                 = board.Client{ID: id}
		addresses, grants string
	)
	found, err := v.one(ctx, "SELECT name, uri, redirect_uris, grant_types FROM oauth_clients WHERE id = $1", []any{id}, &c.Name,
		&c.URI, &addresses, &grants)
	if err == nil && !found {
		err = board.NotFound()
	}
	if err != nil {
		return board.Client{}, err
	}
	c.GrantTypes = strings.Fields(grants)
	return c, json.Unmarshal([]byte(addresses), &c.RedirectURIs)
}

// TouchClient records that a person has authorized a client. It does nothing for
// clients that did not register themselves.
func (tx *Tx) TouchClient(ctx context.Context, id string) error {
	return tx.exec(ctx, "UPDATE oauth_clients SET used_at = $1 WHERE id = $2", int64(tx.now), id)
}

// PurgeConnections deletes authorization codes and device authorization requests
// board.CodeKept after they expired, and grants that have expired or whose tokens were
// revoked. It also deletes clients without grants that nobody has authorized for a long
// time. It deletes at most limit rows of each kind, and returns the number of rows
// deleted.
func (tx *Tx) PurgeConnections(ctx context.Context, limit int) (n int64, err error) {
	now := int64(tx.now)
	for _, old := range []struct {
		table, key, where string
		before            int64
	}{
		{"oauth_codes", "hash", "expires_at < $2", now - board.CodeKept.Milliseconds()},
		{"oauth_devices", "id", "expires_at < $2", now - board.CodeKept.Milliseconds()},
		{"oauth_grants", "token_id", "expires_at < $2 OR token_id IN (SELECT id FROM tokens WHERE revoked_at IS NOT NULL)", now},
		{"oauth_clients", "id", "used_at IS NULL AND created_at < $2", now - board.ClientUnused.Milliseconds()},
		{"oauth_clients", "id", "used_at < $2 AND NOT EXISTS (SELECT 1 FROM oauth_grants g WHERE g.client_id = oauth_clients.id)",
			now - board.ClientKept.Milliseconds()},
	} {
		deleted, err := tx.purge(ctx, old.table, old.key, old.where, limit, old.before)
		if err != nil {
			return n, err
		}
		n += deleted
	}
	return n, nil
}
