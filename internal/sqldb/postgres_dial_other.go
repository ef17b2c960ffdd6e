//go:build !linux

package sqldb

import (
	"syscall"
	"time"
)

// giveUpAfter does nothing: this system has no such setting, and keep-alive probes
// notice the broken connection.
func giveUpAfter(time.Duration) func(network, address string, c syscall.RawConn) error { return nil }
