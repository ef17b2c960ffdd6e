package sqldb

import (
	"errors"
	"syscall"
	"time"
)

// tcpUserTimeout is TCP_USER_TIMEOUT of tcp(7), in milliseconds: how long sent data
// may stay unacknowledged. Without it the kernel retries for a quarter of an hour.
const tcpUserTimeout = 18

// giveUpAfter makes the kernel close a connection whose peer acknowledges nothing.
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
