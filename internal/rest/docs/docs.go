// Package docs renders the reference page of the REST API from the OpenAPI
// document, so that the page always matches the document, and pages for the changelog and each error code.
//
// The reference page
//
//   - describes every operation of the document, with its operationId as the
//     anchor, and every component schema at #schema-<name>;
//   - loads only its own assets, has no inline script or style, and works under
//     [Policy] and without JavaScript;
//   - escapes all text from the document: html/template escapes every value, and no
//     value is marked as trusted.
package docs

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"cardwall/internal/asset"
)

//go:embed page.tmpl article.tmpl errors.md parts.tmpl style.css docs.js icon.svg snippets.json
var files embed.FS

// Policy is the Content-Security-Policy of the page. The handler sends it
// unless the response already has one.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
	"connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'"

// mount is the last segment of every path at which the reference page can be mounted. The
// page refers to its assets as docs/<name>.
const mount = "docs"

// The paths of further pages, below that of the reference page.
const (
	changes  = "changelog"
	ofErrors = "errors/" // and the code of the error
)

// New returns the handler of the reference page, the changelog and their assets. It serves the
// reference page at any path that ends in /docs, and the others below it. It can be
// mounted at several such paths. The changelog is in Markdown.
//
// The base parameter is the server's own URL for the example requests, such as
// https://cards.example.com. If base is empty, the requests use the document's first
// server. The page is rendered once, on the first request. After that, doc must not
// change. If rendering fails, the handler logs the error and responds with 500. New
// returns an error if doc is nil. It also returns one if base is set but is not an http
// or https URL, or has a user, query or fragment.
func New(doc *huma.OpenAPI, base, changelog string) (http.Handler, error) {
	if doc == nil {
		return nil, errors.New("docs: the OpenAPI document is nil")
	}
	base = strings.TrimRight(base, "/")
	if base != "" {
		u, err := url.Parse(base)
		if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" ||
			(u.Scheme != "http" && u.Scheme != "https") {
			return nil, fmt.Errorf("docs: base URL %q must be an http or https URL without a user, query or fragment", base)
		}
	}
	build := sync.OnceValues(func() (*site, error) { return newSite(doc, base, changelog) })
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s, err := build()
		if err != nil {
			slog.ErrorContext(r.Context(), "render API reference", "error", err)
			http.Error(w, "The reference could not be rendered.", http.StatusInternalServerError)
			return
		}
		s.ServeHTTP(w, r)
	}), nil
}

// newSite renders the pages, and compresses them and their assets.
func newSite(doc *huma.OpenAPI, base, changelog string) (*site, error) {
	s := &site{pages: map[string]*asset.Asset{}, assets: map[string]*asset.Asset{}}
	versions := map[string]string{}
	for name, kind := range map[string]string{
		"style.css": "text/css; charset=utf-8",
		"docs.js":   "text/javascript; charset=utf-8",
		"icon.svg":  "image/svg+xml",
	} {
		body, err := files.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read asset %s: %w", name, err)
		}
		a, err := asset.New(body, kind)
		if err != nil {
			return nil, fmt.Errorf("compress asset %s: %w", name, err)
		}
		s.assets[name], versions[name] = a, a.Hash
	}
	html, err := render(doc, base, changelog, versions)
	if err != nil {
		return nil, err
	}
	for name, body := range html {
		if s.pages[name], err = asset.New(body, "text/html; charset=utf-8"); err != nil {
			return nil, fmt.Errorf("compress page: %w", err)
		}
	}
	return s, nil
}

// render renders the pages from the JSON of the document, so that they show
// exactly what clients get: with extensions, and without hidden properties.
func render(doc *huma.OpenAPI, base, changelog string, versions map[string]string) (map[string][]byte, error) {
	raw, err := json.Marshal(doc)
	if err != nil {
		return nil, fmt.Errorf("encode OpenAPI document: %w", err)
	}
	var d document
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&d); err != nil {
		return nil, fmt.Errorf("read OpenAPI document: %w", err)
	}
	if d.snippets, err = snippets(); err != nil {
		return nil, err
	}
	v, err := d.view(base)
	if err != nil {
		return nil, err
	}
	t, err := template.ParseFS(files, "page.tmpl", "article.tmpl", "parts.tmpl")
	if err != nil {
		return nil, fmt.Errorf("parse page template: %w", err)
	}
	guide, err := files.ReadFile("errors.md")
	if err != nil {
		return nil, fmt.Errorf("read the guide to errors: %w", err)
	}
	v.versions = versions
	pages := map[string][]byte{}
	add := func(name, file string, data any) {
		var out bytes.Buffer
		if e := t.ExecuteTemplate(&out, file, data); e != nil && err == nil {
			err = fmt.Errorf("render page %s: %w", name, e)
		}
		pages[name] = out.Bytes()
	}
	v.folder = mount + "/"
	add("", "page.tmpl", v)
	v.folder = ""
	_, changelog, _ = strings.Cut(changelog, "\n") // without the title
	changelog = versionHeading.ReplaceAllString(changelog, "## $1")
	add(changes, "article.tmpl", article{v, "Changelog", d.article(changelog, "../"+mount)})
	v.folder = "../"
	for code, text := range sections(string(guide)) {
		add(ofErrors+code, "article.tmpl", article{v, code, d.article(text, "../../"+mount)})
	}
	return pages, err
}

// versionHeading is the start of a heading such as ## [v0.2.0] - 2026-11-23.
var versionHeading = regexp.MustCompile(`(?m)^## \[(.+?)\]`)

// sections returns the text below each heading of the second level.
func sections(markdown string) map[string]string {
	out := map[string]string{}
	for _, part := range strings.Split("\n"+markdown, "\n## ")[1:] {
		title, text, _ := strings.Cut(part, "\n")
		out[title] = text
	}
	return out
}
