package store_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// lastFree is the newest migration that was written before these rules.
const lastFree = 18

var (
	goUp      = regexp.MustCompile(`(?m)^-- \+goose Up$`)
	remark    = regexp.MustCompile(`(?m)--.*$`)
	indexMade = regexp.MustCompile(`(?i)\bCREATE\s+(?:UNIQUE\s+)?INDEX\s+(CONCURRENTLY\s+)?` +
		`(?:IF\s+NOT\s+EXISTS\s+)?(\w+)\s+ON\s+(?:ONLY\s+)?(\w+)`)
	tableMade  = regexp.MustCompile(`(?i)\bCREATE\s+TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?(\w+)`)
	uniqueMade = regexp.MustCompile(`(?i)\bALTER\s+TABLE\s+(\w+)\s+ADD\s+(?:CONSTRAINT\s+\w+\s+)?(?:UNIQUE|PRIMARY\s+KEY)\s*\(`)
)

// refusal returns why a migration of PostgreSQL would block running servers, or "".
func refusal(text string) string {
	apart := strings.Contains(text, "-- +goose NO TRANSACTION")
	if !goUp.MatchString(text) {
		return "it has no -- +goose Up"
	}
	text = remark.ReplaceAllString(text, "")
	own := map[string]bool{}
	for _, m := range tableMade.FindAllStringSubmatch(text, -1) {
		own[m[1]] = true
	}
	if m := uniqueMade.FindStringSubmatch(text); m != nil && !own[m[1]] {
		return "it builds the index of a constraint under a lock; build it CONCURRENTLY and add it USING INDEX"
	}
	for _, m := range indexMade.FindAllStringSubmatch(text, -1) {
		beside, name, table := m[1] != "", m[2], m[3]
		switch {
		case own[table] && !beside:
		case !beside:
			return "index " + name + " locks " + table + ", which already exists: CREATE INDEX CONCURRENTLY, in a file with -- " +
				"+goose NO TRANSACTION"
		case !apart:
			return "index " + name + " is made CONCURRENTLY inside a transaction: -- +goose NO TRANSACTION"
		case !strings.Contains(text[:strings.Index(text, m[0])], "DROP INDEX CONCURRENTLY IF EXISTS "+name+";"):
			return "an interrupted build of index " + name + " leaves it invalid: DROP INDEX CONCURRENTLY IF EXISTS " + name + "; before it"
		}
	}
	if !apart {
		if first := strings.TrimSpace(text); !strings.HasPrefix(first, "SET LOCAL lock_timeout = ") && !strings.HasPrefix(first, "CREATE TABLE") {
			return "everybody waits behind a migration that waits for a lock: begin with SET LOCAL lock_timeout = '10s';"
		}
		return ""
	}
	statements := strings.Split(strings.TrimSuffix(strings.TrimSpace(text), ";"), ";")
	for i, s := range statements {
		s = strings.TrimSpace(s)
		switch {
		case i == 0 && s == "SET lock_timeout = 0", i == len(statements)-1 && s == "RESET lock_timeout":
		case i == 0 || i == len(statements)-1:
			return "a build waits for all transactions before it: begin with SET lock_timeout = 0; and end with RESET lock_timeout;"
		case !strings.HasPrefix(s, "DROP INDEX CONCURRENTLY IF EXISTS ") && !indexMade.MatchString(s):
			return "outside of a transaction nothing but indexes is made, for what was done before an interruption is done again: " + s
		}
	}
	return ""
}

// Since these rules exist, a migration of PostgreSQL creates indexes concurrently,
// never waits long for a lock, and can run again after an interruption.
func TestMigrationsDoNotBlockServers(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("migrations/*.postgres.sql")
	if err != nil || len(files) < lastFree {
		t.Fatalf("the migrations are %v: %v", files, err)
	}
	for _, file := range files {
		number, err := strconv.Atoi(filepath.Base(file)[:3])
		if err != nil {
			t.Fatal(err)
		}
		if number <= lastFree {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if why := refusal(string(text)); why != "" {
			t.Errorf("%s: %s", file, why)
		}
	}
}

func TestMigrationRules(t *testing.T) {
	t.Parallel()
	const up, apart = "-- +goose Up\n", "-- +goose NO TRANSACTION\n-- +goose Up\n"
	for text, want := range map[string]string{
		up + "CREATE INDEX cards_x ON " +
			"cards (x);": "locks cards",
		up + "SET LOCAL lock_timeout = '1s'; CREATE UNIQUE INDEX cards_x ON " +
			"cards (x);": "locks cards",
		up + "CREATE INDEX CONCURRENTLY cards_x ON " +
			"cards (x);": "inside a transaction",
		up + "CREATE TABLE fresh (x BIGINT);\nCREATE INDEX fresh_x ON " +
			"fresh (x);": "",
		up + "ALTER TABLE cards ADD COLUMN x " +
			"BIGINT;": "lock_timeout",
		up + "SET LOCAL lock_timeout = '10s';\nALTER TABLE cards ADD COLUMN x " +
			"BIGINT;": "",
		up + "SET LOCAL lock_timeout = '10s';\nALTER TABLE cards ADD CONSTRAINT u " +
			"UNIQUE (x);": "under a lock",
		apart + "CREATE INDEX CONCURRENTLY cards_x ON " +
			"cards (x);": "interrupted",
		apart + "DROP INDEX CONCURRENTLY IF EXISTS cards_x;\nCREATE INDEX CONCURRENTLY cards_x ON " +
			"cards (x);": "lock_timeout = 0",
		apart + "SET lock_timeout = 0;\nDROP INDEX CONCURRENTLY IF EXISTS cards_x;\nCREATE INDEX CONCURRENTLY cards_x ON cards " +
			"(x);\nRESET lock_timeout;": "",
		apart + "SET lock_timeout = 0;\nUPDATE cards SET x = 1;\nRESET " +
			"lock_timeout;": "nothing but indexes",
		apart + "SET lock_timeout = 0;\n-- DROP INDEX CONCURRENTLY IF EXISTS cards_x;\nCREATE INDEX CONCURRENTLY cards_x ON cards " +
			"(x);\nRESET lock_timeout;": "interrupted",
		apart + "SET lock_timeout = 0;\nDROP INDEX CONCURRENTLY IF EXISTS cards_x;\nCREATE UNIQUE INDEX CONCURRENTLY cards_x ON cards " +
			"(x) WHERE y > 1;\nRESET lock_timeout;\n\n": "",
	} {
		if got := refusal(text); (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
