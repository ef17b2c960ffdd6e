// Package internal_test checks the rules of this code base: which packages may
// import which, which imports are banned, how packages are named, documented and
// sized, which wording they avoid, and whether the guides name existing code. To
// change a rule, change it in one of these files, with its reason.
package internal_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "cardwall"

// ban is an import that only the packages in except, and those below them, may have.
// A path that ends in "/*" includes all packages below it.
type ban struct {
	path    string
	except  []string
	inTests bool // banned in tests too
	because string
}

var bans = []ban{
	{"unsafe", nil, true, "memory safety matters more than any speed-up here"},
	{"C", nil, true, "the binary is built without cgo: it is static, and Go's resolver accepts no unusual spelling of an address"},
	{"github.com/mattn/go-sqlite3", nil, true, "it needs cgo; the driver is modernc.org/sqlite"},
	{"log", nil, false, "it has no levels and no attributes; use log/slog"},
	{"math/rand/*", []string{"perf"}, false, "its output can be guessed; use crypto/rand for ids and secrets, and pass " +
		"other randomness as an argument so that a test can fix it"},
	// board uses only the standard library; rest/docs reads only our own document.
	{"encoding/json", []string{"internal/board", "internal/rest/docs", "tools", "perf"}, false,
		"it accepts duplicate names, other cases and bad UTF-8; use github.com/go-json-experiment/json"},
	{"database/sql/*", []string{"internal/sqldb", "internal/store", "internal/dbtool", "internal/apptest", "perf"}, false,
		"loading a record authorizes the caller: only the store and the packages below it use a database"},
	{"modernc.org/sqlite/*", []string{"internal/sqldb", "internal/apptest", "perf/bench", "perf/limits"}, false,
		"only sqldb depends on the driver, so that it can be changed"},
	{"github.com/jackc/pgx/v5/*", []string{"internal/sqldb", "internal/store", "internal/dbtool", "internal/apptest", "perf"},
		false, "only packages that run SQL may depend on the driver, so that it can be changed"},
	{"github.com/pressly/goose/v3/*", []string{"internal/sqldb"}, false, "only sqldb runs migrations"},
	{"go.opentelemetry.io/otel/*", []string{"internal/trace"}, true, "only trace depends on the SDK, so that it costs nothing when " +
		"tracing is off"},
	{"os/exec", []string{"internal/apptest", "tools", "perf"}, false, "the server starts no other program"},
	{"testing/*", []string{"internal/apptest"}, false, "it adds the test flags to the program"},
	{module + "/internal/apptest", nil, false, "it is only for tests"},
	{module + "/internal/conformance", nil, false, "its tools are only for the conformance suite; the file that registers them has " +
		"the conformance build tag"},
	{"net/http/pprof", nil, false, "it registers itself on the default mux by being imported; name the handlers of runtime/pprof instead"},
	{"expvar", nil, false, "it registers itself on the default mux by being imported; metrics are served on their own address"},
	{"io/ioutil", nil, true, "it is deprecated; use io and os"},
	{"github.com/pkg/errors", nil, true, "wrap with fmt.Errorf and %w"},
	{"go.uber.org/mock/*", nil, true, "no mocks: both databases are real and fast"},
	{"github.com/stretchr/testify/mock", nil, true, "no mocks: both databases are real and fast"},
}

// vagueNames are package names that fit any content.
var vagueNames = []string{
	"util", "utils", "common", "commons", "model", "models", "service", "services",
	"manager", "managers", "helper", "helpers", "misc", "shared",
}

// unauthorized are the packages that may run statements without a loader.
var unauthorized = []string{"internal/dbtool", "internal/apptest"}

// importList finds prose about imports in a package comment.
var importList = regexp.MustCompile(`(?i)\bimports? ((it|them|the|this|only|none|nothing)\b|[a-z]+,|[a-z]+ (and|alone)\b)`)

// A file and a package may have at most this many lines. Test files do not count toward their package.
const (
	maxLines        = 500
	maxPackageLines = 6000
)

// large lists the packages that may have more lines: one file for each noun is easier to follow than several packages.
var large = []string{"internal/app", "internal/store"}

// goPackage is a record of `go list -json` with the properties of its files that the rules check.
type goPackage struct {
	ImportPath, Dir, Name, Doc         string
	GoFiles, CgoFiles                  []string
	TestGoFiles, XTestGoFiles          []string
	Imports, TestImports, XTestImports []string
	sources                            []source // of GoFiles and CgoFiles
	tests                              []source // of TestGoFiles and XTestGoFiles, only with name and lines
}

type source struct {
	name    string
	doc     string // the package comment
	lines   int
	hasInit bool
	hasRaw  bool // calls Raw or Engine of package store
}

func TestArchitecture(t *testing.T) {
	packages, err := listPackages()
	if err != nil {
		t.Fatal(err)
	}
	if len(packages) == 0 {
		t.Fatal("go list returned no packages, so no rule was checked.")
	}
	for _, v := range violations(packages) {
		t.Error(v)
	}
}

// violations returns one sentence for each violation of a rule.
func violations(packages []goPackage) []string {
	var found []string
	for _, p := range packages {
		// Tests may import any package of this module. Only this package consists entirely of tests.
		found = append(found, bannedImports(p)...)
		found = append(found, longFiles(p)...)
		if len(p.sources) == 0 {
			continue
		}
		found = append(found, layerViolations(p)...)
		found = append(found, formViolations(p)...)
	}
	return found
}

func bannedImports(p goPackage) []string {
	path := relative(p.ImportPath)
	tests := slices.Concat(p.TestImports, p.XTestImports)
	var found []string
	for _, b := range bans {
		if slices.ContainsFunc(b.except, func(e string) bool { return within(e, path) }) {
			continue
		}
		banned := func(imported string) bool { return covers(b.path, imported) }
		if i := slices.IndexFunc(p.Imports, banned); i >= 0 {
			found = append(found, fmt.Sprintf("%s imports %s: %s.", path, p.Imports[i], b.because))
		}
		if i := slices.IndexFunc(tests, banned); i >= 0 && b.inTests {
			found = append(found, fmt.Sprintf("A test of %s imports %s: %s.", path, tests[i], b.because))
		}
	}
	return found
}

// longFiles returns a violation for each file that is too long.
func longFiles(p goPackage) []string {
	var found []string
	for _, s := range slices.Concat(p.sources, p.tests) {
		if s.lines > maxLines {
			found = append(found, fmt.Sprintf("%s/%s has %d lines, more than %d: split it.", relative(p.ImportPath), s.name, s.lines, maxLines))
		}
	}
	return found
}

// formViolations checks the package's name, comment, functions and length.
func formViolations(p goPackage) []string {
	path := relative(p.ImportPath)
	var found []string
	if slices.Contains(vagueNames, p.Name) || slices.Contains(vagueNames, filepath.Base(path)) {
		found = append(found, fmt.Sprintf("%s has a vague name: name it after the one thing that it is about.", path))
	}
	if strings.TrimSpace(p.Doc) == "" {
		found = append(found, fmt.Sprintf("%s has no package comment: say what it does and what it guarantees.", path))
	}
	lines := 0
	for _, s := range p.sources {
		lines += s.lines
		if importList.MatchString(s.doc) {
			found = append(found, fmt.Sprintf("%s/%s lists imports in the package comment: the table of layers does that.", path, s.name))
		}
		if s.hasInit {
			found = append(found, fmt.Sprintf("%s/%s has an init function, which cannot be ordered, tested or skipped: call a function "+
				"from cmd instead.", path, s.name))
		}
		if s.hasRaw && !slices.Contains(unauthorized, path) {
			found = append(found, fmt.Sprintf("%s/%s calls Raw or Engine of package store, which authorize nothing: load records with "+
				"a loader.", path, s.name))
		}
	}
	if lines > maxPackageLines && !slices.Contains(large, path) {
		found = append(found, fmt.Sprintf("%s has %d lines, more than %d: move a part to its own package.", path, lines, maxPackageLines))
	}
	return found
}

// listPackages lists the module's packages with go list and reads their files.
func listPackages() ([]goPackage, error) {
	// The flag -e accepts packages that do not compile, because the compiler
	// reports them.
	cmd := exec.Command("go", "list", "-e", "-json=ImportPath,Dir,Name,Doc,GoFiles,CgoFiles,TestGoFiles,XTestGoFiles,"+
		"Imports,TestImports,XTestImports", "./...")
	cmd.Dir = ".." // without clients/go, which is a module of its own
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, stderr.String())
	}
	var packages []goPackage
	records := json.NewDecoder(bytes.NewReader(out))
	for {
		var p goPackage
		if err := records.Decode(&p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, fmt.Errorf("read go list: %w", err)
		}
		for _, name := range slices.Concat(p.GoFiles, p.CgoFiles) {
			s, err := readSource(p.Dir, name)
			if err != nil {
				return nil, err
			}
			p.sources = append(p.sources, s)
		}
		for _, name := range slices.Concat(p.TestGoFiles, p.XTestGoFiles) {
			text, err := os.ReadFile(filepath.Join(p.Dir, name))
			if err != nil {
				return nil, err
			}
			p.tests = append(p.tests, source{name: name, lines: bytes.Count(text, []byte("\n"))})
		}
		packages = append(packages, p)
	}
}

func readSource(dir, name string) (source, error) {
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, filepath.Join(dir, name), nil, parser.ParseComments|parser.SkipObjectResolution)
	if parsed == nil {
		return source{}, err
	}
	return source{
		name:  name,
		doc:   parsed.Doc.Text(),
		lines: files.File(parsed.FileStart).LineCount(),
		hasInit: slices.ContainsFunc(parsed.Decls, func(d ast.Decl) bool {
			f, ok := d.(*ast.FuncDecl)
			return ok && f.Recv == nil && f.Name.Name == "init"
		}),
		hasRaw: hasRaw(parsed),
	}, nil
}

// hasRaw reports whether a file calls a method Raw or Engine without arguments.
func hasRaw(f *ast.File) (found bool) {
	ast.Inspect(f, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && len(call.Args) == 0 {
			if s, ok := call.Fun.(*ast.SelectorExpr); ok && (s.Sel.Name == "Raw" || s.Sel.Name == "Engine") {
				found = true
			}
		}
		return !found
	})
	return found
}

func relative(path string) string { return strings.TrimPrefix(path, module+"/") }

// within reports whether path is parent or below it.
func within(parent, path string) bool {
	return path == parent || strings.HasPrefix(path, parent+"/")
}

// covers reports whether a pattern, with or without "/*" at its end, includes path.
func covers(pattern, path string) bool {
	if parent, tree := strings.CutSuffix(pattern, "/*"); tree {
		return within(parent, path)
	}
	return path == pattern
}

// standard reports whether a package outside this module belongs to the standard library.
// Import paths of other modules begin with a host name, which contains a dot.
func standard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}

func listed(paths []string) string {
	if len(paths) == 0 {
		return "nothing"
	}
	return "only " + strings.Join(paths, ", ")
}

func TestViolations(t *testing.T) {
	// valid returns a package that breaks no rule. Some cases change it to break one.
	valid := func(path string, imports ...string) goPackage {
		return goPackage{
			ImportPath: module + "/" + path,
			Name:       filepath.Base(path),
			Doc:        "Package x is documented.",
			Imports:    imports,
			sources:    []source{{name: "card.go", lines: maxLines}},
		}
	}
	changed := func(p goPackage, change func(*goPackage)) goPackage {
		change(&p)
		return p
	}
	const pgx = "github.com/jackc/pgx/v5/pgxpool"
	cases := map[string]struct {
		in   goPackage
		want string // substring of the only violation; empty if there must be none
	}{
		"board on the standard library": {valid("internal/board", "time", "encoding/json"), ""},
		"query on x/text":               {valid("internal/query", "cardwall/internal/board", "golang.org/x/text/unicode/norm"), ""},
		"store on a driver":             {valid("internal/store", "database/sql", pgx), ""},
		"apptest on everything":         {valid("internal/apptest", "testing", "cardwall/internal/rest", "cardwall/cmd/cardwall", pgx), ""},
		"cmd on everything":             {valid("cmd/cardwall", "cardwall/internal/rest", "cardwall/web"), ""},
		"bench on its own":              {valid("perf/bench", "math/rand/v2", "database/sql"), ""},
		"a tool below tools":            {valid("tools/gotest", "os/exec", "encoding/json"), ""},
		"a list of imports": {changed(valid("internal/app"), func(p *goPackage) {
			p.sources[0].doc = "It imports op, " +
				"store and board."
		}), "lists imports"},
		"raw access in the doctor": {changed(valid("internal/dbtool"), func(p *goPackage) { p.sources[0].hasRaw = true }), ""},
		"raw access in an operation": {changed(valid("internal/app"), func(p *goPackage) { p.sources[0].hasRaw = true }),
			"authorize nothing"},
		"a package with only tests": {goPackage{ImportPath: module + "/internal", XTestImports: []string{"os/exec"}}, ""},
		"a test that imports a banned package": {changed(valid("internal/app"), func(p *goPackage) {
			p.XTestImports = []string{"math/rand",
				"cardwall/internal/apptest"}
		}), ""},
		"a name that begins like another": {valid("internal/rest", "logger.example/log"), ""},

		"board on another package": {valid("internal/board", "cardwall/internal/query"), "internal/board imports internal/query but " +
			"may import nothing from this module"},
		"board on a foreign module": {valid("internal/board", "golang.org/x/text/cases"), "may import nothing from outside " +
			"the standard library"},
		"query on another module": {valid("internal/query", "golang.org/x/textile"), "may import only golang.org/x/text from outside"},
		"store on the engine":     {valid("internal/store", "cardwall/internal/op"), "does not depend on operations"},
		"the engine on an operation": {valid("internal/op", "cardwall/internal/app"), "may import only internal/board, " +
			"internal/filename, internal/spool, internal/store, internal/trace from this module: the engine runs operations"},
		"an operation on an interface": {valid("internal/app", "cardwall/internal/rest"), "an operation does not depend on the interface"},
		"one interface on another":     {valid("internal/rest", "cardwall/internal/mcp"), "an interface takes operations from the registry"},
		"hook on the engine":           {valid("internal/hook", "cardwall/internal/op"), "it reads the outbox"},
		"mail on the store":            {valid("internal/mail", "cardwall/internal/store"), "internal/mail imports internal/store"},
		"bench on the inside":          {valid("perf/bench", "cardwall/internal/store"), "it measures the binary from outside"},
		"a package without a row":      {valid("internal/novelty"), "internal/novelty has no row"},

		"a banned import":             {valid("internal/app", "log"), "internal/app imports log: it has no levels"},
		"a banned folder":             {valid("internal/app", "math/rand/v2"), "imports math/rand/v2"},
		"json with its loose rules":   {valid("internal/rest", "encoding/json"), "use github.com/go-json-experiment/json"},
		"a driver outside the store":  {valid("internal/app", pgx), "only packages that run SQL may depend on the driver"},
		"the test kit in the program": {valid("cmd/cardwall", "cardwall/internal/apptest"), "it is only for tests"},
		"unsafe":                      {valid("internal/store", "unsafe"), "memory safety matters"},
		"cgo":                         {valid("internal/store", "C"), "built without cgo"},
		"an import banned in tests": {changed(valid("internal/app"), func(p *goPackage) { p.TestImports = []string{"unsafe"} }),
			"A test of internal/app imports unsafe"},
		"a mock in a package of its tests": {changed(valid("internal/app"),
			func(p *goPackage) { p.XTestImports = []string{"go.uber.org/mock/gomock"} }), "no mocks"},

		"a vague name":       {changed(valid("internal/app"), func(p *goPackage) { p.Name = "util" }), "name it after the one thing"},
		"a vague folder":     {changed(valid("cmd/helpers"), func(p *goPackage) { p.Name = "main" }), "name it after the one thing"},
		"no package comment": {changed(valid("internal/app"), func(p *goPackage) { p.Doc = "\n" }), "internal/app has no package comment"},
		"an init function": {changed(valid("internal/app"), func(p *goPackage) { p.sources[0].hasInit = true }),
			"internal/app/card.go has an init function"},
		"a file that is too long": {changed(valid("internal/app"), func(p *goPackage) { p.sources[0].lines++ }),
			"internal/app/card.go has 501 lines, more than 500: split it"},
		"a package that is too long": {changed(valid("internal/mail"), func(p *goPackage) {
			p.sources = slices.Repeat(p.sources, maxPackageLines/maxLines+1)
		}), "internal/mail has 6500 lines, more than 6000"},
		"a test of the maximum length": {changed(valid("internal/app"), func(p *goPackage) {
			p.tests = []source{{name: "card_test.go", lines: maxLines}}
		}), ""},
		"a test that is too long": {changed(valid("internal/app"), func(p *goPackage) {
			p.tests = []source{{name: "card_test.go", lines: maxLines + 1}}
		}), "internal/app/card_test.go has 501 lines, more than 500: split it"},
		"a long test in a package with only tests": {goPackage{ImportPath: module + "/internal",
			tests: []source{{name: "card_test.go", lines: maxLines + 1}}}, "internal/card_test.go has 501 lines"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := violations([]goPackage{c.in})
			switch {
			case c.want == "" && len(got) > 0:
				t.Errorf("got violations %q, want none", got)
			case c.want != "" && (len(got) != 1 || !strings.Contains(got[0], c.want)):
				t.Errorf("got violations %q, want one that contains %q", got, c.want)
			}
		})
	}
}

func TestReadSource(t *testing.T) {
	dir := t.TempDir()
	text := "// Package x runs code at import.\npackage x\n\nfunc init() {}\n"
	if err := os.WriteFile(filepath.Join(dir, "x.go"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := readSource(dir, "x.go")
	if want := (source{name: "x.go", doc: "Package x runs code at import.\n", lines: 4, hasInit: true}); err != nil || got != want {
		t.Errorf("got %+v, error %v; want %+v", got, err, want)
	}
}
