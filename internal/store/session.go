package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"cardwall/internal/board"
	"cardwall/internal/sqldb"
)

// sessionLives is the condition that a session has not ended, where $2 is the oldest
// allowed last use and $3 the oldest allowed creation time.
const sessionLives = "s.last_used_at > $2 AND s.created_at > $3"

func (v *View) oldest() (lastUsed, created int64) {
	return int64(v.now) - board.SessionIdle.Milliseconds(), int64(v.now) - board.SessionLifetime.Milliseconds()
}

// ActAs makes a person the caller of the rest of the transaction, for example after a
// sign-in.
func (tx *Tx) ActAs(userID string) {
	tx.caller.Actor = board.Actor{Type: board.ActorPerson, ID: &userID}
	tx.caller.UserID = userID
}

// InsertSession writes a new session of the caller with the hash of its secret, and
// the address and browser of the request.
func (tx *Tx) InsertSession(ctx context.Context, id string, hash []byte) error {
	tx.caller.SessionID = id
	now := int64(tx.now)
	return tx.exec(ctx, "INSERT INTO sessions (id, user_id, hash, created_at, last_used_at, recent_at, user_agent, address) "+
		"VALUES ($1, $2, $3, $4, $4, $4, $5, $6)",
		id, tx.caller.UserID, hash, now, agent(tx.caller.UserAgent), tx.caller.Address)
}

// maxAgent is the maximum length of a stored User-Agent, in bytes.
const maxAgent = 256

func agent(s string) string { return validText(s, maxAgent) }

// CallerOfSession returns the caller of a session by the hash of its secret. Found is
// false if the session has ended or expired, or its owner's account was deleted.
func (v *View) CallerOfSession(ctx context.Context, hash []byte) (c board.Caller, found bool, err error) {
	lastUsed, created := v.oldest()
	found, err = v.one(ctx, "SELECT s.id, s.user_id FROM sessions s JOIN users u ON u.id = s.user_id WHERE s.hash = $1 AND "+
		sessionLives+" AND u.deleted_at IS NULL",
		[]any{hash, lastUsed, created}, &c.SessionID, &c.UserID)
	if err != nil || !found {
		return board.Caller{}, false, err
	}
	person := board.Person(c.UserID, board.ScopeRead, board.ScopeWrite, board.ScopeAdmin)
	person.SessionID = c.SessionID
	return person, true, nil
}

// ValidCredentials returns the ids of sessions and tokens that are still valid, by the
// rules of CallerOfSession and CallerOfToken.
func (db *DB) ValidCredentials(ctx context.Context, ids []string) (map[string]bool, error) {
	out := map[string]bool{}
	err := db.Read(ctx, board.System(), func(v *View) error {
		note := func(rows *sql.Rows) error {
			var id string
			err := rows.Scan(&id)
			out[id] = true
			return err
		}
		lastUsed, created := v.oldest()
		return sqldb.InChunks(ids, func(in string, args []any) error {
			n := len(args)
			session := fmt.Sprintf("s.last_used_at > $%d AND s.created_at > $%d", n+1, n+2)
			if err := v.each(ctx, "SELECT s.id FROM sessions s JOIN users u ON u.id = s.user_id WHERE s.id IN ("+in+") AND "+session+
				" AND u.deleted_at IS NULL",
				append(slices.Clone(args), lastUsed, created), note); err != nil {
				return err
			}
			return v.each(ctx, fmt.Sprintf("SELECT t.id FROM tokens t JOIN users u ON u.id = t.user_id WHERE t.id IN (%s) AND %s",
				in, tokenLives(n+1)),
				append(args, int64(v.now)), note)
		})
	})
	return out, err
}

// TouchSession records when and from where a session was last used.
func (tx *Tx) TouchSession(ctx context.Context, id, address, userAgent string) error {
	return tx.exec(ctx, "UPDATE sessions SET last_used_at = $1, address = $2, user_agent = $3 WHERE id = $4", int64(tx.now),
		address, agent(userAgent), id)
}

const sessionColumns = "SELECT s.id, s.created_at, s.last_used_at, s.user_agent, s.address FROM sessions s " +
	"WHERE s.user_id = $1 AND " + sessionLives

func (v *View) sessions(ctx context.Context, where string, args ...any) ([]board.Session, error) {
	lastUsed, created := v.oldest()
	out := []board.Session{}
	err := v.each(ctx, sessionColumns+where, append([]any{v.caller.UserID, lastUsed, created}, args...), func(rows *sql.Rows) error {
		var s board.Session
		err := rows.Scan(&s.ID, &s.CreatedAt, &s.LastUsedAt, &s.UserAgent, &s.Address)
		s.Current = s.ID == v.caller.SessionID
		out = append(out, s)
		return err
	})
	return out, err
}

// Sessions returns a page of the caller's sessions, newest first, before the given
// one.
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

// RecentUntil returns until when the caller's sign-in counts as recent, or 0 if
// the caller has no session.
func (v *View) RecentUntil(ctx context.Context) (board.Instant, error) {
	var at board.Instant
	found, err := v.one(ctx, "SELECT recent_at FROM sessions WHERE id = $1 AND user_id = $2", []any{v.caller.SessionID, v.caller.UserID}, &at)
	if err != nil || !found {
		return 0, err
	}
	return at + board.Instant(board.RecentFor.Milliseconds()), nil
}

// ConfirmSession makes the caller's sign-in recent again and replaces the hash of
// the session's secret, so that a stolen older secret is worth nothing.
func (tx *Tx) ConfirmSession(ctx context.Context, hash []byte) error {
	n, err := tx.affected(ctx, "UPDATE sessions SET recent_at = $1, hash = $2 WHERE id = $3 AND user_id = $4", int64(tx.now), hash,
		tx.caller.SessionID, tx.caller.UserID)
	if err == nil && n == 0 {
		err = board.Unauthenticated()
	}
	return err
}

// EndReplacedSession ends the session that the caller's browser had before it
// signed in again. It returns the user of that session, or "" if there was none.
func (tx *Tx) EndReplacedSession(ctx context.Context) (userID string, err error) {
	if len(tx.caller.Replaces) == 0 {
		return "", nil
	}
	_, err = tx.one(ctx, "DELETE FROM sessions WHERE hash = $1 RETURNING user_id", []any{tx.caller.Replaces}, &userID)
	return userID, err
}

// EndSession ends one of the caller's sessions. It returns CodeNotFound for any other.
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

// LimitSessions keeps the caller's current session and the most recently used
// others, keep in all, and ends the rest.
func (tx *Tx) LimitSessions(ctx context.Context, keep int) error {
	return tx.exec(ctx, `DELETE FROM sessions WHERE user_id = $1 AND id NOT IN (
		SELECT id FROM sessions WHERE user_id = $1 ORDER BY last_used_at DESC, id DESC LIMIT $2)`, tx.caller.UserID, keep)
}
