package sqldb

import (
	"errors"
	"syscall"
	"time"
)

// tcpUserTimeout is the number of the socket option TCP_USER_TIMEOUT (see tcp(7)), which
// limits how many milliseconds sent data may remain unacknowledged. Without it, the kernel
// retransmits for about 15 minutes.
const tcpUserTimeout = 18

// giveUpAfter returns a net.Dialer.Control function. It makes the kernel close a connection
// whose peer acknowledges nothing.
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
