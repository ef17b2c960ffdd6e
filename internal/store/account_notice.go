package store

import (
	"context"

	"cardwall/internal/board"
)

// noticeQueries contains the query for each kind of email about an account. A query
// selects the recipient's address and time zone, and the details of the record $1: a
// time, a name, a host, the last four characters of a token, an IP address and a user
// agent.
var noticeQueries = map[board.EmailKind]string{
	board.EmailPasswordChanged: "SELECT u.email, u.time_zone, 0, '', '', '', '', '' FROM users u WHERE u.id = $1",
	board.EmailPasskeyAdded: "SELECT u.email, u.time_zone, p.created_at, p.name, '', '', '', '' FROM passkeys p " +
		"JOIN users u ON u.id = p.user_id WHERE p.id = $1",
	board.EmailTokenCreated: "SELECT u.email, u.time_zone, t.created_at, t.name, '', t.last_four, '', '' FROM tokens t " +
		"JOIN users u ON u.id = t.user_id WHERE t.id = $1",
	board.EmailAppConnected: "SELECT u.email, u.time_zone, t.created_at, t.name, g.host, '', '', '' FROM tokens t " +
		"JOIN users u ON u.id = t.user_id " +
		"JOIN oauth_grants g ON g.token_id = t.id WHERE t.id = $1",
	board.EmailNewDevice: "SELECT u.email, u.time_zone, d.last_used_at, '', '', '', d.address, d.user_agent FROM known_devices d " +
		"JOIN users u ON u.id = d.user_id WHERE d.id = $1",
}

// AccountNotice returns the recipient and the content of an email to the owner of an
// account. About is the id of a record, such as a token. AccountNotice returns a
// not_found error if the record or the account was deleted.
func (v *View) AccountNotice(ctx context.Context, kind board.EmailKind, about string) (to string, n board.AccountNotice, err error) {
	found, err := v.one(ctx, noticeQueries[kind]+" AND u.deleted_at IS NULL", []any{about}, &to, &n.TimeZone, &n.At, &n.Name,
		&n.Host, &n.LastFour, &n.Address, &n.UserAgent)
	if err == nil && !found {
		err = board.NotFound()
	}
	return to, n, err
}
