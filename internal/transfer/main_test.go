package transfer_test

import (
	"context"
	"io"
	"log/slog"
	"os"
	"testing"

	"go.uber.org/goleak"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/store"
	"cardwall/internal/transfer"
)

func TestMain(m *testing.M) {
	if err := apptest.FewerChecks(); err != nil {
		slog.Error(err.Error())
		os.Exit(2)
	}
	goleak.VerifyTestMain(m)
}

// readInto imports a document into a workspace in one transaction.
func readInto(ctx context.Context, tx *store.Tx, workspaceID string,
	read func(context.Context, *store.Draft, io.Reader, transfer.Progress) (transfer.Report, error), r io.Reader,
	progress transfer.Progress) (transfer.Report, error) {
	w, err := tx.Workspace(ctx, workspaceID, board.CreateBoards)
	if err != nil {
		return transfer.Report{}, err
	}
	return read(ctx, tx.NewDraft(w), r, progress)
}
