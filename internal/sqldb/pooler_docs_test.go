package sqldb

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// docs/scaling.md states how many servers fit within PostgreSQL's default connection
// limit.
func TestServersWithoutAPoolerAreDocumented(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/scaling.md")
	if err != nil {
		t.Fatal(err)
	}
	const most, reserved = 100, 3 // max_connections and superuser_reserved_connections, by default
	for _, words := range []string{
		fmt.Sprintf("at most %d connections", postgresConns),
		fmt.Sprintf("enough for %d servers", (most-reserved)/postgresConns),
		fmt.Sprintf("`max_connections` to %d for each server", postgresConns),
	} {
		if !strings.Contains(string(text), words) {
			t.Errorf("docs/scaling.md does not contain %q", words)
		}
	}
}
