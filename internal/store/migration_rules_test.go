package store_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var (
	goUp        = regexp.MustCompile(`(?m)^-- \+goose Up$`)
	sqlComment  = regexp.MustCompile(`(?m)--.*$`)
	createIndex = regexp.MustCompile(`(?i)\bCREATE\s+(?:UNIQUE\s+)?INDEX\s+(CONCURRENTLY\s+)?` +
		`(?:IF\s+NOT\s+EXISTS\s+)?(\w+)\s+ON\s+(?:ONLY\s+)?(\w+)`)
	createTable   = regexp.MustCompile(`(?i)\bCREATE\s+TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?(\w+)`)
	addConstraint = regexp.MustCompile(`(?i)\bALTER\s+TABLE\s+(\w+)\s+ADD\s+(?:CONSTRAINT\s+\w+\s+)?(?:UNIQUE|PRIMARY\s+KEY)\s*\(`)
)

// violation describes how a PostgreSQL migration breaks a rule. It returns "" if the
// migration breaks none. A migration that breaks a rule could block running servers.
func violation(text string) string {
	noTransaction := strings.Contains(text, "-- +goose NO TRANSACTION")
	if !goUp.MatchString(text) {
		return "it has no -- +goose Up"
	}
	text = sqlComment.ReplaceAllString(text, "")
	own := map[string]bool{}
	for _, m := range createTable.FindAllStringSubmatch(text, -1) {
		own[m[1]] = true
	}
	if m := addConstraint.FindStringSubmatch(text); m != nil && !own[m[1]] {
		return "it builds the index of a constraint under a lock; build it CONCURRENTLY and add it USING INDEX"
	}
	for _, m := range createIndex.FindAllStringSubmatch(text, -1) {
		concurrently, name, table := m[1] != "", m[2], m[3]
		switch {
		case own[table] && !concurrently:
		case !concurrently:
			return "index " + name + " locks " + table + ", which already exists: use CREATE INDEX CONCURRENTLY, in a file with -- " +
				"+goose NO TRANSACTION"
		case !noTransaction:
			return "index " + name + " is created CONCURRENTLY inside a transaction: add -- +goose NO TRANSACTION"
		case !strings.Contains(text[:strings.Index(text, m[0])], "DROP INDEX CONCURRENTLY IF EXISTS "+name+";"):
			return "an interrupted build of index " + name + " leaves it invalid: first DROP INDEX CONCURRENTLY IF EXISTS " + name + ";"
		}
	}
	if !noTransaction {
		if first := strings.TrimSpace(text); !strings.HasPrefix(first, "SET LOCAL lock_timeout = ") && !strings.HasPrefix(first, "CREATE TABLE") {
			return "while it waits for a lock, all later statements wait too: begin with SET LOCAL lock_timeout = '10s';"
		}
		return ""
	}
	statements := strings.Split(strings.TrimSuffix(strings.TrimSpace(text), ";"), ";")
	for i, s := range statements {
		s = strings.TrimSpace(s)
		switch {
		case i == 0 && s == "SET lock_timeout = 0", i == len(statements)-1 && s == "RESET lock_timeout":
		case i == 0 || i == len(statements)-1:
			return "an index build waits for all earlier transactions: begin with SET lock_timeout = 0; and end with RESET lock_timeout;"
		case !strings.HasPrefix(s, "DROP INDEX CONCURRENTLY IF EXISTS ") && !createIndex.MatchString(s):
			return "outside of a transaction, a migration must only create indexes, because an interrupted one runs again: " + s
		}
	}
	return ""
}

// A PostgreSQL migration creates indexes concurrently, never makes servers wait long for
// a lock, and can run again after an interruption.
func TestMigrationsDoNotBlockServers(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("migrations/*.postgres.sql")
	if err != nil || len(files) == 0 {
		t.Fatalf("got %d PostgreSQL migrations (%v), want some", len(files), err)
	}
	for _, file := range files {
		number, err := strconv.Atoi(filepath.Base(file)[:3])
		if err != nil {
			t.Fatal(err)
		}
		if number <= baseline {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if rule := violation(string(text)); rule != "" {
			t.Errorf("%s: %s", file, rule)
		}
	}
}

func TestMigrationRules(t *testing.T) {
	t.Parallel()
	const up, noTransaction = "-- +goose Up\n", "-- +goose NO TRANSACTION\n-- +goose Up\n"
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
		noTransaction + "CREATE INDEX CONCURRENTLY cards_x ON " +
			"cards (x);": "interrupted",
		noTransaction + "DROP INDEX CONCURRENTLY IF EXISTS cards_x;\nCREATE INDEX CONCURRENTLY cards_x ON " +
			"cards (x);": "lock_timeout = 0",
		noTransaction + "SET lock_timeout = 0;\nDROP INDEX CONCURRENTLY IF EXISTS cards_x;\nCREATE INDEX CONCURRENTLY cards_x ON cards " +
			"(x);\nRESET lock_timeout;": "",
		noTransaction + "SET lock_timeout = 0;\nUPDATE cards SET x = 1;\nRESET " +
			"lock_timeout;": "only create indexes",
		noTransaction + "SET lock_timeout = 0;\n-- DROP INDEX CONCURRENTLY IF EXISTS cards_x;\nCREATE INDEX CONCURRENTLY cards_x ON cards " +
			"(x);\nRESET lock_timeout;": "interrupted",
		noTransaction + "SET lock_timeout = 0;\nDROP INDEX CONCURRENTLY IF EXISTS cards_x;\nCREATE UNIQUE INDEX CONCURRENTLY cards_x ON cards " +
			"(x) WHERE y > 1;\nRESET lock_timeout;\n\n": "",
	} {
		if got := violation(text); (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf(`violation(%q) = %q, want a text that contains %q ("" for no violation)`, text, got, want)
		}
	}
}
