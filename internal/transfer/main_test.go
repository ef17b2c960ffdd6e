package transfer_test

import (
	"log/slog"
	"os"
	"testing"

	"go.uber.org/goleak"

	"cardwall/internal/apptest"
)

func TestMain(m *testing.M) {
	if err := apptest.FewerChecks(); err != nil {
		slog.Error(err.Error())
		os.Exit(2)
	}
	goleak.VerifyTestMain(m)
}
