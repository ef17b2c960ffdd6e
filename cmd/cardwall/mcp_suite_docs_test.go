package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	mcpDocs        = "../../docs/mcp.md"
	mcpUnsupported = "testdata/mcp-unsupported.txt"
)

// reason is a reason in the list of unsupported checks, with the scenarios that it explains.
type reason struct {
	text      string
	scenarios []string
}

// unsupportedChecks maps a revision and "scenario check" to the expected status.
type unsupportedChecks map[string]map[string]string

// readUnsupported reads the list of unsupported checks. Each reason is a line. The checks that it
// explains follow on indented lines with four fields: revision, status, scenario and check.
func readUnsupported(t *testing.T) unsupportedChecks {
	t.Helper()
	listed := unsupportedChecks{}
	reasons(t, func(_, revision, status, scenario, check string) {
		if listed[revision] == nil {
			listed[revision] = map[string]string{}
		}
		listed[revision][scenario+" "+check] = status
	})
	return listed
}

// reasons calls each with every check in the list.
func reasons(t *testing.T, each func(reason, revision, status, scenario, check string)) {
	t.Helper()
	f, err := os.Open(mcpUnsupported)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	reason := ""
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := lines.Text()
		fields := strings.Fields(line)
		switch {
		case line == "":
		case !strings.HasPrefix(line, "\t"):
			reason = line
		case len(fields) != 4 || reason == "":
			t.Fatalf("%s: want a reason, then checks of four fields; got %q", mcpUnsupported, line)
		default:
			each(reason, fields[0], fields[1], fields[2], fields[3])
		}
	}
}

// compareConformance compares the "Check conformance" section of docs/mcp.md with the results. If
// UPDATE_GOLDEN is set, it rewrites the section.
func compareConformance(t *testing.T, modules string, listed unsupportedChecks, results map[string]*suiteResult) {
	const heading = "## Check conformance\n"
	var b strings.Builder
	fmt.Fprintf(&b, heading+"\n`make test` runs the official conformance suite (`@modelcontextprotocol/conformance`\n"+
		"%s). The suite calls its own tools, resources and prompts, so it runs against a build\n"+
		"that contains them (`go build -tags conformance`, `internal/conformance`). Release builds don't\n"+
		"contain them. The handler, the tokens and the limits are the same in both builds:\n\n"+
		"| part of the suite | checks passed | not supported |\n|---|---|---|\n", packageVersion(t, modules, "@modelcontextprotocol/conformance"))
	for _, revision := range slices.Sorted(maps.Keys(results)) {
		fmt.Fprintf(&b, "| %s | %d | %d |\n", revision, results[revision].passed, len(listed[revision]))
	}
	b.WriteString("\nCardwall does not pass all checks of the following scenarios. The checks that it does not pass are\n" +
		"listed in `cmd/cardwall/testdata/mcp-unsupported.txt`. The tests fail if any other check fails, or\n" +
		"if a listed check passes.\n\n| scenario | reason |\n|---|---|\n")
	var all []reason
	reasons(t, func(text, _, _, scenario, _ string) {
		if len(all) == 0 || all[len(all)-1].text != text {
			all = append(all, reason{text: text})
		}
		last := &all[len(all)-1]
		if name := "`" + scenario + "`"; !slices.Contains(last.scenarios, name) {
			last.scenarios = append(last.scenarios, name)
		}
	})
	for _, r := range all {
		fmt.Fprintf(&b, "| %s | %s |\n", strings.Join(r.scenarios, ", "), r.text)
	}
	b.WriteString("\nThe same tests connect these clients, both with a token and with a person's consent, and make the\n" +
		"calls that an agent typically makes:\n\n| client | version |\n|---|---|\n")
	for _, name := range []string{"@modelcontextprotocol/inspector", "@modelcontextprotocol/sdk",
		"@modelcontextprotocol/client", "mcp-remote"} {
		fmt.Fprintf(&b, "| `%s` | %s |\n", name, packageVersion(t, modules, name))
	}
	page, err := os.ReadFile(mcpDocs)
	if err != nil {
		t.Fatal(err)
	}
	before, after, found := strings.Cut(string(page), heading)
	if !found {
		t.Fatalf("%s has no section %s", mcpDocs, heading)
	}
	_, next, more := strings.Cut(after, "\n## ")
	if more {
		next = "\n## " + next
	}
	want := before + b.String() + next
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(mcpDocs, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(page) {
		t.Errorf("%s differs from the suite's results; UPDATE_GOLDEN=1 updates it to:\n%s", mcpDocs, b.String())
	}
}

// packageVersion returns the installed version of an npm package.
func packageVersion(t *testing.T, modules, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(modules, name, "package.json"))
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct{ Version string }
	if err := json.Unmarshal(text, &manifest); err != nil {
		t.Fatal(err)
	}
	return manifest.Version
}
