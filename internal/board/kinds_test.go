package board_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"cardwall/internal/board"
)

// catalogFile is the path of the catalog, for the failure messages of these tests.
const catalogFile = "internal/board/kinds.go"

// declaredKinds returns the constants of type Kind in kinds.go, by name.
func declaredKinds(t *testing.T) map[string]board.Kind {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "kinds.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]board.Kind{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		literal, isLiteral := spec.Values[0].(*ast.BasicLit)
		if typ, named := spec.Type.(*ast.Ident); named && typ.Name == "Kind" && isLiteral {
			value, err := strconv.Unquote(literal.Value)
			if err != nil {
				t.Fatal(err)
			}
			out[spec.Names[0].Name] = board.Kind(value)
		}
		return true
	})
	return out
}

func TestKindsAreComplete(t *testing.T) {
	t.Parallel()
	seen := map[board.Kind]bool{}
	for _, i := range board.Kinds() {
		for _, missing := range missingOf(i) {
			t.Errorf("The kind %s has %s: add it in %s.", i.Kind, missing, catalogFile)
		}
		if seen[i.Kind] {
			t.Errorf("The kind %s has two entries in the catalog in %s: remove one.", i.Kind, catalogFile)
		}
		seen[i.Kind] = true
	}
	declared := declaredKinds(t)
	if len(declared) == 0 {
		t.Fatalf("%s declares no kind, so nothing was checked.", catalogFile)
	}
	for name, kind := range declared {
		if !seen[kind] {
			t.Errorf("The kind %s (%s) has no entry in the catalog in %s: add one.", kind, name, catalogFile)
		}
	}
}

// Some code must emit each kind. If only the catalog uses a constant, or no operation calls a constructor,
// the event never happens.
func TestKindsAreEmitted(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	var emitting []byte
	constructors := map[string]string{} // the file of each function that returns an Event
	for _, path := range files {
		name := filepath.Base(path)
		// These two files use kinds without emitting them.
		if strings.HasSuffix(name, "_test.go") || name == "kinds.go" || name == "notification_trigger.go" {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		emitting = append(emitting, text...)
		if filepath.Dir(path) == "../board" {
			for _, m := range returnsEvent.FindAllSubmatch(text, -1) {
				constructors[string(m[1])] = strings.TrimPrefix(path, "../")
			}
		}
	}
	if len(constructors) == 0 {
		t.Fatal("No function returns an Event, so nothing was checked.")
	}
	for name, kind := range declaredKinds(t) {
		if !regexp.MustCompile(`\b` + name + `\b`).Match(emitting) {
			t.Errorf("No code emits the kind %s: use %s in a constructor in internal/board/event.go.", kind, name)
		}
	}
	for name, file := range constructors {
		if !bytes.Contains(emitting, []byte("board."+name+"(")) {
			t.Errorf("Nothing calls %s in internal/%s: emit it in an operation, or remove it.", name, file)
		}
	}
}

var returnsEvent = regexp.MustCompile(`(?m)^func ([A-Z]\w*)\(.*\) Event \{$`)

// missingOf returns a description of each part that an entry of the catalog lacks.
func missingOf(i board.KindInfo) (missing []string) {
	if !strings.HasSuffix(i.When, ".") {
		missing = append(missing, "no When sentence that ends with a period")
	}
	if i.Webhook && i.Label == "" {
		missing = append(missing, "no Label for the list of webhook events")
	}
	if i.Webhook && i.Short == "" {
		missing = append(missing, "no Short label for the delivery log")
	}
	switch {
	case i.Webhook && i.Sample == nil:
		missing = append(missing, "no Sample of its webhook payload")
	case i.Webhook && (i.Sample().Kind != i.Kind || i.Sample().Data == nil):
		missing = append(missing, "no Sample that is an event of this kind with Data")
	case !i.Webhook && i.Sample != nil:
		missing = append(missing, "a Sample but not Webhook: true")
	}
	return missing
}

func TestMissingOf(t *testing.T) {
	t.Parallel()
	info := board.KindInfo{Kind: "card.pinned", Webhook: true}
	if got := missingOf(info); len(got) != 4 {
		t.Errorf("missingOf(%+v) = %q, want the sentence, both labels and the sample", info, got)
	}
}

// Each trigger that the API accepts is fired by a kind, and kinds fire no other triggers.
func TestTriggersHaveKinds(t *testing.T) {
	t.Parallel()
	field, _ := reflect.TypeFor[board.RuleWhen]().FieldByName("Event")
	triggers := strings.Split(field.Tag.Get("enum"), ",")
	for _, name := range triggers {
		if len(board.Trigger(name).Kinds()) == 0 {
			t.Errorf("No kind in %s fires the trigger %s.", catalogFile, name)
		}
	}
	for _, i := range board.Kinds() {
		for _, trigger := range i.Triggers {
			if !slices.Contains(triggers, string(trigger)) {
				t.Errorf("The kind %s fires %s, which RuleWhen in internal/board/rule.go does not list.", i.Kind, trigger)
			}
		}
	}
}

// NotificationTriggerOf agrees with the catalog about the kinds that notify
// people.
func TestNotifyingKindsAreNotified(t *testing.T) {
	t.Parallel()
	ids := board.FromTo{From: []string{}, To: []string{"usr_1"}}
	text := board.FromTo{From: "from", To: "to"}
	for _, i := range board.Kinds() {
		if i.Kind == board.KindCardDue { // reminders create its notifications
			continue
		}
		trigger, notifies := board.NotificationTriggerOf(board.Event{Kind: i.Kind, Text: "@Ada", Changes: board.Changes{
			"assignees": ids, "commentId": text, "description": text, "listId": text, "userId": text,
		}})
		if notifies != i.Notifies || trigger.Watched != (i.Verb != "") {
			t.Errorf("The kind %s notifies: %t, people who watch: %t. In %s it has Notifies: %t, Verb: %q.",
				i.Kind, notifies, trigger.Watched, catalogFile, i.Notifies, i.Verb)
		}
	}
}

func TestGoldenKinds(t *testing.T) {
	t.Parallel()
	goldenKinds(t, "../../web/src/api/kinds.ts", func(string) (string, error) { return typescriptKinds(), nil })
	goldenKinds(t, "../../docs/webhooks.md", func(text string) (string, error) {
		text, err := replaceMarked(text, "webhook kinds", webhookTable())
		if err != nil {
			return "", err
		}
		return replaceMarked(text, "activity kinds", activityTable())
	})
}

// goldenKinds compares a file with the one generated from the catalog. It rewrites the
// file instead if UPDATE_GOLDEN is set.
func goldenKinds(t *testing.T, path string, rewrite func(text string) (string, error)) {
	t.Helper()
	update := os.Getenv("UPDATE_GOLDEN") != ""
	text, err := os.ReadFile(path)
	if err != nil && !(update && os.IsNotExist(err)) {
		t.Fatal(err)
	}
	want, err := rewrite(string(text))
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	if want == string(text) {
		return
	}
	if !update {
		t.Errorf("%s is out of date with the kinds in %s: run make golden.", strings.TrimPrefix(path, "../../"), catalogFile)
		return
	}
	if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// replaceMarked replaces the text between <!-- name --> and <!-- /name -->.
func replaceMarked(text, name, table string) (string, error) {
	begin, end := "<!-- "+name+" -->\n", "<!-- /"+name+" -->\n"
	before, rest, found := strings.Cut(text, begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		return "", fmt.Errorf("the markers %q and %q are missing", begin, end)
	}
	return before + begin + table + end + after, nil
}

func webhookTable() string {
	var b strings.Builder
	b.WriteString("| kind | when | `data` |\n|---|---|---|\n")
	for _, i := range board.Kinds() {
		if i.Webhook {
			when := strings.TrimSpace(i.When + " " + i.Note)
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", i.Kind, when, strings.Join(fieldNames(reflect.TypeOf(board.DataOf(i.Kind))), ", "))
		}
	}
	return b.String()
}

// fieldNames returns the JSON names of the fields that are always present. It returns nil for the
// nil type of a kind without a sample, which TestKindsAreComplete reports.
func fieldNames(t reflect.Type) (names []string) {
	if t == nil {
		return nil
	}
	for _, f := range reflect.VisibleFields(t) {
		if name, options, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && options == "" {
			names = append(names, "`"+name+"`")
		}
	}
	return names
}

func activityTable() string {
	var b strings.Builder
	b.WriteString("| kind | when |\n|---|---|\n")
	for _, i := range board.Kinds() {
		if !i.Webhook && !i.Unrecorded {
			fmt.Fprintf(&b, "| `%s` | %s |\n", i.Kind, i.When)
		}
	}
	return b.String()
}

// typescriptKinds returns TypeScript types of the kinds, formatted like Prettier's
// output. The maps over kinds in the pages must cover them.
func typescriptKinds() string {
	var b strings.Builder
	b.WriteString("// Event kinds of " + catalogFile + ", written by TestGoldenKinds. Do not edit; run make golden.\n")
	for _, union := range []struct {
		name, doc string
		kinds     []board.Kind
	}{
		{"ActivityKind", "The kinds that the activity of a board can contain.", board.ActivityKinds()},
		{"WebhookKind", "The kinds that a webhook can subscribe to.", board.WebhookKinds()},
		{"RuleKind", "The kinds that can trigger a rule.", board.RuleKinds()},
		{"NotifyingKind", "The kinds that people can be notified of.", board.NotifyingKinds()},
	} {
		fmt.Fprintf(&b, "\n/** %s A newer server may send others. */\nexport type %s =\n", union.doc, union.name)
		for _, kind := range union.kinds {
			fmt.Fprintf(&b, "  | '%s'\n", kind)
		}
	}
	b.WriteString("\n/** The labels of webhook events, in the order of the reference. */\n" +
		"export const webhookLabels: Readonly<Record<WebhookKind, { label: string; short: string }>> = {\n")
	for _, i := range board.Kinds() {
		if i.Webhook {
			fmt.Fprintf(&b, "  '%s': { label: %s, short: %s },\n", i.Kind, quoted(i.Label), quoted(i.Short))
		}
	}
	b.WriteString("}\n")
	return b.String()
}

// quoted returns the text as a TypeScript string literal.
func quoted(text string) string {
	escaped, _ := json.Marshal(text) // a string can always be encoded
	inner := strings.ReplaceAll(string(escaped[1:len(escaped)-1]), `\"`, `"`)
	return "'" + strings.ReplaceAll(inner, "'", `\'`) + "'"
}
