package docs

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

func (d *document) operationView(op *operation, address string, status map[string]string) opView {
	security := op.Security
	if security == nil {
		security = &d.Security
	}
	// An empty list or an empty alternative means that no token is required.
	public := op.Security != nil && len(*security) == 0
	for _, choice := range *security {
		public = public || len(choice) == 0
	}
	params := d.parameters(op)
	v := opView{
		ID: anchor(op.OperationID), Name: op.OperationID, Method: op.method, Path: op.path, Scope: op.Scope,
		Summary: op.Summary, PathParts: pathParts(op.path), Deprecated: op.Deprecated, Public: public,
		Inputs:   d.inputs(op, params),
		Programs: append([]program{{"curl", d.curl(op, address+op.path, params, public)}}, d.snippets[op.OperationID]...),
	}
	if strings.TrimSpace(op.Description) != strings.TrimSpace(op.Summary) {
		v.Text = d.markdown(op.Description, 4)
	}
	seen := map[string]bool{}
	for _, code := range slices.SortedStableFunc(slices.Values(slices.Sorted(maps.Keys(op.Responses))),
		func(a, b string) int {
			return numeric(a) - numeric(b)
		}) {
		r := d.response(op.Responses[code])
		if r == nil {
			continue
		}
		if numeric(code) < 400 {
			v.Responses = append(v.Responses, d.responseView(code, r))
			continue
		}
		refusal := refusal{Status: code, Text: d.markdown(r.Description, noHeadings)}
		for _, name := range d.codes(r) {
			refusal.Codes = append(refusal.Codes, faultLink(name, status))
			seen[name] = true
		}
		v.Refusals = append(v.Refusals, refusal)
	}
	v.Refusals = d.ownFaults(op, v.Refusals, seen, status)
	return v
}

// ownFaults adds the codes in the operation's x-errors to the rows of out with the
// same status. It adds a row if there is none.
func (d *document) ownFaults(op *operation, out []refusal, seen map[string]bool, status map[string]string) []refusal {
	own, err := d.faults(op.Errors)
	if err != nil {
		return out // x-errors has an unknown format; show the responses without it
	}
	for _, f := range own {
		if seen[f.Code] {
			continue
		}
		seen[f.Code] = true
		if f.Status == "" {
			f.Status = status[f.Code]
		}
		if f.Status != "" {
			f.Status = strings.Fields(f.Status)[0]
		}
		i := slices.IndexFunc(out, func(r refusal) bool { return r.Status == f.Status })
		if i < 0 {
			out = append(out, refusal{Status: f.Status, Text: f.Text})
			i = len(out) - 1
		}
		out[i].Codes = append(out[i].Codes, faultLink(f.Code, status))
	}
	slices.SortStableFunc(out, func(a, b refusal) int { return numeric(a.Status) - numeric(b.Status) })
	return out
}

func faultLink(code string, status map[string]string) word {
	if _, ok := status[code]; ok {
		return word{code, "#error-" + anchor(code)}
	}
	return word{Text: code}
}

// codes returns the error codes of a response: its x-codes, else the codes in its
// examples, else the enum of error.code in its schema.
func (d *document) codes(r *response) []string {
	if len(r.Codes) > 0 {
		return r.Codes
	}
	var out []string
	add := func(raw json.RawMessage) {
		var body struct {
			Error struct {
				Code string `json:"code"`
			} `json:"error"`
		}
		if raw != nil && json.Unmarshal(raw, &body) == nil && body.Error.Code != "" &&
			!slices.Contains(out, body.Error.Code) {
			out = append(out, body.Error.Code)
		}
	}
	_, media := pick(r.Content)
	if media == nil {
		return nil
	}
	add(media.Example)
	for _, name := range slices.Sorted(maps.Keys(media.Examples)) {
		if media.Examples[name] != nil {
			add(media.Examples[name].Value)
		}
	}
	if len(out) > 0 || media.Schema == nil || media.Schema.Ref != "" {
		return out
	}
	body, _ := d.shape(media.Schema)
	inner, _ := d.shape(body.Properties["error"])
	code, _ := d.shape(inner.Properties["code"])
	return values(code)
}

// parameters returns the parameters of an operation, with references resolved.
// A parameter of the operation replaces the path item's parameter with the same name
// and location.
func (d *document) parameters(op *operation) []*parameter {
	var out []*parameter
	for _, p := range op.Parameters {
		if p != nil && p.Ref != "" {
			p = d.Components.Parameters[lastSegment(p.Ref)]
		}
		if p == nil {
			continue
		}
		if i := slices.IndexFunc(out, func(o *parameter) bool { return o.In == p.In && o.Name == p.Name }); i >= 0 {
			out[i] = p
			continue
		}
		out = append(out, p)
	}
	return out
}

func (d *document) inputs(op *operation, params []*parameter) []table {
	var out []table
	for _, location := range []struct{ in, title string }{
		{"path", "Path parameters"}, {"query", "Query parameters"}, {"header", "Request headers"}, {"cookie", "Cookies"},
	} {
		t := table{Title: location.title}
		for _, p := range params {
			if p.In == location.in {
				t.Fields = append(t.Fields, d.parameterRow(p.Name, p, p.Required || p.In == "path"))
			}
		}
		if len(t.Fields) > 0 {
			out = append(out, t)
		}
	}
	if kind, media := d.body(op); media != nil {
		t := table{Title: "Body", Fields: d.fields(media.Schema, bodyDepth)}
		if kind != "application/json" {
			t.Title += " (" + kind + ")"
		}
		t.Text = d.markdown(d.requestBody(op).Description, noHeadings)
		out = append(out, t)
	}
	return out
}

func (d *document) parameterRow(name string, p *parameter, required bool) field {
	f := d.row("", name, p.Schema, required)
	if p.Description != "" {
		f.Text = d.markdown(p.Description, noHeadings)
	}
	if p.Deprecated {
		f.Flag = "deprecated"
	}
	return f
}

func (d *document) requestBody(op *operation) *requestBody {
	if op.RequestBody != nil && op.RequestBody.Ref != "" {
		return d.Components.RequestBodies[lastSegment(op.RequestBody.Ref)]
	}
	return op.RequestBody
}

func (d *document) body(op *operation) (string, *mediaType) {
	if b := d.requestBody(op); b != nil {
		return pick(b.Content)
	}
	return "", nil
}

// pick returns one of the media types and its name, preferably JSON.
func pick(content map[string]*mediaType) (string, *mediaType) {
	if m := content["application/json"]; m != nil {
		return "application/json", m
	}
	for _, kind := range slices.Sorted(maps.Keys(content)) {
		if content[kind] != nil {
			return kind, content[kind]
		}
	}
	return "", nil
}

func (d *document) response(r *response) *response {
	if r != nil && r.Ref != "" {
		return d.Components.Responses[lastSegment(r.Ref)]
	}
	return r
}

func (d *document) responseView(code string, r *response) responseView {
	v := responseView{Status: code, Text: d.markdown(r.Description, noHeadings)}
	for _, name := range slices.Sorted(maps.Keys(r.Headers)) {
		h := r.Headers[name]
		if h != nil && h.Ref != "" {
			h = d.Components.Headers[lastSegment(h.Ref)]
		}
		if h != nil {
			v.Headers = append(v.Headers, d.parameterRow(name, h, h.Required))
		}
	}
	kind, media := pick(r.Content)
	if media == nil {
		return v
	}
	v.Kind, v.Fields = kind, d.fields(media.Schema, responseDepth)
	for i := range v.Fields {
		v.Fields[i].Required = false // the page shows "required" only for requests
	}
	if raw, ok := given(media.Example, media.Examples); ok {
		v.Example = pretty(raw)
	} else if value, ok := d.sample(media.Schema, nil, false); ok && value != nil {
		v.Example = pretty(value)
	}
	return v
}

// pathParts splits a path into its parameters and the text between them.
func pathParts(path string) []word {
	var out []word
	for path != "" {
		open := strings.IndexByte(path, '{')
		end := strings.IndexByte(path, '}')
		if open < 0 || end < open {
			return append(out, word{Text: path})
		}
		if open > 0 {
			out = append(out, word{Text: path[:open]})
		}
		out = append(out, word{path[open : end+1], "p"})
		path = path[end+1:]
	}
	return out
}
