package internal_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// layer lists the packages that a package may import, except in tests. Paths are relative to the
// module. A package without a row is a violation.
type layer struct {
	path    string
	may     []string // packages of this module
	outside []string // other modules; nil allows all that bans does not list
	because string
}

var (
	nothing    = []string{}
	everything = []string{"*"}
)

// layers is the dependency rule: board <- query <- store <- op <- app, with sqldb below
// store, and with interfaces that do not depend on each other. "…/*" means all packages
// below a folder.
var layers = []layer{
	{"internal/board", nothing, nothing, "nearly every package uses its types, so it depends only on the standard library"},
	{"internal/query", []string{"internal/board"}, []string{"golang.org/x/text"},
		"it parses text into a tree and does not depend on a database"},
	{"internal/mention", []string{"internal/board"}, []string{"golang.org/x/text"}, "it finds names in text and does not depend on a " +
		"database"},
	{"internal/seal", nothing, nothing,
		"encryption code must be short enough to review in one sitting, and may trust only the standard library"},
	{"internal/password", nothing, []string{"golang.org/x/text"}, "it checks a password and does not depend on accounts"},
	{"internal/backoff", nothing, nothing, "any repeated task may use it"},
	{"internal/trace", nothing, []string{"go.opentelemetry.io/otel", "github.com/go-logr/logr"}, "tracing does not depend on the " +
		"work that it records"},
	{"internal/sqldb", []string{"internal/backoff", "internal/trace"}, nil,
		"it runs transactions and does not depend on the tables of the product"},
	{"internal/store/search", []string{"internal/board", "internal/query", "internal/sqldb"}, nothing, "it translates queries to " +
		"SQL and does not run them"},
	{"internal/store", []string{"internal/board", "internal/mention", "internal/query", "internal/seal", "internal/sqldb",
		"internal/store/search", "internal/trace"}, nil, "it stores records and authorizes access to them, and does not depend on operations"},
	{"internal/dbtool", []string{"internal/board", "internal/seal", "internal/sqldb", "internal/store", "internal/store/search"},
		nil, "it works on whole databases, not on single records"},
	{"internal/spool", nothing, nothing, "it stores bytes and does not interpret them"},
	{"internal/file", nothing, []string{"github.com/minio/minio-go/v7"}, "it stores bytes and does not interpret them"},
	{"internal/attach", []string{"internal/board", "internal/file", "internal/store"},
		[]string{"github.com/gabriel-vasile/mimetype", "golang.org/x/image"},
		"it stores the content of attachments and depends on no interface"},
	{"internal/archive", []string{"internal/attach", "internal/board", "internal/file"}, nothing,
		"it packs a document and its files, and does not interpret the document"},
	{"internal/filename", nothing, nothing, "every package names downloaded files by the same rule"},
	{"internal/op", []string{"internal/board", "internal/filename", "internal/spool", "internal/store", "internal/trace"}, nil,
		"the engine runs operations and does not depend on any of them"},
	{"internal/app", []string{"internal/backoff", "internal/board", "internal/query", "internal/store", "internal/op"}, nil,
		"an operation does not depend on the interface that called it"},
	{"internal/undo", []string{"internal/board", "internal/store", "internal/op", "internal/app"}, nil,
		"it takes changes back through the operations, and depends on no interface"},
	{"internal/digest", []string{"internal/board", "internal/store", "internal/op"}, nil,
		"it groups the activity that the store returns, and depends on no interface"},
	{"internal/account", []string{"internal/board", "internal/store", "internal/op", "internal/app", "internal/session",
		"internal/password"}, nil, "it signs people in and out, and depends on no interface except the session cookie"},
	{"internal/rest", []string{"internal/board", "internal/filename", "internal/spool", "internal/store", "internal/op",
		"internal/session", "internal/rest/docs", "internal/asset", "internal/trace", "cardwall"}, nil,
		"an interface takes operations from the registry and does not depend on any of them"},
	{"cardwall", nothing, nothing, "it only holds files that must be beside it"},
	{"internal/asset", nothing, nothing, "it serves bytes from any source"},
	{"internal/rest/docs", []string{"internal/asset"}, nil, "it renders an OpenAPI document and depends on nothing else"},
	{"internal/mcp", []string{"internal/board", "internal/query", "internal/store", "internal/op", "internal/session", "internal/trace"}, nil,
		"an interface takes operations from the registry and does not depend on any of them"},
	{"internal/conformance", nothing, nil, "its fixtures exercise only the MCP handler"},
	{"internal/automate", []string{"internal/backoff", "internal/board", "internal/query", "internal/store", "internal/op",
		"internal/trace"}, nil, "it changes data only through the engine"},
	{"internal/transfer", []string{"internal/board", "internal/query", "internal/spool", "internal/store", "internal/op"}, nil,
		"it changes data only through the engine"},
	{"internal/job", []string{"internal/backoff", "internal/board", "internal/store"}, nil,
		"it writes prepared changes and does not depend on operations"},
	{"internal/hook", []string{"internal/backoff", "internal/board", "internal/store", "internal/trace"}, nil,
		"it reads the outbox and calls no operation"},
	{"internal/fetch", []string{"internal/attach", "internal/board", "internal/hook"}, nothing,
		"it stores what it downloads and does not depend on why"},
	{"internal/notify", []string{"internal/backoff", "internal/board", "internal/store", "internal/session"}, nil,
		"it sends what is due and calls no operation"},
	{"internal/ical", []string{"internal/board", "internal/filename", "internal/store", "internal/session"}, nil,
		"it shows the cards that the owner of a feed can see"},
	{"internal/live", []string{"internal/backoff", "internal/board", "internal/store"}, nil, "it reads the activity and calls no operation"},
	{"internal/session", []string{"internal/board", "internal/store"}, nil, "it identifies the caller before an operation runs"},
	{"internal/connect", []string{"internal/board", "internal/store", "internal/op", "internal/app", "internal/session"}, nil,
		"it authorizes programs the way `account` signs people in, and depends on no other interface"},
	{"internal/guest", []string{"internal/board", "internal/store", "internal/op", "internal/app", "internal/session"}, nil,
		"it identifies guests of public pages, and depends on no interface"},
	{"internal/catalog", []string{"internal/account", "internal/app", "internal/automate", "internal/connect", "internal/digest",
		"internal/guest", "internal/op", "internal/transfer", "internal/undo"}, nothing, "it lists operations and does nothing else"},
	{"internal/mail", []string{"internal/backoff", "internal/board", "internal/trace"}, nil, "an email contains only what the caller passes"},
	{"internal/server", everything, nil, "it puts the parts together, for the program and for tests"},
	{"internal/apptest", everything, nil, "it runs the whole program for tests"},
	{"cmd/*", everything, nil, "a command may need any part"},
	{"internal/login", nothing, []string{"github.com/go-json-experiment/json", "golang.org/x/oauth2"}, "it runs on a person's machine " +
		"and knows a server only by its protocol"},
	{"internal/pages", []string{"internal/asset"}, []string{"github.com/go-json-experiment/json"}, "it serves files and does " +
		"not depend on their content"},
	{"web", nothing, nothing, "it only embeds the built pages"},
	{"perf/bench", []string{"perf/cli", "perf/client", "perf/compare", "perf/copies", "perf/document", "perf/fleet", "perf/folder",
		"perf/greedy", "perf/histogram", "perf/limits", "perf/postgres", "perf/process", "perf/receiver", "perf/server", "perf/table"},
		nil, "it measures the binary from outside, as a client would"},
	{"perf/torture", []string{"perf/cli", "perf/client", "perf/document", "perf/fleet", "perf/greedy", "perf/histogram", "perf/postgres",
		"perf/process", "perf/server", "perf/table"}, nothing, "it breaks the binary from outside, as an outage would"},
	{"perf/document", nothing, []string{"github.com/go-json-experiment/json"}, "it depends only on the format of the documents"},
	{"perf/receiver", []string{"perf/client"}, nothing, "it depends only on how deliveries are signed"},
	{"perf/fleet", []string{"perf/server"}, nothing, "it breaks nothing itself, so that tests and trials can share it"},
	{"perf/greedy", []string{"perf/fleet"}, nothing, "it does what a client can do, so that benchmarks and trials can share it"},
	{"perf/server", []string{"perf/client", "perf/process"}, nothing, "it runs the binary, and must build even if the program does not"},
	{"perf/postgres", []string{"perf/process"}, []string{"github.com/jackc/pgx/v5"}, "it runs PostgreSQL and does not depend on the program"},
	{"perf/limits", []string{"perf/document", "perf/process", "perf/server"}, []string{"github.com/go-json-experiment/json",
		"modernc.org/sqlite"}, "it measures the machine without the program"},
	{"perf/compare", []string{"perf/table"}, nothing, "it compares results, wherever they come from"},
	{"perf/*", nothing, nothing, "packages that benchmarks share do not depend on the program under test"},
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
				may = "nothing from this module"
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
		t.Errorf("the table of layers in %s is out of date: run make golden", layersDoc)
	}
}

func layerViolations(p goPackage) []string {
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
			found = append(found, fmt.Sprintf("%s imports %s but may import %s from this module: %s.",
				path, relative(imported), listed(l.may), l.because))
		case !own && !standard(imported) && l.outside != nil &&
			!slices.ContainsFunc(l.outside, func(m string) bool { return within(m, imported) }):
			found = append(found, fmt.Sprintf("%s imports %s but may import %s from outside the standard library: %s.",
				path, imported, listed(l.outside), l.because))
		}
	}
	return found
}
