package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"cardwall/internal/board"
	"cardwall/internal/sqldb"
)

// sessionValid is an SQL condition that is true if the session s has not expired. $2 is
// the oldest allowed last use, and $3 the oldest allowed creation time.
const sessionValid = "s.last_used_at > $2 AND s.created_at > $3"

// sessionLimits returns the oldest allowed last use and creation time of a session.
func (v *View) sessionLimits() (lastUsed, created int64) {
	return int64(v.now) - board.SessionIdle.Milliseconds(), int64(v.now) - board.SessionLifetime.Milliseconds()
}

// ActAs makes the person with the given id the caller for the rest of the transaction,
// for example after the person has signed in.
func (tx *Tx) ActAs(userID string) {
	tx.caller.Actor = board.Actor{Type: board.ActorPerson, ID: &userID}
	tx.caller.UserID = userID
}

// InsertSession stores a new session of the caller, with the hash of its secret and with
// the address and the browser of the request.
func (tx *Tx) InsertSession(ctx context.Context, id string, hash []byte) error {
	tx.caller.SessionID = id
	now := int64(tx.now)
	return tx.exec(ctx, "INSERT INTO sessions (id, user_id, hash, created_at, last_used_at, recent_at, user_agent, address) "+
		"VALUES ($1, $2, $3, $4, $4, $4, $5, $6)",
		id, tx.caller.UserID, hash, now, agent(tx.caller.UserAgent), tx.caller.Address)
}

// maxAgent is the maximum length of a stored User-Agent, in bytes.
const maxAgent = 256

// agent returns a User-Agent header in its stored form.
func agent(s string) string { return validText(s, maxAgent) }

// CallerOfSession returns the caller that is authenticated by the session whose secret has
// the given hash. It returns found = false if the session has ended or expired, or its
// owner's account was deleted.
func (v *View) CallerOfSession(ctx context.Context, hash []byte) (c board.Caller, found bool, err error) {
	lastUsed, created := v.sessionLimits()
	found, err = v.one(ctx, "SELECT s.id, s.user_id FROM sessions s JOIN users u ON u.id = s.user_id WHERE s.hash = $1 AND "+
		sessionValid+" AND u.deleted_at IS NULL",
		[]any{hash, lastUsed, created}, &c.SessionID, &c.UserID)
	if err != nil || !found {
		return board.Caller{}, false, err
	}
	person := board.Person(c.UserID, board.ScopeRead, board.ScopeWrite, board.ScopeAdmin)
	person.SessionID = c.SessionID
	return person, true, nil
}

// ValidCredentials returns which of the given sessions and tokens are still valid. It
// applies the rules of CallerOfSession and CallerOfToken.
func (db *DB) ValidCredentials(ctx context.Context, ids []string) (map[string]bool, error) {
	out := map[string]bool{}
	err := db.Read(ctx, board.System(), func(v *View) error {
		scan := func(rows *sql.Rows) error {
			var id string
			err := rows.Scan(&id)
			out[id] = true
			return err
		}
		lastUsed, created := v.sessionLimits()
		return sqldb.InChunks(ids, func(in string, args []any) error {
			n := len(args)
			session := fmt.Sprintf("s.last_used_at > $%d AND s.created_at > $%d", n+1, n+2)
			if err := v.each(ctx, "SELECT s.id FROM sessions s JOIN users u ON u.id = s.user_id WHERE s.id IN ("+in+") AND "+session+
				" AND u.deleted_at IS NULL",
				append(slices.Clone(args), lastUsed, created), scan); err != nil {
				return err
			}
			return v.each(ctx, fmt.Sprintf("SELECT t.id FROM tokens t JOIN users u ON u.id = t.user_id WHERE t.id IN (%s) AND %s",
				in, tokenValid(n+1)),
				append(args, int64(v.now)), scan)
		})
	})
	return out, err
}

// TouchSession records the time, the address and the browser of a session's last use.
func (tx *Tx) TouchSession(ctx context.Context, id, address, userAgent string) error {
	return tx.exec(ctx, "UPDATE sessions SET last_used_at = $1, address = $2, user_agent = $3 WHERE id = $4", int64(tx.now),
		address, agent(userAgent), id)
}

const sessionSelect = "SELECT s.id, s.created_at, s.last_used_at, s.user_agent, s.address FROM sessions s " +
	"WHERE s.user_id = $1 AND " + sessionValid

func (v *View) sessions(ctx context.Context, where string, args ...any) ([]board.Session, error) {
	lastUsed, created := v.sessionLimits()
	out := []board.Session{}
	err := v.each(ctx, sessionSelect+where, append([]any{v.caller.UserID, lastUsed, created}, args...), func(rows *sql.Rows) error {
		var s board.Session
		err := rows.Scan(&s.ID, &s.CreatedAt, &s.LastUsedAt, &s.UserAgent, &s.Address)
		s.Current = s.ID == v.caller.SessionID
		out = append(out, s)
		return err
	})
	return out, err
}

// Sessions returns a page of the caller's sessions, newest first. If before is not "", it
// returns only sessions older than the session with that id.
func (v *View) Sessions(ctx context.Context, before string, limit int) ([]board.Session, error) {
	return v.sessions(ctx, " AND ($4 = '' OR s.id < $4) ORDER BY s.id DESC LIMIT $5", before, limit)
}

// Session returns the caller's current session.
func (v *View) Session(ctx context.Context) (board.Session, error) {
	found, err := v.sessions(ctx, " AND s.id = $4", v.caller.SessionID)
	if err == nil && len(found) == 0 {
		return board.Session{}, board.Unauthenticated()
	}
	if err != nil {
		return board.Session{}, err
	}
	return found[0], nil
}

// RecentUntil returns the time until which the caller's sign-in counts as recent, or 0
// if the caller has no session.
func (v *View) RecentUntil(ctx context.Context) (board.Instant, error) {
	var at board.Instant
	found, err := v.one(ctx, "SELECT recent_at FROM sessions WHERE id = $1 AND user_id = $2", []any{v.caller.SessionID, v.caller.UserID}, &at)
	if err != nil || !found {
		return 0, err
	}
	return at + board.Instant(board.RecentFor.Milliseconds()), nil
}

// ConfirmSession makes the caller's sign-in recent again. It also replaces the hash of
// the session's secret, so that a stolen old secret stops working.
func (tx *Tx) ConfirmSession(ctx context.Context, hash []byte) error {
	n, err := tx.affected(ctx, "UPDATE sessions SET recent_at = $1, hash = $2 WHERE id = $3 AND user_id = $4", int64(tx.now), hash,
		tx.caller.SessionID, tx.caller.UserID)
	if err == nil && n == 0 {
		err = board.Unauthenticated()
	}
	return err
}

// EndReplacedSession ends the session that the caller's browser had before the caller
// signed in again. It returns the id of that session's user, or "" if there was no such
// session.
func (tx *Tx) EndReplacedSession(ctx context.Context) (userID string, err error) {
	if len(tx.caller.Replaces) == 0 {
		return "", nil
	}
	_, err = tx.one(ctx, "DELETE FROM sessions WHERE hash = $1 RETURNING user_id", []any{tx.caller.Replaces}, &userID)
	return userID, err
}

// EndSession ends one of the caller's sessions. It returns a not_found error for any
// other session.
func (tx *Tx) EndSession(ctx context.Context, id string) error {
	n, err := tx.affected(ctx, "DELETE FROM sessions WHERE id = $1 AND user_id = $2", id, tx.caller.UserID)
	if err == nil && n == 0 {
		err = board.NotFound()
	}
	return err
}

// EndOtherSessions ends all sessions of the caller except the current one.
func (tx *Tx) EndOtherSessions(ctx context.Context) error {
	return tx.exec(ctx, "DELETE FROM sessions WHERE user_id = $1 AND id <> $2", tx.caller.UserID, tx.caller.SessionID)
}

// LimitSessions ends all sessions of the caller except the most recently used ones. Keep
// is the number of sessions to keep.
func (tx *Tx) LimitSessions(ctx context.Context, keep int) error {
	return tx.exec(ctx, `DELETE FROM sessions WHERE user_id = $1 AND id NOT IN (
		SELECT id FROM sessions WHERE user_id = $1 ORDER BY last_used_at DESC, id DESC LIMIT $2)`, tx.caller.UserID, keep)
}
