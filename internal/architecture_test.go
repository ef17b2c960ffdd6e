// Package internal_test checks the rules of this code base: which packages may
// import which, which imports are banned, how packages are named, documented and
// sized, and which words their texts use. To change a rule, change it here, or in
// layers_test.go, with its reason.
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
		"loading is authorizing: only the store and what is below it use a database"},
	{"modernc.org/sqlite/*", []string{"internal/sqldb", "internal/apptest", "perf/bench"}, false, "only sqldb depends on the driver, so " +
		"that it can be changed"},
	{"github.com/jackc/pgx/v5/*", []string{"internal/sqldb", "internal/store", "internal/dbtool", "internal/apptest", "perf"},
		false, "only sqldb depends on the driver, so that it can be changed"},
	{"github.com/pressly/goose/v3/*", []string{"internal/sqldb"}, false, "only sqldb runs migrations"},
	{"go.opentelemetry.io/otel/*", []string{"internal/trace"}, true, "only trace depends on the SDK, so that it costs nothing when " +
		"tracing is off"},
	{"os/exec", []string{"internal/apptest", "tools", "perf"}, false, "the server starts no other program"},
	{"testing/*", []string{"internal/apptest"}, false, "it adds the flags of tests to the program"},
	{module + "/internal/apptest", nil, false, "it is only for tests"},
	{module + "/internal/conformance", nil, false, "its tools are only for the conformance suite; the file that registers them has " +
		"the build tag conformance"},
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

// A file and a package may have at most this many lines. Tests count for the file, not for the package.
const (
	maxLines        = 500
	maxPackageLines = 6000
)

// large lists the packages that may have more lines: one file for each noun is easier to follow than several packages.
var large = []string{"internal/app", "internal/store"}

// goPackage is a record of `go list -json` with the facts about its files that the rules need.
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

// violations returns a whole sentence for each breach of a rule.
func violations(packages []goPackage) []string {
	var found []string
	for _, p := range packages {
		// Tests may import anything. The only package that consists of tests is this one.
		found = append(found, bannedImports(p)...)
		found = append(found, longFiles(p)...)
		if len(p.sources) == 0 {
			continue
		}
		found = append(found, layerBreaches(p)...)
		found = append(found, formBreaches(p)...)
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
		hit := func(imported string) bool { return covers(b.path, imported) }
		if i := slices.IndexFunc(p.Imports, hit); i >= 0 {
			found = append(found, fmt.Sprintf("%s imports %s: %s.", path, p.Imports[i], b.because))
		}
		if i := slices.IndexFunc(tests, hit); i >= 0 && b.inTests {
			found = append(found, fmt.Sprintf("A test of %s imports %s: %s.", path, tests[i], b.because))
		}
	}
	return found
}

// longFiles checks the length of files.
func longFiles(p goPackage) []string {
	var found []string
	for _, s := range slices.Concat(p.sources, p.tests) {
		if s.lines > maxLines {
			found = append(found, fmt.Sprintf("%s/%s has %d lines, more than %d: split it.", relative(p.ImportPath), s.name, s.lines, maxLines))
		}
	}
	return found
}

// formBreaches checks the name, the package comment and the functions of files.
func formBreaches(p goPackage) []string {
	path := relative(p.ImportPath)
	var found []string
	if slices.Contains(vagueNames, p.Name) || slices.Contains(vagueNames, filepath.Base(path)) {
		found = append(found, fmt.Sprintf("%s has a name that fits anything: name it after the one thing that it is about.", path))
	}
	if strings.TrimSpace(p.Doc) == "" {
		found = append(found, fmt.Sprintf("%s has no package comment: say what it does and what it promises.", path))
	}
	lines := 0
	for _, s := range p.sources {
		lines += s.lines
		if importList.MatchString(s.doc) {
			found = append(found, fmt.Sprintf("%s/%s lists imports in the package comment: the table of layers does that.", path, s.name))
		}
		if s.hasInit {
			found = append(found, fmt.Sprintf("%s/%s has an init function, which cannot be ordered, tested or left out: call it from cmd "+
				"instead.", path, s.name))
		}
		if s.hasRaw && !slices.Contains(unauthorized, path) {
			found = append(found, fmt.Sprintf("%s/%s calls Raw or Engine of package store, which authorize nothing: load records by a "+
				"loader.", path, s.name))
		}
	}
	if lines > maxPackageLines && !slices.Contains(large, path) {
		found = append(found, fmt.Sprintf("%s has %d lines, more than %d: give a part a package of its own.", path, lines, maxPackageLines))
	}
	return found
}

// listPackages lists the module's packages with go list and reads their files.
func listPackages() ([]goPackage, error) {
	// The flag -e accepts packages that do not compile, because the compiler
	// reports them.
	cmd := exec.Command("go", "list", "-e", "-json=ImportPath,Dir,Name,Doc,GoFiles,CgoFiles,TestGoFiles,XTestGoFiles,"+
		"Imports,TestImports,XTestImports", module+"/...")
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, complaint.String())
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

// standard reports whether a package belongs to the standard library: all others
// begin with the name of a host, which contains a dot.
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

func TestRulesCanFail(t *testing.T) {
	// made returns a package that breaks no rule. Each case changes it to break one.
	made := func(path string, imports ...string) goPackage {
		return goPackage{
			ImportPath: module + "/" + path,
			Name:       filepath.Base(path),
			Doc:        "Package x is documented.",
			Imports:    imports,
			sources:    []source{{name: "card.go", lines: maxLines}},
		}
	}
	spoiled := func(p goPackage, spoil func(*goPackage)) goPackage {
		spoil(&p)
		return p
	}
	const pgx = "github.com/jackc/pgx/v5/pgxpool"
	cases := map[string]struct {
		give goPackage
		want string // part of the only violation; empty if there must be none
	}{
		"board on the standard library": {made("internal/board", "time", "encoding/json"), ""},
		"query on x/text":               {made("internal/query", "cardwall/internal/board", "golang.org/x/text/unicode/norm"), ""},
		"store on a driver":             {made("internal/store", "database/sql", pgx), ""},
		"apptest on everything":         {made("internal/apptest", "testing", "cardwall/internal/rest", "cardwall/cmd/cardwall", pgx), ""},
		"cmd on everything":             {made("cmd/cardwall", "cardwall/internal/rest", "cardwall/web"), ""},
		"bench on its own":              {made("perf/bench", "math/rand/v2", "database/sql"), ""},
		"a tool below tools":            {made("tools/gotest", "os/exec", "encoding/json"), ""},
		"a list of imports": {spoiled(made("internal/app"), func(p *goPackage) {
			p.sources[0].doc = "It imports op, " +
				"store and board."
		}), "lists imports"},
		"raw access in the doctor": {spoiled(made("internal/dbtool"), func(p *goPackage) { p.sources[0].hasRaw = true }), ""},
		"raw access in an operation": {spoiled(made("internal/app"), func(p *goPackage) { p.sources[0].hasRaw = true }),
			"authorize nothing"},
		"a package of tests alone": {goPackage{ImportPath: module + "/internal", XTestImports: []string{"os/exec"}}, ""},
		"a test has more freedom": {spoiled(made("internal/app"), func(p *goPackage) {
			p.XTestImports = []string{"math/rand",
				"cardwall/internal/apptest"}
		}), ""},
		"a name that begins like another": {made("internal/rest", "logger.example/log"), ""},

		"board on another package": {made("internal/board", "cardwall/internal/query"), "internal/board imports internal/query but " +
			"may import nothing of this module"},
		"board on a foreign module": {made("internal/board", "golang.org/x/text/cases"), "may import nothing from outside " +
			"the standard library"},
		"query on another module": {made("internal/query", "golang.org/x/textile"), "may import only golang.org/x/text from outside"},
		"store on the engine":     {made("internal/store", "cardwall/internal/op"), "it does not know the operations that use it"},
		"the engine on an operation": {made("internal/op", "cardwall/internal/app"), "may import only internal/board, " +
			"internal/filename, internal/spool, internal/store, internal/trace of this module: the engine runs any operation"},
		"an operation on an interface": {made("internal/app", "cardwall/internal/rest"), "an operation does not know which interface"},
		"one interface on another":     {made("internal/rest", "cardwall/internal/mcp"), "an interface takes operations from the registry"},
		"hook on the engine":           {made("internal/hook", "cardwall/internal/op"), "it reads the outbox"},
		"mail on the store":            {made("internal/mail", "cardwall/internal/store"), "internal/mail imports internal/store"},
		"bench on the inside":          {made("perf/bench", "cardwall/internal/store"), "it measures the binary from outside"},
		"a package without a row":      {made("internal/novelty"), "internal/novelty has no row"},

		"a banned import":             {made("internal/app", "log"), "internal/app imports log: it has no levels"},
		"a banned folder":             {made("internal/app", "math/rand/v2"), "imports math/rand/v2"},
		"json with its loose rules":   {made("internal/rest", "encoding/json"), "use github.com/go-json-experiment/json"},
		"a driver outside the store":  {made("internal/app", pgx), "only sqldb depends on the driver"},
		"the test kit in the program": {made("cmd/cardwall", "cardwall/internal/apptest"), "it is only for tests"},
		"unsafe":                      {made("internal/store", "unsafe"), "memory safety matters"},
		"cgo":                         {made("internal/store", "C"), "built without cgo"},
		"an import banned in tests": {spoiled(made("internal/app"), func(p *goPackage) { p.TestImports = []string{"unsafe"} }),
			"A test of internal/app imports unsafe"},
		"a mock in a package of its tests": {spoiled(made("internal/app"),
			func(p *goPackage) { p.XTestImports = []string{"go.uber.org/mock/gomock"} }), "no mocks"},

		"a vague name":       {spoiled(made("internal/app"), func(p *goPackage) { p.Name = "util" }), "name it after the one thing"},
		"a vague folder":     {spoiled(made("cmd/helpers"), func(p *goPackage) { p.Name = "main" }), "name it after the one thing"},
		"no package comment": {spoiled(made("internal/app"), func(p *goPackage) { p.Doc = "\n" }), "internal/app has no package comment"},
		"an init function": {spoiled(made("internal/app"), func(p *goPackage) { p.sources[0].hasInit = true }),
			"internal/app/card.go has an init function"},
		"a file past the length": {spoiled(made("internal/app"), func(p *goPackage) { p.sources[0].lines++ }),
			"internal/app/card.go has 501 lines, more than 500: split it"},
		"a package past the length": {spoiled(made("internal/mail"), func(p *goPackage) {
			p.sources = slices.Repeat(p.sources, maxPackageLines/maxLines+1)
		}), "internal/mail has 6500 lines, more than 6000"},
		"a test at the length": {spoiled(made("internal/app"), func(p *goPackage) {
			p.tests = []source{{name: "card_test.go", lines: maxLines}}
		}), ""},
		"a test past the length": {spoiled(made("internal/app"), func(p *goPackage) {
			p.tests = []source{{name: "card_test.go", lines: maxLines + 1}}
		}), "internal/app/card_test.go has 501 lines, more than 500: split it"},
		"a long test in a package of tests alone": {goPackage{ImportPath: module + "/internal",
			tests: []source{{name: "card_test.go", lines: maxLines + 1}}}, "internal/card_test.go has 501 lines"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := violations([]goPackage{c.give})
			switch {
			case c.want == "" && len(got) > 0:
				t.Errorf("found %q, want nothing", got)
			case c.want != "" && (len(got) != 1 || !strings.Contains(got[0], c.want)):
				t.Errorf("found %q, want one sentence with %q", got, c.want)
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
		t.Errorf("read %+v (%v), want %+v", got, err, want)
	}
}
