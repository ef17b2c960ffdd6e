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

// A call over REST and the same call over MCP have the same effects. The test calls every operation
// over REST in one world and as a tool in an identical world. Every record, event, delivery and
// audit entry must be equal, except for IDs, times and random values.
func TestToolsMatchREST(t *testing.T) {
	t.Parallel()
	apptest.Databases(t, func(t *testing.T, database string) {
		another := filepath.Join(t.TempDir(), "another.db")
		if sqldb.IsPostgres(database) {
			another = apptest.PostgresURL(t)
		}
		s, other := apptest.New(t, database, apptest.Options{}), apptest.New(t, another, apptest.Options{})
		s.Clock.Stop() // both worlds must have the same time
		other.Clock.Stop()
		other.Clock.Advance(s.Clock.Now().Sub(other.Clock.Now()))
		a, b := newEffectLog(newWorld(s)), newEffectLog(newWorld(other))
		seen := 0
		for _, o := range s.Registry.All() {
			if !o.IsTool() {
				continue
			}
			seen++
			restInput, toolInput := a.sample(t, o), b.sample(t, o)
			if a.plain(restInput) != b.plain(toolInput) {
				t.Fatalf("%s: the samples of the two worlds differ: %s and %s", o.Name, a.plain(restInput),
					b.plain(toolInput))
			}
			a.skip()
			b.skip()
			rest := a.owner.Must(o.Name, withToolDefaults(o, restInput))
			tool := b.owner.Tool(o.Name, asRecords(o, toolInput))
			if tool.Failed || tool.Status != http.StatusOK {
				t.Errorf("%s as a tool: got status %d, body %s; want 200", o.Name, tool.Status, tool.Raw)
				continue
			}
			restBody, toolBody := string(rest.Raw), tool.Text
			if o.Streams() || o.HasContent() {
				restBody, toolBody = countsOf(t, rest), countsOf(t, tool.Response)
				if want := apptest.BaseURL + strings.Split(a.owner.Request(o, restInput).URL.Path,
					"?")[0]; a.plain(want) != b.plain(tool.Get("link")) {
					t.Errorf("%s: got link %v, want %s", o.Name, tool.Get("link"), want)
				}
			}
			if o.Name == "get_attachment" { // as a tool, it includes the text of the file
				before, after, ok := strings.Cut(toolBody, `,"text":"The venue is ours."`)
				if toolBody = before + after; !ok {
					t.Errorf("%s: got %s, want the text of the file", o.Name, tool.Text)
				}
			}
			inTable := o.Name == "create_cards" || o.Name == "update_cards"
			if x, y := a.normalized(restBody), b.normalized(toolBody); x != y && !inTable {
				t.Errorf("%s: got\n%s\nover REST and\n%s\nas a tool, want no difference", o.Name, x, y)
			}
			if inTable { // as a tool
				var want []any
				for _, card := range rest.Get("cards").([]any) {
					want = append(want, card.(map[string]any)["title"])
				}
				if got := tool.Column("title"); !slices.Equal(got, want) || len(want) == 0 {
					t.Errorf("%s: got the titles %v, want %v", o.Name, got, want)
				}
			}
			for i, x := range a.newRows() {
				if y := b.newRows()[i]; !reflect.DeepEqual(x, y) {
					t.Errorf("%s: got rows %q over REST and %q as a tool, want no difference", o.Name, x, y)
				}
			}
		}
		if seen < 60 {
			t.Errorf("got %d compared tools, want at least 60", seen)
		}
	})
}

// effectLog is a world that can list the rows that its operations have written.
type effectLog struct {
	*world
	names map[string]string // stable names by ID
	kinds map[string]int    // number of IDs by prefix
	read  [3]int            // number of rows already compared, by table
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

// normalized returns a JSON response with sorted fields and with the replacements of plain.
func (w *effectLog) normalized(text string) string {
	w.T.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		w.T.Fatalf("parse response: %v: %s", err, text)
	}
	if response, ok := v.(map[string]any); ok {
		delete(response, "notice") // a warning for assistants
	}
	return w.plain(v)
}

// plain returns a value as text. It replaces IDs with numbers, in order of appearance, and replaces
// times and random values with a constant.
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
		w.Column(`SELECT operation || ' ' || actor_type || ' ' || COALESCE(actor_id, '') || ' ' ||
			COALESCE(subject, '') || ' ' || COALESCE(workspace_id, '') || ' ' || COALESCE(board_id, '') ||
			CASE WHEN token_id IS NULL THEN '' ELSE ' by token' END ||
			CASE WHEN request_id IS NULL THEN '' ELSE ' on request ' END || details FROM audit ORDER BY id`),
		w.Column(`SELECT type || ' ' || board_id || ' ' || actor_type || ' ' || COALESCE(actor_id, '') || ' ' ||
			COALESCE(list_id, '') || ' ' || COALESCE(card_id, '') || ' ' || changes FROM activity ORDER BY id`),
		w.Column(`SELECT kind || ' ' || body FROM deliveries ORDER BY board_id, version, webhook_id`),
	}
}

// skip marks all current rows as compared.
func (w *effectLog) skip() {
	for i, all := range w.rows() {
		w.read[i] = len(all)
	}
}

// newRows returns the audit and activity rows since the last skip, and all rows of the outbox.
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

// withToolDefaults adds to an input the defaults that tools use.
func withToolDefaults(o *op.Operation, in fields) fields {
	if !o.Paged {
		return in
	}
	return with(asRecords(o, in), "limit", 25)
}

// asRecords adds the field that makes a tool return records instead of a table.
func asRecords(o *op.Operation, in fields) fields {
	if slices.ContainsFunc(o.Input.Fields, func(f op.Field) bool { return f.Name == "view" }) {
		return with(in, "view", "compact")
	}
	return in
}

// countsOf returns the counts in an exported document or in the tool response that links to it.
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
		t.Fatalf("got no counts in %s: %v", a.Raw, err)
	}
	return string(text)
}

// A tool call fails with the same code as the REST call and, except for unknown fields, with the same
// message. The text of the result begins with the code and ends with what the caller can do next.
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
			compare := func(what string, p *apptest.Person, in fields, sameMessage bool) {
				t.Helper()
				rest, tool := p.Call(o.Name, in), p.Tool(o.Name, in)
				if rest.Code == "" {
					return
				}
				cases++
				if !tool.Failed || tool.Code != rest.Code || sameMessage && tool.Message != rest.Message ||
					!strings.HasPrefix(tool.Text, string(rest.Code)+": ") || !strings.Contains(tool.Text, " Next: ") {
					t.Errorf("%s with %s: got status %d, body %s over REST and %s as a tool, want the same error", o.Name, what,
						rest.Status, rest.Raw, tool.Text)
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
					if f.Required {
						compare("null as "+f.Name, w.owner, with(in, f.Name, nil), true)
					}
					// For tools, a too long id is the name of no record, and a too long date is unclear words.
					if f.Schema.MaxLength != nil {
						long := with(in, f.Name, strings.Repeat("x", *f.Schema.MaxLength+1))
						compare("a too long "+f.Name, w.owner, long, !strings.HasSuffix(f.Name, "Id") && !strings.HasSuffix(f.Name, "Date"))
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
			t.Errorf("got %d compared errors, want at least 300", cases)
		}
	})
}

// A change that is repeated with its idempotency key has one effect. A person's key is valid for
// one operation only.
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
				t.Fatalf("%s: got %s, want success", o.Name, first.Text)
			}
			effects := w.effects()
			if again := w.owner.Tool(o.Name, in); again.Text != first.Text {
				t.Errorf("replay of %s: got %s, want %s", o.Name, again.Text, first.Text)
			}
			if now := w.effects(); now != effects {
				t.Errorf("replay of %s: got row counts %v, want %v", o.Name, now, effects)
			}
			refused := w.owner.Tool("create_label",
				fields{"boardId": w.board, "name": "x", "color": "red", "idempotencyKey": "tool-" + o.Name})
			if o.Name != "create_label" &&
				(refused.Code != board.CodeInvalidRequest || !strings.Contains(refused.Text, "Idempotency-Key")) {
				t.Errorf("create_label with the key of %s: got %s, want an error about the key", o.Name, refused.Text)
			}
		}
	})
}
