package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	mcpDocs        = "../../docs/mcp.md"
	mcpUnsupported = "testdata/mcp-unsupported.txt" // checks that no build passes
	mcpFixtures    = "testdata/mcp-fixtures.txt"    // checks that only the build with fixtures passes
)

// unsupportedChecks maps a part of the suite and "scenario check" to the expected status.
type unsupportedChecks map[string]map[string]string

// readUnsupported reads lists of checks that do not succeed. In a list, each reason is a line. The
// checks that it explains follow on indented lines with four fields: the part of the suite, the
// status, the scenario and the check.
func readUnsupported(t *testing.T, lists ...string) unsupportedChecks {
	t.Helper()
	listed := unsupportedChecks{}
	for _, list := range lists {
		reasons(t, list, func(_, part, status, scenario, check string) {
			if listed[part] == nil {
				listed[part] = map[string]string{}
			}
			listed[part][scenario+" "+check] = status
		})
	}
	return listed
}

// reasons calls each with every check in a list.
func reasons(t *testing.T, list string, each func(reason, part, status, scenario, check string)) {
	t.Helper()
	f, err := os.Open(list)
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
			t.Fatalf("%s: want a reason, then checks of four fields; got %q", list, line)
		default:
			each(reason, fields[0], fields[1], fields[2], fields[3])
		}
	}
}

// reasonTable returns a Markdown table of the scenarios in a list, with the reasons.
func reasonTable(t *testing.T, list string) string {
	t.Helper()
	type row struct {
		reason    string
		scenarios []string
	}
	var rows []row
	reasons(t, list, func(reason, _, _, scenario, _ string) {
		if len(rows) == 0 || rows[len(rows)-1].reason != reason {
			rows = append(rows, row{reason: reason})
		}
		last := &rows[len(rows)-1]
		if name := "`" + scenario + "`"; !slices.Contains(last.scenarios, name) {
			last.scenarios = append(last.scenarios, name)
		}
	})
	var b strings.Builder
	b.WriteString("| scenario | reason |\n|---|---|\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %s |\n", strings.Join(r.scenarios, ", "), r.reason)
	}
	return b.String()
}

// compareConformance compares the "Check conformance" section of docs/mcp.md with the results. If
// UPDATE_GOLDEN is set, it rewrites the section.
func compareConformance(t *testing.T, modules string, results []*suiteResult) {
	const heading = "## Check conformance\n"
	var b strings.Builder
	fmt.Fprintf(&b, heading+"\n`make test` runs the official conformance suite (`@modelcontextprotocol/conformance`\n"+
		"%s) against two builds: the program that people run, and a build with the tools,\n"+
		"resources and prompts that the suite calls (`go build -tags conformance`, `internal/conformance`).\n"+
		"The handler, the tokens and the limits are the same in both builds. The authorization part calls\n"+
		"no fixtures and runs only against the program:\n\n"+
		"| part of the suite | build | checks passed | checks not passed |\n|---|---|---|---|\n",
		packageVersion(t, modules, "@modelcontextprotocol/conformance"))
	for _, r := range results {
		fmt.Fprintf(&b, "| %s | %s | %d | %d |\n", r.part, r.build, r.passed, len(r.unsupported))
	}
	b.WriteString("\nThe checks that do not pass are listed in two files. The tests fail if any other check fails, or\n" +
		"if a listed check passes. `cmd/cardwall/testdata/mcp-unsupported.txt` lists the checks that neither\n" +
		"build passes, because Cardwall does not support what they check:\n\n" + reasonTable(t, mcpUnsupported) +
		"\n`cmd/cardwall/testdata/mcp-fixtures.txt` lists the checks that only the build with fixtures passes.\n" +
		"If such a check fails, some scenarios skip the checks that follow it:\n\n" +
		reasonTable(t, mcpFixtures))
	b.WriteString("\nThe same tests connect these clients, both with a token and with a person's consent, and make the\n" +
		"calls that an agent typically makes:\n\n| client | version |\n|---|---|\n")
	for _, name := range []string{"@modelcontextprotocol/inspector", "@modelcontextprotocol/sdk",
		"@modelcontextprotocol/client", "mcp-remote"} {
		fmt.Fprintf(&b, "| `%s` | %s |\n", name, packageVersion(t, modules, name))
	}
	fmt.Fprintf(&b, "| `github.com/modelcontextprotocol/go-sdk` | %s |\n", goSDKVersion(t))
	b.WriteString("\nThe browser tests connect `mcp-remote` as well, with a person's consent in a browser.\n")
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

// goSDKVersion returns the version of the Go SDK that the program and the tests use.
func goSDKVersion(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "github.com/modelcontextprotocol/go-sdk ")
	version, _, _ := strings.Cut(rest, "\n")
	return version
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
