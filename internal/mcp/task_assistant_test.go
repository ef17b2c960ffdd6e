package mcp_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"cardwall/internal/apptest"
)

// assistant does a task with tools and resources.
type assistant struct {
	*office
	t       *testing.T
	before  []officeCard
	context strings.Builder // arguments and results
	known   string          // what the assistant has read or written, in lower case
	calls   int
}

// hear adds a text that costs nothing in the figures of the task.
func (a *assistant) hear(text string) { a.known += "\n" + strings.ToLower(text) }

// read adds a text that costs tokens.
func (a *assistant) read(text string) {
	a.context.WriteString(text + "\n")
	a.hear(text)
}

// call calls a tool. All names, numbers and ids in the arguments must be known.
func (a *assistant) call(name string, in fields) apptest.ToolResponse {
	a.t.Helper()
	a.calls++
	a.checkReferences(name, in)
	if !a.claude.Registry.Named(name).ReadOnly {
		in["idempotencyKey"] = "step-" + strconv.Itoa(a.calls)
	}
	arguments, err := json.Marshal(in, json.Deterministic(true))
	if err != nil {
		a.t.Fatal(err)
	}
	a.Clock.Advance(10 * time.Second)
	response := a.claude.Tool(name, in)
	if response.Failed {
		a.t.Fatalf("%s %s: %s", name, arguments, response.Text)
	}
	a.read(name + " " + string(arguments))
	a.read(response.Text)
	return response
}

// onLaunch calls a tool for the board Launch.
func (a *assistant) onLaunch(name string, in fields) apptest.ToolResponse {
	a.t.Helper()
	in["boardId"] = "Launch"
	return a.call(name, in)
}

// resource reads a resource. All ids in its address must be known.
func (a *assistant) resource(uri string) string {
	a.t.Helper()
	a.calls++
	for _, id := range regexp.MustCompile(`[a-z]{3}_\w+`).FindAllString(uri, -1) {
		a.checkKnown("resources/read", "uri", id)
	}
	contents, _ := a.claude.RPC(apptest.Stateless, "resources/read", fields{"uri": uri}).Result["contents"].([]any)
	if len(contents) != 1 {
		a.t.Fatalf("%s: got the contents %v, want one", uri, contents)
	}
	text, _ := contents[0].(map[string]any)["text"].(string)
	a.read(uri)
	a.read(text)
	return text
}

// referring are the arguments that refer to something.
var referring = []string{
	"workspaceId", "boardId", "listId", "list", "cardId", "cardIds", "labelId", "label", "labels", "addLabels",
	"removeLabels", "userId", "assignee", "assignees", "addAssignees", "removeAssignees", "checklistId", "itemId",
	"templateId", "callIds", "cursor",
}

// checkReferences fails the test if the assistant cannot know what the arguments refer to.
func (a *assistant) checkReferences(tool string, in fields) {
	a.t.Helper()
	for _, field := range referring {
		if tool != "create_board" || field != "labels" { // which are new
			a.checkKnown(tool, field, in[field])
		}
	}
	for _, field := range []string{"cards", "changes"} {
		items, _ := in[field].([]fields)
		for _, item := range items {
			a.checkReferences(tool, item)
		}
	}
}

// numbered matches the name of a card by its number.
var numbered = regexp.MustCompile(`^(.*)#(\d+)$`)

// checkKnown fails the test if the assistant cannot know a value of an argument. It may combine the
// name of a board with the number of a card or with the name of a list or label.
func (a *assistant) checkKnown(tool, field string, value any) {
	a.t.Helper()
	switch value := value.(type) {
	case nil:
	case []string:
		for _, v := range value {
			a.checkKnown(tool, field, v)
		}
	case string:
		parts := strings.Split(value, " / ")
		if m := numbered.FindStringSubmatch(value); m != nil {
			parts = []string{strings.TrimSpace(m[1])}
			if !regexp.MustCompile(`\b` + m[2] + `\b`).MatchString(a.known) {
				a.t.Errorf("%s: the assistant cannot know the number in %s %q", tool, field, value)
			}
		}
		for _, part := range parts {
			if !strings.Contains(a.known, strings.ToLower(part)) {
				a.t.Errorf("%s: the assistant cannot know %s %q", tool, field, value)
			}
		}
	default:
		a.t.Errorf("%s: got %s %v, want text", tool, field, value)
	}
}

// names returns the names of the cards in a table of one board.
func names(a apptest.ToolResponse) (out []string) {
	for _, n := range a.Column("number") {
		out = append(out, fmt.Sprintf("#%v", n))
	}
	return out
}

// must returns the cards that a condition selects, and fails the test unless there are some.
func (a *assistant) must(selects func(c officeCard) bool) (out []officeCard) {
	a.t.Helper()
	for _, c := range a.before {
		if selects(c) {
			out = append(out, c)
		}
	}
	if len(out) == 0 {
		a.t.Fatal("the world has no such card")
	}
	return out
}

// changedOnly fails the test unless exactly the given cards changed, all in the given way.
func (a *assistant) changedOnly(how string, cards []officeCard) {
	a.t.Helper()
	got := changes(a.before, a.cards())
	for _, c := range cards {
		if got[c.ID] != how {
			a.t.Errorf("%s: got the changes %q, want %q", c.name(), got[c.ID], how)
		}
		delete(got, c.ID)
	}
	requireCounts(a.t, got, map[string]int{})
}
