package sqldb

import (
	"database/sql"
	"fmt"
	"net"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// errUnreplicated means that a transaction is committed only on the primary, because the
// wait for the standby was canceled. A failover may lose the transaction, so it must not
// be acknowledged. A retry with the same idempotency key succeeds once the standby has
// the transaction.
var errUnreplicated = fmt.Errorf("%w: the write has not been replicated to the standby yet", ErrUnavailable)

const unreplicatedMark = "unreplicated"

// noteUnreplicated marks the connection when PostgreSQL warns that it did not wait for
// its standby (syncrep.c, SyncRepWaitForLSN). The message may be in any language, so the
// warning is recognized by its code: that of a plain warning or of an administrator
// command.
func noteUnreplicated(c *pgconn.PgConn, n *pgconn.Notice) {
	if n.SeverityUnlocalized == "WARNING" && (n.Code == "01000" || n.Code == "57P01") {
		c.CustomData()[unreplicatedMark] = true
	}
}

// unreplicated reports whether the connection is marked, and clears the mark.
func unreplicated(conn *sql.Conn) (marked bool) {
	_ = pipelineOf(conn, func(p *pipeline) error { // it fails only when the connection is gone, after the commit
		data := p.Conn.Conn().PgConn().CustomData()
		_, marked = data[unreplicatedMark]
		delete(data, unreplicatedMark)
		return nil
	})
	return marked
}

// postgresDialer returns a dialer that detects a broken network. Its connections send
// probes after a period of silence, and give up when sent data is not acknowledged.
func postgresDialer(silence time.Duration) *net.Dialer {
	return &net.Dialer{
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: silence / 2, Interval: silence / 8, Count: 4},
		Control:         giveUpAfter(silence),
	}
}
