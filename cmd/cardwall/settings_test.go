package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"cardwall/internal/account"
)

// model returns kong's model of the program's commands and flags.
func model(t *testing.T) *kong.Application {
	t.Helper()
	parser, err := kong.New(&commands{}, kong.Name("cardwall"), flagHelp(), kong.DefaultEnvars("CARDWALL"))
	if err != nil {
		t.Fatal(err)
	}
	return parser.Model
}

// eachFlag calls visit with each flag of a command and its subcommands. The path of a subcommand
// consists of command names separated by spaces.
func eachFlag(n *kong.Node, path string, visit func(path string, f *kong.Flag)) {
	for _, f := range n.Flags {
		if f.Name != "help" {
			visit(path, f)
		}
	}
	for _, child := range n.Children {
		eachFlag(child, strings.TrimSpace(path+" "+child.Name), visit)
	}
}

// The table in docs/operating.md lists exactly the settings of a server, with their flags and
// defaults.
func TestSettingsAreListed(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/operating.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string][2]string{}
	for _, r := range regexp.MustCompile("(?m)^\\| `(CARDWALL_\\w+)` \\| `([^`]+)` \\| (`[^`]+`|none) \\| "+
		"\\S.* \\|$").FindAllStringSubmatch(string(text), -1) {
		rows[r[1]] = [2]string{r[2], strings.Trim(r[3], "`")}
	}
	all := map[string]bool{}
	eachFlag(model(t).Node, "", func(path string, f *kong.Flag) {
		if len(f.Envs) == 0 && path != "" && path != "serve" {
			return // the flag cannot be set by an environment variable
		}
		if len(f.Envs) != 1 {
			t.Errorf("--%s of %q has environment variables %v, want exactly one", f.Name, path, f.Envs)
			return
		}
		all[f.Envs[0]] = true
		row, listed := rows[f.Envs[0]]
		flag := strings.TrimSpace(path + " --" + f.Name)
		if path != "" && path != "serve" && row[0] != flag {
			return // the command's own help explains the flag
		}
		defaultValue := f.Default
		switch {
		case defaultValue == "" && f.IsBool():
			defaultValue = "false"
		case defaultValue == "":
			defaultValue = "none"
		}
		if !listed || row != [2]string{flag, defaultValue} {
			t.Errorf("docs/operating.md has no row | `%s` | `%s` | `%s` | … |; got %v", f.Envs[0], flag,
				defaultValue, row)
		}
	})
	for name := range rows {
		if !all[name] {
			t.Errorf("docs/operating.md lists %s, which no command reads", name)
		}
	}
}

// The documentation and the deployment files name only settings that exist.
func TestDocumentedSettingsExist(t *testing.T) {
	t.Parallel()
	all := map[string]bool{"CARDWALL_TOKEN": true} // a shell variable in the examples in docs/mcp.md
	eachFlag(model(t).Node, "", func(_ string, f *kong.Flag) {
		for _, e := range f.Envs {
			all[e] = true
		}
	})
	name := regexp.MustCompile(`\bCARDWALL_[A-Z][A-Z_]*[A-Z]\b`)
	found := 0
	check := func(path string) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range name.FindAllString(string(text), -1) {
			if found++; !all[n] {
				t.Errorf("%s names %s, which no command reads", path, n)
			}
		}
	}
	check("../../README.md")
	for _, root := range []string{"../../docs", "../../deploy"} {
		if err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && filepath.Ext(path) != ".png" {
				check(path)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	if found < 80 {
		t.Errorf("found %d mentions of settings, want at least 80", found)
	}
}

// docs/operating.md lists exactly the OpenTelemetry variables that the program reads, and those of
// the SDK that are supported.
func TestVariablesOfOpenTelemetryAreListed(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("../../internal/trace/environment.go")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../../docs/operating.md")
	if err != nil {
		t.Fatal(err)
	}
	read := map[string]bool{ // supported variables that the SDK and its exporter read; the program's own are added below
		"OTEL_EXPORTER_OTLP_HEADERS": true, "OTEL_EXPORTER_OTLP_CERTIFICATE": true, "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE": true,
		"OTEL_EXPORTER_OTLP_CLIENT_KEY": true, "OTEL_SERVICE_NAME": true, "OTEL_RESOURCE_ATTRIBUTES": true,
		"OTEL_TRACES_SAMPLER": true, "OTEL_TRACES_SAMPLER_ARG": true, "OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT": true,
		"OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT": true, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": true,
	}
	for _, r := range regexp.MustCompile(`"(OTEL_[A-Z_]*[A-Z])"`).FindAllStringSubmatch(string(source), -1) {
		read[strings.Replace(r[1], "_TRACES_TIMEOUT", "_TIMEOUT", 1)] = true // the page lists only the general name
	}
	for _, r := range regexp.MustCompile(`\bof\("(\w+)"\)`).FindAllStringSubmatch(string(source), -1) {
		read["OTEL_EXPORTER_OTLP_"+r[1]] = true
	}
	documented := map[string]bool{}
	for _, n := range regexp.MustCompile("`(OTEL_[A-Z_]*[A-Z])`").FindAllStringSubmatch(string(text), -1) {
		documented[n[1]] = true
	}
	if len(read) < 15 {
		t.Fatalf("found variables %v, want at least 15", read)
	}
	for n := range read {
		if !documented[n] {
			t.Errorf("docs/operating.md does not list %s", n)
		}
	}
	for n := range documented {
		if !read[n] {
			t.Errorf("docs/operating.md lists %s, which the program does not read", n)
		}
	}
}

func TestNormalBaseURL(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"https://cards.example.com":     "https://cards.example.com",
		"HTTPS://Cards.Example.com/":    "https://cards.example.com",
		"https://cards.example.com:443": "https://cards.example.com", "http://127.0.0.1:80/": "http://127.0.0.1",
		"https://cards.example.com:80": "https://cards.example.com:80", "http://[::1]:8080": "http://[::1]:8080",
		"http://localhost:8080": "http://localhost:8080", "http://localhost:": "http://localhost",
	} {
		if got, err := normalOrigin("base-url", text); err != nil || got != want {
			t.Errorf("normalOrigin(%q) = %q (%v), want %q", text, got, err, want)
		}
	}
}

func TestProviderOfFlags(t *testing.T) {
	t.Parallel()
	flags := oidcFlags{OIDCIssuer: "https://id.example.com/tenant", OIDCClientID: "id", OIDCClientSecret: "secret", OIDCTrustEmail: true}
	want := account.OIDC{Issuer: flags.OIDCIssuer, ClientID: "id", ClientSecret: "secret", Name: "id.example.com", TrustEmail: true}
	if got := flags.provider(); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// The log suggests the address of a proxy, so an address must be accepted like a network.
func TestTrustedProxies(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"10.1.2.3": "10.1.2.3/32", " 10.1.2.3/8": "10.0.0.0/8", "::ffff:10.1.2.3": "10.1.2.3/32", "2001:db8::1": "2001:db8::1/128",
		"proxy": "", "10.0.0.0/33": "", "": "",
	} {
		var n network
		if err := n.UnmarshalText([]byte(text)); (err == nil) != (want != "") || err == nil && n.String() != want {
			t.Errorf("%q: got %v (%v), want %q", text, n, err, want)
		}
	}
}

// A server takes the address of a client from a trusted proxy.
func TestServerTrustsItsProxies(t *testing.T) {
	t.Parallel()
	s := newStation(t, filepath.Join(t.TempDir(), "cardwall.db"), "--trusted-proxies", "10.0.0.0/8,127.0.0.1")
	s.send("POST", "/api/app/v1/sign-in", map[string]any{"email": secretEmail, "password": "not the password"},
		"Authorization", "", "X-Forwarded-For", "203.0.113.9")
	if log := s.log.String(); !strings.Contains(log, "203.0.113.9") || strings.Contains(log, "untrusted proxy") {
		t.Errorf("got log %s, want a wrong password from 203.0.113.9", log)
	}
}

// Settings that can be parsed but cannot work end the program with a sentence.
func TestSettingsThatCannotWorkAreRefused(t *testing.T) {
	t.Parallel()
	c := cli{t, t.TempDir()}
	for _, bad := range []struct{ flag, value, want string }{
		{"base-url", "https://example.com/cards", "must not have a path"},
		{"base-url", "https://example.com?x", "query"}, {"base-url", "https://example.com#", "query"},
		{"base-url", "https://ada:secret@example.com", "user name"}, {"base-url", "example.com", "http:// or https://"},
		{"base-url", "ftp://example.com", "http:// or https://"}, {"base-url", "https://", "http:// or https://"},
		{"base-url", "https://büro.example.com", "ASCII"}, {"base-url", "http://0.0.0.0:8080", "--addr"},
		{"base-url", "http://[::]:8080", "--addr"}, {"base-url", "http://localhost:99999", "65535"},
		{"base-url", "http://local host", "not a URL"},
		{"max-open-cards", "0", "1 or more"}, {"max-rules", "-1", "1 or more"}, {"max-cards", "0", "1 or more"},
		{"storage-team", "0", "must not be 0"}, {"spool-limit", "0", "must not be 0"}, {"drain", "-1s", "--drain"},
		{"webhook-pace", "-1", "--webhook-pace"}, {"webhook-pace", "NaN", "--webhook-pace"}, {"webhook-pace", "Inf", "--webhook-pace"},
		{"database-replica", "postgres://x", "PostgreSQL"}, {"operators", "ada", "--operators"},
		{"trusted-proxies", "proxy", "10.0.0.0/8"},
		{"cors-origins", "https://app.example.com,*", "--cors-origins"}, {"cors-origins", "null", "--cors-origins"},
		{"cors-origins", "https://*.example.com", "wildcards"},
	} {
		// If the setting is accepted, the server fails to listen instead of running forever.
		status, _, stderr := c.run("", "serve", "--addr=127.0.0.1:99999", "--"+bad.flag+"="+bad.value)
		if status == 0 || !strings.Contains(stderr, bad.want) || strings.Contains(stderr, "secret") {
			t.Errorf("--%s=%s: status %d, printed %q; want an error that contains %q", bad.flag, bad.value, status, stderr, bad.want)
		}
	}
	if status, _, stderr := c.run("", "doctor", "--litestream", "--database", "postgres://x"); status == 0 ||
		!strings.Contains(stderr, "--litestream") {
		t.Errorf("--litestream with PostgreSQL: status %d, printed %q; want an error", status, stderr)
	}
}
