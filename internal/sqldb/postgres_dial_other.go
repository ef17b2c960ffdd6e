//go:build !linux

package sqldb

import (
	"syscall"
	"time"
)

// giveUpAfter does nothing, because this system has no such socket option. Keep-alive
// probes detect a broken connection.
func giveUpAfter(time.Duration) func(network, address string, c syscall.RawConn) error { return nil }
