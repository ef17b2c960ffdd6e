package apptest

import (
	"fmt"
	"runtime"
	"sync"
	"syscall"
	"testing"
)

// ReserveAddress returns a local address for a server that the test starts later. A socket that is
// bound to the address keeps other programs from using it until the end of the test. Connections
// are refused until a server listens. It may listen because the socket does not, and because Go
// and Node.js set SO_REUSEADDR too.
func ReserveAddress(t testing.TB) string {
	t.Helper()
	syscall.ForkLock.RLock() // no program that starts now may inherit the socket
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(socket)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
	release := sync.OnceFunc(func() { _ = syscall.Close(socket) })
	t.Cleanup(release)
	// Without SO_REUSEADDR, bind chooses a port that no other socket is bound to.
	if err := syscall.Bind(socket, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if err := syscall.SetsockoptInt(socket, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err != nil {
		t.Fatal(err)
	}
	name, err := syscall.Getsockname(socket)
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "linux" {
		release() // other systems don't let two sockets share an address in this way
	}
	return fmt.Sprintf("127.0.0.1:%d", name.(*syscall.SockaddrInet4).Port)
}
