package store

import (
	"context"

	"cardwall/internal/board"
)

// noticeAbout contains the query for each email about an account. It selects the
// recipient's address and time zone, and what the email says about a record: a
// time, a name, a host, the last four characters of a token, an IP address and a
// browser.
var noticeAbout = map[board.EmailKind]string{
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

// AccountNotice returns the content of an email to the owner of an account, and
// their address. It returns CodeNotFound if the record or the account was deleted.
func (v *View) AccountNotice(ctx context.Context, kind board.EmailKind, about string) (to string, n board.AccountNotice, err error) {
	found, err := v.one(ctx, noticeAbout[kind]+" AND u.deleted_at IS NULL", []any{about}, &to, &n.TimeZone, &n.At, &n.Name,
		&n.Host, &n.LastFour, &n.Address, &n.UserAgent)
	if err == nil && !found {
		err = board.NotFound()
	}
	return to, n, err
}
