package digest_test

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"cardwall/internal/apptest"

	_ "pgregory.net/rapid" // defines the flag that FewerChecks sets
)

func TestMain(m *testing.M) {
	if err := apptest.FewerChecks(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}
