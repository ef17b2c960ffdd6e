package store

import (
	"errors"
	"syscall"
	"time"
)

// tcpUserTimeout is TCP_USER_TIMEOUT of tcp(7): how long what was sent may stay
// unconfirmed, in milliseconds. Without it a connection whose other end is gone
// is tried for a quarter of an hour.
const tcpUserTimeout = 18

// giveUpAfter has the system end a connection whose other end confirms nothing.
func giveUpAfter(silence time.Duration) func(network, address string, c syscall.RawConn) error {
	return func(network, _ string, c syscall.RawConn) error {
		if network == "unix" {
			return nil
		}
		var refused error
		err := c.Control(func(handle uintptr) {
			refused = syscall.SetsockoptInt(int(handle), syscall.IPPROTO_TCP, tcpUserTimeout, int(silence.Milliseconds()))
		})
		return errors.Join(err, refused)
	}
}
