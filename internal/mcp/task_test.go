package mcp_test

import (
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"cardwall/internal/apptest"
)

// The limits for a task.
const (
	maxTaskCalls  = 8
	maxTaskTokens = 30_000
)

// task is what a person asks an assistant to do.
type task struct {
	name string // the row in docs/mcp.md
	said string // what the person said
	do   func(a *assistant)
}

// An assistant does each task in few calls that cost few tokens. docs/mcp.md has the figures.
func TestAssistantTasks(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	figures := map[string][2]int{}
	all := slices.Concat(changeTasks, reportTasks, planTasks)
	world := newOffice(t, t.TempDir()+"/cardwall.db")
	t.Run("each", func(t *testing.T) {
		for _, task := range all {
			t.Run(task.name, func(t *testing.T) {
				a := &assistant{office: world.copy(t), t: t}
				t.Parallel()
				a.before = a.cards()
				a.hear("me " + task.said) // the instructions name me
				task.do(a)
				got := [2]int{a.calls, apptest.Tokens(t, a.context.String())}
				t.Logf("%d calls, %d tokens", got[0], got[1])
				if got[0] > maxTaskCalls || got[1] > maxTaskTokens {
					t.Errorf("got %d calls and %d tokens, want at most %d and %d",
						got[0], got[1], maxTaskCalls, maxTaskTokens)
				}
				mu.Lock()
				defer mu.Unlock()
				figures[task.name] = got
			})
		}
	})
	if len(figures) == len(all) { // not if a flag selects some
		checkDocumentedTasks(t, figures)
	}
}

// checkDocumentedTasks compares the table in docs/mcp.md with the calls and tokens of tasks. The
// tokens may differ by 10%.
func checkDocumentedTasks(t *testing.T, figures map[string][2]int) {
	t.Helper()
	text, err := os.ReadFile("../../docs/mcp.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## Tasks\n")
	section, _, _ = strings.Cut(section, "\n## ")
	rows := regexp.MustCompile(`(?m)^\| (.+) \| (\d+) \| ([\d,]+) \|$`).FindAllStringSubmatch(section, -1)
	if len(rows) != len(figures) {
		t.Errorf("docs/mcp.md: got %d tasks, want %d", len(rows), len(figures))
	}
	documented := map[string][2]int{}
	for _, row := range rows {
		calls, _ := strconv.Atoi(row[2])
		sum, _ := strconv.Atoi(strings.ReplaceAll(row[3], ",", ""))
		documented[row[1]] = [2]int{calls, sum}
	}
	for name, actual := range figures {
		d := documented[name]
		if d[0] != actual[0] || actual[1] < d[1]*9/10 || actual[1] > d[1]*11/10 {
			t.Errorf("docs/mcp.md, task %q: got %d calls and %d tokens, want %d and about %d",
				name, d[0], d[1], actual[0], actual[1])
		}
	}
}
