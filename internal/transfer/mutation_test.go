package transfer_test

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

// TestTrelloMutations puts unusual values into a Trello file. Each file must either become a board
// that an export and an import reproduce, or be rejected with a fault.
func TestTrelloMutations(t *testing.T) {
	t.Parallel()
	for name, database := range map[string]string{"sqlite": filepath.Join(t.TempDir(), "cardwall.db"), "postgres": apptest.PostgresURL(t)} {
		s := apptest.New(t, database, apptest.Options{})
		ada := s.Person("Ada")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		imported := 0
		rapid.Check(t, func(rt *rapid.T) {
			var v any
			if err := json.Unmarshal([]byte(rich), &v, jsontext.AllowInvalidUTF8(true)); err != nil {
				rt.Fatal(err)
			}
			for range rapid.IntRange(1, 4).Draw(rt, "mutations") {
				v = mutate(rt, v, 0)
			}
			text, err := json.Marshal(v, json.Deterministic(true))
			if err != nil {
				rt.Fatal(err)
			}
			r, err := importTrello(s, board.Person(ada.ID), workspace, string(text))
			if err != nil {
				if _, named := board.AsFault(err); !named {
					rt.Fatalf("%s: got error %v, want success or a fault", name, err)
				}
				return
			}
			imported++
			roundTrip(rt, s, s, board.Person(ada.ID), workspace, r.Boards[0].ID)
		})
		if imported == 0 {
			t.Errorf("%s: got 0 imported files, want at least 1", name)
		}
	}
}

// mutate changes a random value inside v.
func mutate(rt *rapid.T, v any, depth int) any {
	if depth > 1 && rapid.IntRange(0, 3).Draw(rt, "here") == 0 {
		return unusual(rt, v)
	}
	switch v := v.(type) {
	case []any:
		if len(v) == 0 {
			return v
		}
		i := rapid.IntRange(0, len(v)-1).Draw(rt, "index")
		if rapid.IntRange(0, 4).Draw(rt, "twice") == 0 {
			return append(v, v[i])
		}
		v[i] = mutate(rt, v[i], depth+1)
		return v
	case map[string]any:
		if len(v) == 0 {
			return v
		}
		name := rapid.SampledFrom(slices.Sorted(maps.Keys(v))).Draw(rt, "name")
		v[name] = mutate(rt, v[name], depth+1)
		return v
	}
	return unusual(rt, v)
}

// unusual returns an unusual value. It usually has the same type, because other types are
// rejected.
func unusual(rt *rapid.T, v any) any {
	if rapid.IntRange(0, 5).Draw(rt, "type") > 0 {
		switch v.(type) {
		case string:
			return rapid.SampledFrom([]string{"", " ", "\x00", "a\x00\r\n\x1b[31mb", "l1", "c1", "m1", "\u202e",
				strings.Repeat("🏗", 600), strings.Repeat("x", 20_000),
				"2026-02-30T00:00:00Z", "9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z", "2026-01-01T00:00:00+14:00", "complete",
				"ffffffffffffffffffffffff", "crd_01jb2m3n4p5q6r7s8t9v0w1x2y"}).Draw(rt, "text")
		case float64:
			return rapid.SampledFrom([]any{0.0, -1.0, 1.5, 4.0, 1e18, -1e308, 1e308, 999_999_999.0, 1_000_000_001.0,
				500_000_001.0}).Draw(rt, "number")
		case bool:
			return rapid.Bool().Draw(rt, "bool")
		}
	}
	return rapid.SampledFrom([]any{nil, true, 7.0, "text", []any{}, map[string]any{}}).Draw(rt, "any")
}
