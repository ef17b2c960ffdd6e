package internal_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// layer says what a package may import, except in tests. Paths are relative to the module. A
// package without a row fails.
type layer struct {
	path    string
	may     []string // packages of this module
	outside []string // other modules; nil allows any that is not banned below
	because string
}

var (
	nothing    = []string{}
	everything = []string{"*"}
)

// layers is the dependency rule: board <- query <- sqldb <- store <- op <- app, with
// interfaces that do not know each other. "…/*" means all packages below a folder.
var layers = []layer{
	{"internal/board", nothing, nothing, "every package uses its types, so it depends only on the standard library"},
	{"internal/query", []string{"internal/board"}, []string{"golang.org/x/text"}, "it parses text into a tree and knows no database"},
	{"internal/seal", nothing, nothing, "encryption code is short enough to review at once, and trusts only the standard library"},
	{"internal/password", nothing, []string{"golang.org/x/text"}, "it checks a password and knows nothing of accounts"},
	{"internal/backoff", nothing, nothing, "any repeated task may use it"},
	{"internal/trace", nothing, []string{"go.opentelemetry.io/otel", "github.com/go-logr/logr"}, "tracing knows nothing of the " +
		"work that it records"},
	{"internal/sqldb", []string{"internal/backoff", "internal/trace"}, nil, "it runs transactions and knows no table of the product"},
	{"internal/store/search", []string{"internal/board", "internal/query", "internal/sqldb"}, nothing, "it translates queries to " +
		"SQL and runs none"},
	{"internal/store", []string{"internal/board", "internal/query", "internal/seal", "internal/sqldb", "internal/store/search",
		"internal/trace"}, nil, "it keeps records and authorizes; it does not know the operations that use it"},
	{"internal/dbtool", []string{"internal/board", "internal/seal", "internal/sqldb", "internal/store", "internal/store/search"},
		nil, "it works on whole databases, whatever is in them"},
	{"internal/spool", nothing, nothing, "it keeps bytes, whatever they are"},
	{"internal/filename", nothing, nothing, "every package names downloaded files by the same rule"},
	{"internal/op", []string{"internal/board", "internal/filename", "internal/spool", "internal/store", "internal/trace"}, nil,
		"the engine runs any operation and knows none"},
	{"internal/app", []string{"internal/board", "internal/query", "internal/store", "internal/op"}, nil,
		"an operation does not know which interface called it"},
	{"internal/account", []string{"internal/board", "internal/store", "internal/op", "internal/app", "internal/session",
		"internal/password"}, nil, "it signs people in and out, and knows no interface but the session cookie"},
	{"internal/rest", []string{"internal/board", "internal/filename", "internal/spool", "internal/store", "internal/op",
		"internal/session", "internal/rest/docs", "internal/trace"}, nil,
		"an interface takes operations from the registry and names none of them"},
	{"internal/asset", nothing, nothing, "it serves bytes, wherever they come from"},
	{"internal/rest/docs", []string{"internal/asset"}, nil, "it renders an OpenAPI document and knows nothing else of the program"},
	{"internal/mcp", []string{"internal/board", "internal/store", "internal/op", "internal/session", "internal/trace"}, nil,
		"an interface takes operations from the registry and names none of them"},
	{"internal/conformance", nothing, nil, "its fixtures exercise the handler and nothing of the program"},
	{"internal/automate", []string{"internal/backoff", "internal/board", "internal/query", "internal/store", "internal/op",
		"internal/trace"}, nil, "it changes data only through the engine"},
	{"internal/transfer", []string{"internal/board", "internal/query", "internal/spool", "internal/store", "internal/op"}, nil,
		"it changes data only through the engine"},
	{"internal/job", []string{"internal/backoff", "internal/board", "internal/store"}, nil,
		"it writes what others have drafted and knows no operation"},
	{"internal/hook", []string{"internal/backoff", "internal/board", "internal/store", "internal/trace"}, nil,
		"it reads the outbox and calls no operation"},
	{"internal/notify", []string{"internal/backoff", "internal/board", "internal/store", "internal/session"}, nil,
		"it sends what is due and calls no operation"},
	{"internal/ical", []string{"internal/board", "internal/filename", "internal/store", "internal/session"}, nil,
		"it shows what the store lets the owner of a feed see"},
	{"internal/live", []string{"internal/backoff", "internal/board", "internal/store"}, nil, "it reads the outbox and calls no operation"},
	{"internal/session", []string{"internal/board", "internal/store"}, nil, "the caller is known before the operation"},
	{"internal/connect", []string{"internal/board", "internal/store", "internal/op", "internal/app", "internal/session"}, nil,
		"it authorizes programs as account authorizes people, and knows no other interface"},
	{"internal/guest", []string{"internal/board", "internal/store", "internal/op", "internal/app", "internal/session"}, nil,
		"it identifies guests of public pages, and knows no interface"},
	{"internal/catalog", []string{"internal/account", "internal/app", "internal/automate", "internal/connect", "internal/guest",
		"internal/op", "internal/transfer"}, nothing, "it lists operations and does nothing else"},
	{"internal/mail", []string{"internal/backoff", "internal/board", "internal/trace"}, nil, "an email contains only what its sender passes"},
	{"internal/apptest", everything, nil, "it runs the whole program for tests"},
	{"cmd/*", everything, nil, "a command wires the packages together"},
	{"internal/pages", []string{"internal/asset"}, []string{"github.com/go-json-experiment/json"}, "it serves files and knows " +
		"nothing of their content"},
	{"web", nothing, nothing, "it only embeds the built pages"},
	{"perf/bench", []string{"perf/cli", "perf/client", "perf/document", "perf/histogram", "perf/postgres", "perf/process",
		"perf/receiver", "perf/server", "perf/table"}, nil, "it measures the binary from outside, as a client would"},
	{"perf/torture", []string{"perf/cli", "perf/client", "perf/histogram", "perf/postgres", "perf/process", "perf/server", "perf/table"},
		nothing, "it breaks the binary from outside, as an outage would"},
	{"perf/document", nothing, []string{"github.com/go-json-experiment/json"}, "it knows only the format of the documents"},
	{"perf/receiver", []string{"perf/client"}, nothing, "it knows only how deliveries are signed"},
	{"perf/server", []string{"perf/client", "perf/process"}, nothing, "it runs the binary, and must build even if the program does not"},
	{"perf/postgres", []string{"perf/process"}, []string{"github.com/jackc/pgx/v5"}, "it runs PostgreSQL and knows nothing of the program"},
	{"perf/*", nothing, nothing, "what the measuring programs share knows nothing of the program that they measure"},
	{"tools/*", nothing, nothing, "a tool must build even if the program does not"},
}

// layersDoc is the document that contains the table of layers, between two
// markers.
const layersDoc = "../docs/ARCHITECTURE.md"

func TestGoldenLayers(t *testing.T) {
	var b strings.Builder
	b.WriteString("| package | may import | because |\n|---|---|---|\n")
	for _, l := range layers {
		may := "anything"
		if !slices.Contains(l.may, "*") {
			names := make([]string, len(l.may))
			for i, name := range l.may {
				names[i] = strings.TrimPrefix(name, "internal/")
			}
			may = strings.Join(names, ", ")
			if may == "" {
				may = "nothing of this module"
			}
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", l.path, may, l.because)
	}
	const begin, end = "<!-- layers -->\n", "<!-- /layers -->\n"
	text, err := os.ReadFile(layersDoc)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s has no %q and %q", layersDoc, begin, end)
	}
	want := before + begin + b.String() + end + after
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(layersDoc, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want != string(text) {
		t.Errorf("%s does not show the table of layers as it is: run make golden", layersDoc)
	}
}

func layerBreaches(p goPackage) []string {
	path := relative(p.ImportPath)
	i := slices.IndexFunc(layers, func(l layer) bool { return covers(l.path, path) })
	if i < 0 {
		return []string{fmt.Sprintf("%s has no row in the table of layers: add one that says what it may import and why.", path)}
	}
	l := layers[i]
	var found []string
	for _, imported := range p.Imports {
		own := imported == module || strings.HasPrefix(imported, module+"/")
		switch {
		case own && !slices.Contains(l.may, "*") && !slices.Contains(l.may, relative(imported)):
			found = append(found, fmt.Sprintf("%s imports %s but may import %s of this module: %s.",
				path, relative(imported), listed(l.may), l.because))
		case !own && !standard(imported) && l.outside != nil &&
			!slices.ContainsFunc(l.outside, func(m string) bool { return within(m, imported) }):
			found = append(found, fmt.Sprintf("%s imports %s but may import %s from outside the standard library: %s.",
				path, imported, listed(l.outside), l.because))
		}
	}
	return found
}
