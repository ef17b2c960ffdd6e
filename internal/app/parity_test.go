package app_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/sqldb"
)

// REST and MCP have the same effects. The test calls every operation over REST in one world, and
// as a tool in another, identical one. Every record, event, delivery and audit entry must be
// equal except for ids and times.
func TestToolsMatchREST(t *testing.T) {
	t.Parallel()
	apptest.Databases(t, func(t *testing.T, database string) {
		another := filepath.Join(t.TempDir(), "another.db")
		if sqldb.IsPostgres(database) {
			another = apptest.PostgresURL(t)
		}
		s, other := apptest.New(t, database, apptest.Options{}), apptest.New(t, another, apptest.Options{})
		s.Clock.Stop() // both worlds have the same time
		other.Clock.Stop()
		other.Clock.Advance(s.Clock.Now().Sub(other.Clock.Now()))
		a, b := newEffectLog(newWorld(s)), newEffectLog(newWorld(other))
		seen := 0
		for _, o := range s.Registry.All() {
			if !o.IsTool() {
				continue
			}
			seen++
			over, by := a.sample(t, o), b.sample(t, o)
			if a.plain(over) != b.plain(by) {
				t.Fatalf("%s: the inputs of the two worlds differ: %s and %s", o.Name, a.plain(over), b.plain(by))
			}
			a.skip()
			b.skip()
			rest := a.owner.Must(o.Name, withToolDefaults(o, over))
			tool := b.owner.Tool(o.Name, by)
			if tool.Failed || tool.Status != http.StatusOK {
				t.Errorf("%s: got status %d, body %s", o.Name, tool.Status, tool.Raw)
				continue
			}
			restBody, toolBody := string(rest.Raw), tool.Text
			if o.Streams() {
				restBody, toolBody = countsOf(t, rest), countsOf(t, tool.Response)
				if want := apptest.BaseURL + strings.Split(a.owner.Request(o, over).URL.Path,
					"?")[0]; a.plain(want) != b.plain(tool.Get("link")) {
					t.Errorf("%s: the link is %v, want %s", o.Name, tool.Get("link"), want)
				}
			}
			if x, y := a.normalized(restBody), b.normalized(toolBody); x != y {
				t.Errorf("%s returns\n%s\nover REST and\n%s\nas a tool", o.Name, x, y)
			}
			for i, x := range a.newRows() {
				if y := b.newRows()[i]; !reflect.DeepEqual(x, y) {
					t.Errorf("%s writes %q over REST and %q as a tool", o.Name, x, y)
				}
			}
		}
		if seen < 60 {
			t.Errorf("only %d tools were compared, want at least 60", seen)
		}
	})
}

// effectLog is a world that reads what operations have written to its database.
type effectLog struct {
	*world
	names map[string]string // of ids
	kinds map[string]int
	read  [3]int // rows already compared
}

func newEffectLog(w *world) *effectLog {
	return &effectLog{world: w, names: map[string]string{}, kinds: map[string]int{}}
}

var (
	idText = regexp.MustCompile(`\b[a-z]{3}_[0-9a-z]{26}\b`)
	random = []*regexp.Regexp{
		regexp.MustCompile(`\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`),
		regexp.MustCompile(`(?:"nextCursor":|"lastFour":)"[^"]+"`),
	}
)

// normalized returns a JSON response with sorted fields and comparable ids and times; see plain.
func (w *effectLog) normalized(text string) string {
	w.T.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		w.T.Fatalf("%v in %s", err, text)
	}
	return w.plain(v)
}

// plain returns a value as text, with ids numbered in order of appearance and without times.
func (w *effectLog) plain(v any) string {
	text, ok := v.(string)
	if !ok {
		b, err := json.Marshal(v, json.Deterministic(true))
		if err != nil {
			w.T.Fatal(err)
		}
		text = string(b)
	}
	for _, r := range random {
		text = r.ReplaceAllString(text, "RANDOM")
	}
	return idText.ReplaceAllStringFunc(text, func(id string) string {
		if w.names[id] == "" {
			w.kinds[id[:3]]++
			w.names[id] = fmt.Sprintf("%s#%d", id[:3], w.kinds[id[:3]])
		}
		return w.names[id]
	})
}

// rows returns the rows of the audit log, the activity and the outbox.
func (w *effectLog) rows() [3][]string {
	return [3][]string{
		w.Column(`SELECT operation || ' ' || actor_type || ' ' || COALESCE(actor_id, '') || ' ' || COALESCE(subject,
			'') || ' ' || COALESCE(workspace_id, '') || ' ' ||
			COALESCE(board_id, '') || CASE WHEN token_id IS NULL THEN '' ELSE ' by token' END || CASE WHEN request_id IS NULL THEN ''
			ELSE ' on request ' END || details FROM audit ORDER BY id`),
		w.Column(`SELECT type || ' ' || board_id || ' ' || actor_type || ' ' || COALESCE(actor_id, '') || ' ' || COALESCE(list_id,
			'') || ' ' || COALESCE(card_id, '') || ' ' || changes FROM activity ORDER BY id`),
		w.Column(`SELECT kind || ' ' || body FROM deliveries ORDER BY board_id, version, webhook_id`),
	}
}

func (w *effectLog) skip() {
	for i, all := range w.rows() {
		w.read[i] = len(all)
	}
}

// newRows returns the rows since the last skip, and all rows of the outbox.
func (w *effectLog) newRows() [3][]string {
	var out [3][]string
	for i, all := range w.rows() {
		if i < 2 {
			all = all[w.read[i]:]
		}
		for _, row := range all {
			out[i] = append(out[i], w.plain(row))
		}
	}
	slices.Sort(out[2])
	return out
}

// withToolDefaults returns an input with the defaults that tools use.
func withToolDefaults(o *op.Operation, in fields) fields {
	if !o.Pages {
		return in
	}
	in = with(in, "limit", 25)
	for _, f := range o.Input.Fields {
		if f.Name == "view" {
			in = with(in, "view", "compact")
		}
	}
	return in
}

func countsOf(t *testing.T, a apptest.Response) string {
	t.Helper()
	var document struct {
		Counts any `json:"counts"`
	}
	if err := json.Unmarshal(a.Raw, &document); err != nil {
		t.Fatal(err)
	}
	if document.Counts == nil {
		document.Counts = a.Get("counts")
	}
	text, err := json.Marshal(document.Counts, json.Deterministic(true))
	if err != nil || string(text) == "null" {
		t.Fatalf("no counts in %s: %v", a.Raw, err)
	}
	return string(text)
}

// A tool call fails with the same code and message as a REST call. The tool adds what the caller
// can do next.
func TestToolErrorsMatchREST(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		eve := s.Person("Eve")
		readOnly, noAdmin := w.owner.With(board.ScopeRead), w.owner.With(board.ScopeRead, board.ScopeWrite)
		cases := 0
		for _, o := range s.Registry.All() {
			if !o.IsTool() {
				continue
			}
			in := w.sample(t, o)
			compare := func(what string, p *apptest.Person, in fields, words bool) {
				t.Helper()
				rest, tool := p.Call(o.Name, in), p.Tool(o.Name, in)
				if rest.Code == "" {
					return
				}
				cases++
				if !tool.Failed || tool.Code != rest.Code || words && tool.Message != rest.Message ||
					!strings.HasPrefix(tool.Text, string(rest.Code)+": ") || !strings.Contains(tool.Text, " Next: ") {
					t.Errorf("%s with %s: got status %d, body %s over REST, %s as a tool", o.Name, what, rest.Status,
						rest.Raw, tool.Text)
				}
			}
			compare("a stranger", eve, in, true)
			if o.Scope != board.ScopeRead {
				p := readOnly
				if o.Scope == board.ScopeAdmin {
					p = noAdmin
				}
				compare("a token without the scope", p, in, true)
			}
			compare("an unknown field", w.owner, with(in, "unknown", "x"), false)
			for _, f := range o.Input.Fields {
				switch {
				case f.In == op.InPath:
					compare("an unknown "+f.Name, w.owner, with(in, f.Name, "crd_00000000000000000000000000"), true)
				case f.In == op.InBody && f.Schema.Type == "string":
					compare("a number as "+f.Name, w.owner, with(in, f.Name, 7), true)
					compare("null as "+f.Name, w.owner, with(in, f.Name, nil), true)
					if f.Schema.MaxLength != nil {
						compare("an over-long "+f.Name, w.owner, with(in, f.Name, strings.Repeat("x", *f.Schema.MaxLength+1)), true)
					}
				case f.In == op.InQuery && f.Schema.Type == "integer":
					compare("a word as "+f.Name, w.owner, with(in, f.Name, "x"), true)
					compare("a number over the maximum as "+f.Name, w.owner, with(in, f.Name, 100_000), true)
				}
				if f.Required && f.In != op.InPath {
					without := fields{}
					for name, v := range in {
						if name != f.Name {
							without[name] = v
						}
					}
					compare("no "+f.Name, w.owner, without, true)
				}
			}
		}
		if cases < 300 {
			t.Errorf("only %d errors were compared, want at least 300", cases)
		}
	})
}

// A change that is repeated with its key has one effect. The key belongs to the person, so other
// operations cannot use it.
func TestToolsAreIdempotentWithKeys(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		for _, o := range s.Registry.All() {
			if !o.IsTool() || o.ReadOnly {
				continue
			}
			in := with(w.sample(t, o), "idempotencyKey", "tool-"+o.Name)
			first := w.owner.Tool(o.Name, in)
			if first.Failed {
				t.Fatalf("%s: %s", o.Name, first.Text)
			}
			effects := w.effects()
			if again := w.owner.Tool(o.Name, in); again.Text != first.Text {
				t.Errorf("the replay of %s is %s, want %s", o.Name, again.Text, first.Text)
			}
			if now := w.effects(); now != effects {
				t.Errorf("the replay of %s had an effect: the counts are %v, want %v", o.Name, now, effects)
			}
			refused := w.owner.Tool("create_label",
				fields{"boardId": w.board, "name": "x", "color": "red", "idempotencyKey": "tool-" + o.Name})
			if o.Name != "create_label" &&
				(refused.Code != board.CodeInvalidRequest || !strings.Contains(refused.Text, "Idempotency-Key")) {
				t.Errorf("create_label with the key of %s: got %s", o.Name, refused.Text)
			}
		}
	})
}
