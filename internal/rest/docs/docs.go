// Package docs renders the reference page of the REST API from the OpenAPI
// document, so that the page always matches the document.
//
// The page
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
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"cardwall/internal/asset"
)

//go:embed page.tmpl parts.tmpl style.css docs.js icon.svg
var files embed.FS

// Policy is the Content-Security-Policy of the page. The handler sends it
// unless the response already has one.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
	"connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'"

// mount is the last segment of every path at which the page can be mounted. The
// page refers to its assets as docs/<name>.
const mount = "docs"

// New returns the handler of the reference page and its assets. It serves the
// page at any path that ends in /docs, and the assets below it. It can be
// mounted at several such paths, with or without http.StripPrefix.
//
// The base parameter is the server's own URL for the example requests, such as
// https://cards.example.com. If base is empty, the requests use the document's first
// server. The page is rendered once, on the first request. After that, doc must not
// change. If rendering fails, the handler logs the error and responds with 500. New
// returns an error if doc is nil. It also returns one if base is set but is not an http
// or https URL, or has a user, query or fragment.
func New(doc *huma.OpenAPI, base string) (http.Handler, error) {
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
	build := sync.OnceValues(func() (*site, error) { return newSite(doc, base) })
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

// newSite renders the page, and compresses the page and its assets.
func newSite(doc *huma.OpenAPI, base string) (*site, error) {
	s := &site{assets: map[string]*asset.Asset{}}
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
	html, err := render(doc, base, versions)
	if err != nil {
		return nil, err
	}
	if s.page, err = asset.New(html, "text/html; charset=utf-8"); err != nil {
		return nil, fmt.Errorf("compress page: %w", err)
	}
	return s, nil
}

// render renders the page from the JSON of the document, so that the page shows
// exactly what clients get: with extensions, and without hidden properties.
func render(doc *huma.OpenAPI, base string, versions map[string]string) ([]byte, error) {
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
	v, err := d.view(base)
	if err != nil {
		return nil, err
	}
	v.Versions = versions
	t, err := template.New("page").Funcs(template.FuncMap{"asset": func(name string) string {
		return mount + "/" + name + "?v=" + versions[name]
	}}).ParseFS(files, "page.tmpl", "parts.tmpl")
	if err != nil {
		return nil, fmt.Errorf("parse page template: %w", err)
	}
	var out bytes.Buffer
	if err := t.ExecuteTemplate(&out, "page.tmpl", v); err != nil {
		return nil, fmt.Errorf("render page: %w", err)
	}
	return out.Bytes(), nil
}
