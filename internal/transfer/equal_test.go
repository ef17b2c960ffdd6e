package transfer_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/store"
	"cardwall/internal/transfer"
)

// Two documents are equal if they differ only in exportedAt and in their ids. The ids must
// correspond one to one. Users are compared as a set, because the order of users with the
// same name depends on their ids.

// failer is implemented by *testing.T and *rapid.T.
type failer interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Fatal(args ...any)
}

var (
	idShape = regexp.MustCompile(`^[a-z]{3}_[0-9a-hjkmnp-tv-z]{26}$`)
	idIn    = regexp.MustCompile(`(?i)[a-z]{3}_[0-9a-hjkmnp-tv-z]{26}`)
)

// canonical returns a document with its ids numbered in order of first occurrence.
func canonical(t failer, doc []byte) string {
	t.Helper()
	var v any
	if err := json.Unmarshal(doc, &v); err != nil {
		t.Fatalf("decode the export: %v\n%s", err, doc)
	}
	numbers := map[string]string{}
	v = renumber(v, numbers)
	sortUsers(v, numbers)
	out, err := json.Marshal(v, json.Deterministic(true), jsontext.Multiline(true))
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func renumber(v any, numbers map[string]string) any {
	switch v := v.(type) {
	case string:
		if idShape.MatchString(v) {
			return number(v, numbers)
		}
	case []any:
		for i := range v {
			v[i] = renumber(v[i], numbers)
		}
	case map[string]any:
		delete(v, "exportedAt")
		names := slices.Sorted(maps.Keys(v))
		// Users come last, because some of them may occur only in the activity.
		slices.SortFunc(names, func(a, b string) int {
			return cmp.Or(cmp.Compare(rank(a), rank(b)), strings.Compare(a, b))
		})
		for _, name := range names {
			if text, ok := v[name].(string); ok && name == "query" {
				v[name] = idIn.ReplaceAllStringFunc(text, func(id string) string { return number(strings.ToLower(id), numbers) })
			} else if !slices.Contains([]string{"title", "name", "description", "text"}, name) || isMap(v[name]) {
				v[name] = renumber(v[name], numbers)
			}
		}
	}
	return v
}

func number(id string, numbers map[string]string) string {
	if numbers[id] == "" {
		numbers[id] = fmt.Sprintf("%s%d", id[:4], len(numbers)+1)
	}
	return numbers[id]
}

func isMap(v any) bool {
	m, ok := v.(map[string]any)
	_, change := m["from"]
	return ok && !change
}

func rank(name string) int {
	if name == "users" {
		return 1
	}
	return 0
}

func sortUsers(v any, numbers map[string]string) {
	m, ok := v.(map[string]any)
	if !ok {
		return
	}
	if boards, ok := m["boards"].([]any); ok {
		for _, b := range boards {
			sortUsers(b, numbers)
		}
	}
	if users, ok := m["users"].([]any); ok {
		slices.SortFunc(users, func(a, b any) int {
			return strings.Compare(a.(map[string]any)["id"].(string), b.(map[string]any)["id"].(string))
		})
	}
}

// mustEqual fails the test at the first line in which two documents differ.
func mustEqual(t failer, what string, a, b []byte) {
	t.Helper()
	x, y := strings.Split(canonical(t, a), "\n"), strings.Split(canonical(t, b), "\n")
	for i := range max(len(x), len(y)) {
		if i >= len(x) || i >= len(y) || x[i] != y[i] {
			from := max(0, i-8)
			t.Fatalf("%s: the documents differ in line %d; first:\n%s\nsecond:\n%s", what, i+1,
				strings.Join(x[from:min(len(x), i+4)], "\n"), strings.Join(y[from:min(len(y), i+4)], "\n"))
		}
	}
}

func export(t failer, s *apptest.Service, caller board.Caller, boardID string) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := s.DB.Stream(context.Background(), caller, func(v *store.View) error {
		return transfer.Export(context.Background(), v, boardID, &b)
	}); err != nil {
		t.Fatalf("export: %v", err)
	}
	return b.Bytes()
}

func exportWorkspace(t failer, s *apptest.Service, caller board.Caller, workspaceID string) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := s.DB.Stream(context.Background(), caller, func(v *store.View) error {
		return transfer.ExportWorkspace(context.Background(), v, workspaceID, &b)
	}); err != nil {
		t.Fatalf("export the workspace: %v", err)
	}
	return b.Bytes()
}

func importDocument(s *apptest.Service, caller board.Caller, workspaceID string, doc []byte) (r transfer.Report, err error) {
	err = s.DB.Write(context.Background(), caller, func(tx *store.Tx) (err error) {
		r, err = readInto(context.Background(), tx, workspaceID, transfer.Import, bytes.NewReader(doc), nil)
		return err
	})
	return r, err
}

// roundTrip exports a board, imports it, imports the result again and compares all three
// documents. It returns the board of the first import.
func roundTrip(t failer, from, to *apptest.Service, caller board.Caller, workspaceID, boardID string) string {
	t.Helper()
	first := export(t, from, board.System(), boardID)
	from.Conforms("BoardExport", first)
	r, err := importDocument(to, caller, workspaceID, first)
	if err != nil {
		t.Fatalf("import: %v", err)
	}
	imported := r.Boards[0].ID
	if from != to {
		first = withOwner(t, first, caller)
	}
	second := export(t, to, caller, imported)
	mustEqual(t, "export of the first import", first, second)
	if r, err = importDocument(to, caller, workspaceID, second); err != nil {
		t.Fatalf("second import: %v", err)
	}
	third := export(t, to, caller, r.Boards[0].ID)
	mustEqual(t, "export of the second import", second, third)
	if !bytes.Equal(users(t, second), users(t, third)) {
		t.Errorf("users after the second import: got %s, want %s", users(t, third), users(t, second))
	}
	return imported
}

// withOwner returns a document whose filters belong to the caller, a person named Ada.
func withOwner(t failer, doc []byte, caller board.Caller) []byte {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(doc, &v); err != nil {
		t.Fatal(err)
	}
	for _, f := range v["savedFilters"].([]any) {
		f.(map[string]any)["owner"] = map[string]any{"id": caller.UserID, "name": "Ada"}
	}
	out, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func users(t failer, doc []byte) []byte {
	t.Helper()
	var d struct {
		Users jsontext.Value `json:"users"`
	}
	if err := json.Unmarshal(doc, &d); err != nil {
		t.Fatal(err)
	}
	return d.Users
}
