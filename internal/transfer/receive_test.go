package transfer

import (
	"errors"
	"fmt"
	"syscall"
	"testing"

	"cardwall/internal/board"
	"cardwall/internal/spool"
)

// A full spool is reported to the client. Another error of the disk is not the client's
// fault, so it is not reported as an invalid request.
func TestDiskErrorsAreNotInvalidRequests(t *testing.T) {
	t.Parallel()
	f, ok := board.AsFault(storeFault(fmt.Errorf("write to a spool file: %w", spool.ErrFull)))
	if !ok || f.Code != board.CodeUnavailable || f.Reason != board.ReasonSpoolFull {
		t.Errorf("a full spool: got fault %+v, want code unavailable and reason %s", f, board.ReasonSpoolFull)
	}
	err := storeFault(fmt.Errorf("write to a spool file: %w", syscall.EIO))
	if f, ok := board.AsFault(err); ok || !errors.Is(err, syscall.EIO) {
		t.Errorf("a disk error: got fault %+v and error %v, want no fault and an error that wraps EIO", f, err)
	}
}
