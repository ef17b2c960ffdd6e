package docs

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// view holds the data of the page template.
type view struct {
	Title, Version, Address string
	Intro                   []node
	Schemes                 []schemeView
	Faults                  []fault
	Groups                  []group
	Schemas                 []schemaView
	Count                   int

	versions map[string]string // hashes of the assets
	folder   string            // the path of the assets, relative to the page
}

// article is the data of a page with a text.
type article struct {
	*view
	Name string
	Text []node
}

// Reference returns the URL of the reference page, or "" if this is the reference page.
func (v *view) Reference() string {
	if v.folder == mount+"/" {
		return ""
	}
	return v.folder + "../" + mount
}

// Changelog returns the URL of the changelog.
func (v *view) Changelog() string { return v.folder + changes }

// Guide returns the URL of the page about an error code.
func (v *view) Guide(code string) string { return v.folder + ofErrors + code }

// Asset returns the URL of an asset.
func (v *view) Asset(name string) string { return v.folder + name + "?v=" + v.versions[name] }

// ErrorExample returns the body of an error response.
func (v *view) ErrorExample() string {
	return pretty(members{{"error", members{
		{"code", "not_found"}, {"message", "There is no such object, or you cannot see it."},
	}}})
}

// Anchor returns the code in the form that is used in ids on the page.
func (f fault) Anchor() string { return anchor(f.Code) }

// Short returns the method, abbreviated for the navigation.
func (o opView) Short() string {
	if o.Method == "DELETE" {
		return "DEL"
	}
	return o.Method
}

type schemeView struct {
	Name, Kind string
	Text       []node
}

// fault is a row of the error table, from the x-errors of the document or an operation.
type fault struct {
	Code   string
	Status string
	Text   []node
}

type group struct {
	ID, Name string
	Text     []node
	Ops      []opView
}

type opView struct {
	ID, Name, Method, Path, Scope, Summary string
	PathParts                              []word // Href is "p" for parameters
	Deprecated, Public                     bool
	Text                                   []node
	Inputs                                 []table
	Programs                               []program
	Responses                              []responseView
	Refusals                               []refusal
}

// table is a titled field table.
type table struct {
	Title  string
	Text   []node
	Fields []field
}

type responseView struct {
	Status, Kind string
	Text         []node
	Fields       []field
	Headers      []field
	Example      string
}

// refusal is an error that an operation may return.
type refusal struct {
	Status string
	Codes  []word
	Text   []node
}

type schemaView struct {
	ID, Name string
	Type     []word
	Text     []node
	Notes    []string
	Values   []string
	Default  string
	Fields   []field
	Example  string
}

// view prepares the data of the page. It returns an error if two operations have the
// same anchor, if the URL of the API is unknown, or if x-errors cannot be parsed.
func (d *document) view(base string) (*view, error) {
	ops, err := d.operations()
	if err != nil {
		return nil, err
	}
	root, pathPrefix, err := d.address(base, ops)
	if err != nil {
		return nil, err
	}
	v := &view{
		Title: d.Info.Title, Version: d.Info.Version, Address: root, Count: len(ops),
		Intro: d.markdown(d.Info.Description, 2),
	}
	for _, name := range slices.Sorted(maps.Keys(d.Components.SecuritySchemes)) {
		s := d.Components.SecuritySchemes[name]
		kind := strings.TrimSpace(s.Type + " " + s.Scheme)
		if s.Name != "" {
			kind += " in the " + s.In + " " + s.Name
		}
		v.Schemes = append(v.Schemes, schemeView{Name: name, Kind: kind, Text: d.markdown(s.Description, 4)})
	}
	if v.Faults, err = d.faults(d.Errors); err != nil {
		return nil, fmt.Errorf("read the document's x-errors: %w", err)
	}
	status := map[string]string{}
	for _, f := range v.Faults {
		status[f.Code] = f.Status
	}
	v.Groups = d.groups(ops, func(op *operation) opView { return d.operationView(op, pathPrefix, status) })
	for _, name := range slices.Sorted(maps.Keys(d.Components.Schemas)) {
		v.Schemas = append(v.Schemas, d.schemaView(name))
	}
	return v, nil
}

// methods lists the HTTP methods in the order in which the page shows them.
var methods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"}

// operations returns the operations in the order of their tags' x-operations. Other
// operations follow, sorted by path and method. It also sets d.anchors. It returns an
// error if two operations have the same operationId, because they would share an anchor.
func (d *document) operations() ([]*operation, error) {
	d.anchors = map[string]string{}
	for name := range d.Components.Schemas {
		d.anchors[name] = "#" + schemaID(name)
	}
	var out []*operation
	used := map[string]bool{}
	for _, path := range slices.SortedFunc(maps.Keys(d.Paths), func(a, b string) int {
		return slices.Compare(strings.Split(a, "/"), strings.Split(b, "/"))
	}) {
		item := d.Paths[path]
		if item == nil {
			continue
		}
		for i, op := range []*operation{item.Get, item.Head, item.Post, item.Put, item.Patch, item.Delete, item.Options,
			item.Trace} {
			if op == nil {
				continue
			}
			op.method, op.path = methods[i], path
			op.Parameters = append(slices.Clone(item.Parameters), op.Parameters...)
			if op.OperationID == "" {
				op.OperationID = strings.ToLower(op.method) + "-" + path
			}
			id := anchor(op.OperationID)
			if used[id] {
				return nil, fmt.Errorf("duplicate operationId %s", op.OperationID)
			}
			used[id] = true
			d.anchors[op.OperationID] = "#" + id
			out = append(out, op)
		}
	}
	order := map[string]int{}
	for _, t := range d.Tags {
		for _, id := range t.Operations {
			order[id] = len(order)
		}
	}
	at := func(op *operation) int {
		if i, ok := order[op.OperationID]; ok {
			return i
		}
		return len(order)
	}
	slices.SortStableFunc(out, func(a, b *operation) int { return at(a) - at(b) })
	return out, nil
}

// anchor converts a name to an id, which must not contain white space.
func anchor(name string) string { return strings.Join(strings.Fields(name), "-") }

func schemaID(name string) string { return "schema-" + anchor(name) }

// home is the path of the API if the document's server has no path.
const home = "/api/public/v1"

// address returns the URL of the API and the prefix for the document's paths. The two
// differ only if the document's paths include the path of the API.
func (d *document) address(base string, ops []*operation) (root, pathPrefix string, err error) {
	prefix := home
	if len(d.Servers) > 0 {
		u, err := url.Parse(d.Servers[0].URL)
		if err != nil {
			return "", "", fmt.Errorf("read the document's first server URL: %w", err)
		}
		if base == "" && u.Host != "" {
			base = u.Scheme + "://" + u.Host
		}
		if p := strings.TrimRight(u.Path, "/"); p != "" {
			prefix = p
		}
	}
	if base == "" {
		return "", "", errors.New("no base URL, and the document has no absolute server URL")
	}
	root = strings.TrimSuffix(base, prefix) + prefix
	if len(ops) > 0 && strings.HasPrefix(ops[0].path, prefix+"/") {
		return root, strings.TrimSuffix(root, prefix), nil
	}
	return root, root, nil
}

// groups groups the operations by their first tag, in the order of the document's
// tags. Tags that the document does not list come last, sorted by name.
func (d *document) groups(ops []*operation, view func(*operation) opView) []group {
	var out []group
	at := map[string]int{}
	add := func(name, description string) {
		if _, ok := at[name]; ok {
			return
		}
		at[name] = len(out)
		out = append(out, group{ID: "tag-" + anchor(strings.ToLower(name)), Name: name, Text: d.markdown(description, 3)})
	}
	for _, t := range d.Tags {
		add(t.Name, t.Description)
	}
	first := func(op *operation) string {
		if len(op.Tags) == 0 {
			return "Other"
		}
		return op.Tags[0]
	}
	var unlisted []string
	for _, op := range ops {
		unlisted = append(unlisted, first(op))
	}
	slices.Sort(unlisted)
	for _, name := range unlisted {
		add(name, "")
	}
	for _, op := range ops {
		g := &out[at[first(op)]]
		g.Ops = append(g.Ops, view(op))
	}
	return slices.DeleteFunc(out, func(g group) bool { return len(g.Ops) == 0 })
}

// faults parses x-errors: an array of codes, or of objects with code, status
// and when (or description).
func (d *document) faults(raw json.RawMessage) ([]fault, error) {
	if raw == nil {
		return nil, nil
	}
	var entries []json.RawMessage
	if err := json.Unmarshal(raw, &entries); err != nil {
		return nil, err
	}
	var out []fault
	for _, entry := range entries {
		var row struct {
			Code        string          `json:"code"`
			Status      json.RawMessage `json:"status"`
			When        string          `json:"when"`
			Description string          `json:"description"`
		}
		if json.Unmarshal(entry, &row.Code) != nil {
			if err := json.Unmarshal(entry, &row); err != nil {
				return nil, err
			}
		}
		text := row.When
		if text == "" {
			text = row.Description
		}
		out = append(out, fault{Code: row.Code, Status: compact(row.Status), Text: d.markdown(text, noHeadings)})
	}
	return out, nil
}

func (d *document) schemaView(name string) schemaView {
	s := d.Components.Schemas[name]
	if s == nil {
		s = &schema{}
	}
	ref := &schema{Ref: "#/components/schemas/" + name}
	shape, _ := d.shape(s)
	v := schemaView{ID: schemaID(name), Name: name, Type: d.typeOf(s, 0), Text: d.markdown(shape.Description, 4)}
	if v.Fields = d.children(ref, "", 0, 1, nil); len(v.Fields) == 0 {
		v.Notes, v.Values, v.Default = notes(shape), values(shape), defaultOf(shape)
	}
	if example, ok := d.sample(ref, nil, false); ok && example != nil {
		v.Example = pretty(example)
	}
	return v
}

// numeric returns the status of a key in the responses object. It returns 400 for "4XX" and
// 1000 for "default".
func numeric(status string) int {
	n, err := strconv.Atoi(strings.ReplaceAll(strings.ToUpper(status), "X", "0"))
	if err != nil {
		return 1000
	}
	return n
}
