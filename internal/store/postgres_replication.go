package store

import (
	"database/sql"
	"fmt"
	"net"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

// errUnreplicated is that a transaction is committed on the primary alone: the
// wait for its standby was cancelled. A fail-over may lose it, so it must not be
// acknowledged. Who asks again under the same key is answered once the standby
// has it, see Tx.Claim.
var errUnreplicated = fmt.Errorf("%w: the write is not on a second server yet", errUnavailable)

const unreplicatedMark = "unreplicated"

// noteUnreplicated marks the connection when PostgreSQL says, as nothing but a
// warning, that it did not wait for its standby (syncrep.c, SyncRepWaitForLSN).
// The text may be in any language; the code is that of a plain warning or of an
// administrator's command.
func noteUnreplicated(c *pgconn.PgConn, n *pgconn.Notice) {
	if n.SeverityUnlocalized == "WARNING" && (n.Code == "01000" || n.Code == "57P01") {
		c.CustomData()[unreplicatedMark] = true
	}
}

// unreplicated tells whether the connection was marked, and takes the mark away.
func unreplicated(conn *sql.Conn) (marked bool) {
	_ = conn.Raw(func(driver any) error { // it fails only when the connection is gone, after the commit
		data := driver.(*stdlib.Conn).Conn().PgConn().CustomData()
		_, marked = data[unreplicatedMark]
		delete(data, unreplicatedMark)
		return nil
	})
	return marked
}

// postgresDialer connects so that a server behind a broken network is noticed:
// a probe after silence, and an end when what was sent is not confirmed.
func postgresDialer(silence time.Duration) *net.Dialer {
	return &net.Dialer{
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: silence / 2, Interval: silence / 8, Count: 4},
		Control:         giveUpAfter(silence),
	}
}
