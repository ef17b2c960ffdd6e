package rest

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cardwall/internal/board"
	"cardwall/internal/op"
)

const introduction = `Workspaces hold boards, boards hold lists, lists hold cards. Every operation here is also a tool of the MCP endpoint, with the same name, the same input and the same checks.

A successful answer is an object with ` + "`data`" + `; a list adds ` + "`nextCursor`" + ` when more follow, a change of a board adds ` + "`boardVersion`" + `. A refusal is ` + "`{\"error\": {\"code\", \"message\"}}`" + `; the message names the field and says what is allowed.

Walking a list by cursor while others write never repeats a record and never skips one that stayed where it was.`

const applicationIntroduction = `What the pages of the application do beside the public interface. It follows the pages and changes with them; programs use the public interface.`

// refusal is a code with its HTTP status, for the document.
type refusal struct {
	Code   board.Code `json:"code"`
	Status int        `json:"status"`
	When   string     `json:"when"`
}

// refusals is the table of all codes.
func refusals() []refusal {
	table := []refusal{
		{board.CodeInvalidRequest, 0, "A field or parameter is wrong, unknown or missing, or the idempotency key was used for another request. 409 while the first request with the key still runs, 413 for a body over 1 MiB, 415 for another content type, 405 for another method."},
		{board.CodeUnauthenticated, 0, "There is no valid token."},
		{board.CodePlanLimit, 0, "The limit of the organization's plan is reached."},
		{board.CodePlanReadOnly, 0, "The organization's plan is read-only."},
		{board.CodeForbidden, 0, "The token's owner may not do this."},
		{board.CodeInsufficientScope, 0, "The token lacks the needed scope."},
		{board.CodeNotFound, 0, "The object is absent or not visible; the two answers are alike."},
		{board.CodeArchived, 0, "The list or card is archived; only restoring changes it."},
		{board.CodeBoardArchived, 0, "The board is archived; only restoring changes it."},
		{board.CodeCapacityFull, 0, "The list's hard WIP limit is reached."},
		{board.CodePowerupDisabled, 0, "The board's feature is off; what was stored stays readable."},
		{board.CodeLimitReached, 0, "A fixed cap is reached; the message names it."},
		{board.CodeRateLimited, 0, "Too many requests; Retry-After says how long to wait."},
		{board.CodeInternal, 0, "Something unexpected; the message gives the request id that the log has."},
		{board.CodeUnavailable, 0, "The service cannot do this right now; Retry-After says when to try again."},
	}
	for i := range table {
		table[i].Status = StatusOf(&board.Fault{Code: table[i].Code})
	}
	return table
}

// Document is the OpenAPI 3.1 description of the public interface.
func Document(r *op.Registry, version string) *huma.OpenAPI {
	return document(r, version, false)
}

// ApplicationDocument is that of the operations which the application's pages
// add to the public ones.
func ApplicationDocument(r *op.Registry, version string) *huma.OpenAPI {
	return document(r, version, true)
}

func document(r *op.Registry, version string, application bool) *huma.OpenAPI {
	title, about, prefix := "Cardwall", introduction, Prefix
	if application {
		title, about, prefix = "Cardwall application", applicationIntroduction, ApplicationPrefix
	}
	doc := &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{
			Title: title, Version: version, Description: about,
			License: &huma.License{Name: "Apache-2.0", Identifier: "Apache-2.0"},
		},
		Servers:  []*huma.Server{{URL: prefix, Description: "This server."}},
		Security: []map[string][]string{{"token": {}}},
		Components: &huma.Components{
			SecuritySchemes: map[string]*huma.SecurityScheme{"token": {
				Type: "http", Scheme: "bearer", BearerFormat: "cwl_…",
				Description: "A personal API token. Its scopes are read (always), write and admin; admin does not include write.",
			}},
			Headers:   headers(),
			Responses: map[string]*huma.Response{},
		},
		Paths:      map[string]*huma.PathItem{},
		Extensions: map[string]any{"x-errors": refusals()},
	}
	if application {
		doc.Security = append(doc.Security, map[string][]string{"session": {}})
		doc.Components.SecuritySchemes["session"] = &huma.SecurityScheme{
			Type: "apiKey", In: "cookie", Name: "__Host-cardwall",
			Description: "The session of a person who is signed in with a browser. What it changes must come from pages of this server.",
		}
	}
	r.Schemas.Map()["Error"] = errorSchema()
	for _, status := range errorStatuses() {
		doc.Components.Responses[responseName(status)] = errorResponse(status)
	}
	areas, calls := map[string]bool{}, examples()
	for i, o := range r.All() {
		if o.Application != application {
			continue
		}
		areas[o.Area] = true
		item := doc.Paths[o.Path]
		if item == nil {
			item = &huma.PathItem{}
			doc.Paths[o.Path] = item
		}
		entry := describe(r, o)
		calls[o.Name].show(entry)
		entry.Extensions["x-order"] = i
		switch o.Method {
		case http.MethodGet:
			item.Get = entry
		case http.MethodPost:
			item.Post = entry
		case http.MethodPut:
			item.Put = entry
		case http.MethodPatch:
			item.Patch = entry
		case http.MethodDelete:
			item.Delete = entry
		}
	}
	for _, a := range r.Areas {
		if areas[a.Name] {
			doc.Tags = append(doc.Tags, &huma.Tag{Name: a.Name, Description: a.Description})
		}
	}
	if !application {
		doc.Webhooks = webhooks(r)
	}
	doc.Components.Schemas = schemasOf(doc, r.Schemas)
	return doc
}

// usedSchemas are those of a registry that one document needs.
type usedSchemas struct {
	huma.Registry
	used map[string]*huma.Schema
}

// Map is the schemas by name.
func (u usedSchemas) Map() map[string]*huma.Schema { return u.used }

// MarshalJSON writes the used schemas alone.
func (u usedSchemas) MarshalJSON() ([]byte, error) {
	return json.Marshal(u.used, json.Deterministic(true))
}

// schemasOf are the schemas that a document refers to, and those that they do.
func schemasOf(doc *huma.OpenAPI, all huma.Registry) huma.Registry {
	u := usedSchemas{all, map[string]*huma.Schema{}}
	content := func(types map[string]*huma.MediaType) {
		for _, t := range types {
			u.follow(t.Schema)
		}
	}
	answers := func(responses map[string]*huma.Response) {
		for _, r := range responses {
			content(r.Content)
		}
	}
	answers(doc.Components.Responses)
	items := slices.AppendSeq(slices.Collect(maps.Values(doc.Paths)), maps.Values(doc.Webhooks))
	for _, item := range items {
		for _, o := range []*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete} {
			if o == nil {
				continue
			}
			for _, p := range o.Parameters {
				u.follow(p.Schema)
			}
			if o.RequestBody != nil {
				content(o.RequestBody.Content)
			}
			answers(o.Responses)
		}
	}
	return u
}

// follow notes the schemas that a schema refers to.
func (u usedSchemas) follow(s *huma.Schema) {
	if s == nil {
		return
	}
	if name, ok := strings.CutPrefix(s.Ref, op.SchemaPrefix); ok && u.used[name] == nil {
		if to := u.Registry.Map()[name]; to != nil {
			u.used[name] = to
			u.follow(to)
		}
	}
	u.follow(s.Items)
	u.follow(s.Not)
	if more, ok := s.AdditionalProperties.(*huma.Schema); ok {
		u.follow(more)
	}
	for _, p := range s.Properties {
		u.follow(p)
	}
	for _, s := range slices.Concat(s.OneOf, s.AnyOf, s.AllOf) {
		u.follow(s)
	}
}

// Encode writes the document as JSON with a stable order.
func Encode(doc *huma.OpenAPI) ([]byte, error) {
	b, err := json.Marshal(doc, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("encode the OpenAPI document: %w", err)
	}
	v := jsontext.Value(b)
	if err := v.Indent(jsontext.WithIndent("  ")); err != nil {
		return nil, fmt.Errorf("indent the OpenAPI document: %w", err)
	}
	return append(v, '\n'), nil
}

func describe(r *op.Registry, o *op.Operation) *huma.Operation {
	entry := &huma.Operation{
		OperationID: o.Name, Tags: []string{o.Area}, Summary: o.Summary, Description: o.Description,
		Responses:  map[string]*huma.Response{},
		Extensions: map[string]any{"x-scope": o.Scope},
	}
	for _, f := range o.Input.Fields {
		if f.In == op.InBody {
			continue
		}
		p := &huma.Param{Name: f.Name, In: string(f.In), Required: f.Required, Schema: f.Schema, Description: f.Schema.Description}
		entry.Parameters = append(entry.Parameters, p)
	}
	switch {
	case o.Anonymous:
		entry.Security = []map[string][]string{{}}
	case o.SignedIn:
		entry.Security = []map[string][]string{{"session": {}}}
	}
	if !o.ReadOnly && !o.Unkeyed {
		entry.Parameters = append(entry.Parameters, &huma.Param{
			Name: "Idempotency-Key", In: "header", Schema: &huma.Schema{Type: huma.TypeString, MinLength: new(1), MaxLength: new(op.MaxKey), Examples: []any{"5f0c7d3a-create-card"}},
			Description: "Makes repeating safe: a request with the same key within 24 hours is answered as the first was, with the header Idempotent-Replayed.",
		})
	}
	if o.Input.Body != nil {
		entry.RequestBody = &huma.RequestBody{Required: len(o.Input.Body.Required) > 0, Content: map[string]*huma.MediaType{"application/json": {Schema: o.Input.Body}}}
	}
	status := http.StatusOK
	if o.Creates {
		status = http.StatusCreated
	}
	entry.Responses[strconv.Itoa(status)] = success(r, o)
	for _, status := range errorStatuses() {
		if possible(o, status) {
			entry.Responses[strconv.Itoa(status)] = &huma.Response{Ref: "#/components/responses/" + responseName(status)}
		}
	}
	return entry
}

// success is the envelope of one operation.
func success(r *op.Registry, o *op.Operation) *huma.Response {
	if o.Streams() {
		text, schema := "The document, streamed. A document without complete: true at its end was cut off.", &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
		if o.Media != op.JSON {
			text, schema = "The document, streamed. One that was cut off ends in the middle of a chunk, so that the client reports it.", &huma.Schema{Type: huma.TypeString}
		}
		return &huma.Response{
			Description: text,
			Headers:     headerRefs("X-Request-Id", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"),
			Content:     map[string]*huma.MediaType{o.Media: {Schema: schema}},
		}
	}
	s := &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{"data": r.Schema(o)}, Required: []string{"data"}, AdditionalProperties: false}
	if o.Pages {
		s.Properties["nextCursor"] = &huma.Schema{Type: huma.TypeString, Description: "Give it as cursor to get the next page; absent on the last."}
	}
	if echo := r.EchoSchema(o); echo != nil {
		s.Properties["query"] = echo
	}
	names := []string{"X-Request-Id", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"}
	if !o.ReadOnly {
		s.Properties["boardVersion"] = &huma.Schema{Type: huma.TypeInteger, Description: "The version of the board after this change; absent where no board was touched.", Examples: []any{42}}
		if !o.Unkeyed {
			names = append(names, "Idempotent-Replayed")
		}
	}
	return &huma.Response{Description: "Done.", Headers: headerRefs(names...), Content: map[string]*huma.MediaType{"application/json": {Schema: s}}}
}

func headerRefs(names ...string) map[string]*huma.Param {
	out := map[string]*huma.Param{}
	for _, n := range names {
		out[n] = &huma.Param{Ref: "#/components/headers/" + n}
	}
	return out
}

func headers() map[string]*huma.Header {
	number := func(text string, example int) *huma.Header {
		return &huma.Header{Description: text, Schema: &huma.Schema{Type: huma.TypeInteger, Examples: []any{example}}}
	}
	word := func(text, example string) *huma.Header {
		return &huma.Header{Description: text, Schema: &huma.Schema{Type: huma.TypeString, Examples: []any{example}}}
	}
	return map[string]*huma.Header{
		"X-Request-Id":          word("The request's id, as the log has it; the caller's own when it sent one.", "req_01jb2m3n4p5q6r7s8t9v0w1x2y"),
		"X-RateLimit-Limit":     number("Requests a minute that the token's owner has. After a search: searches a minute, unless fewer requests than searches are left.", 300),
		"X-RateLimit-Remaining": number("Requests, or searches, left in this window.", 299),
		"X-RateLimit-Reset":     number("When the window ends, in Unix seconds.", 1767225660),
		"Idempotent-Replayed":   word("true when this is the stored answer to an earlier request with the same key.", "true"),
		"Retry-After":           number("Seconds to wait before trying again.", 1),
		"WWW-Authenticate":      word("How to authenticate (RFC 6750, RFC 9728).", "Bearer realm=\"cardwall\""),
	}
}

func errorSchema() *huma.Schema {
	codes := []any{}
	for _, row := range refusals() {
		codes = append(codes, string(row.Code))
	}
	return &huma.Schema{
		Type: huma.TypeObject, Required: []string{"error"}, AdditionalProperties: false, Description: "A refusal.",
		Properties: map[string]*huma.Schema{"error": {
			Type: huma.TypeObject, Required: []string{"code", "message"}, AdditionalProperties: false,
			Properties: map[string]*huma.Schema{
				"code":    {Type: huma.TypeString, Enum: codes, Description: "What kind of refusal this is; meant for programs.", Examples: []any{"not_found"}},
				"message": {Type: huma.TypeString, Description: "What is wrong and what is allowed; meant for people.", Examples: []any{"title is required."}},
			},
		}},
	}
}

func errorStatuses() []int {
	var out []int
	for _, row := range refusals() {
		if !slices.Contains(out, row.Status) {
			out = append(out, row.Status)
		}
	}
	for _, cause := range []board.Cause{board.CauseTooLarge, board.CauseMediaType} {
		out = append(out, StatusOf(&board.Fault{Code: board.CodeInvalidRequest, Cause: cause}))
	}
	return out
}

// possible tells which statuses an operation can answer.
func possible(o *op.Operation, status int) bool {
	switch status {
	case http.StatusPaymentRequired, http.StatusConflict:
		return !o.ReadOnly
	case http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType:
		return o.Input.Body != nil
	}
	return true
}

func responseName(status int) string {
	return map[int]string{
		400: "BadRequest", 401: "Unauthorized", 402: "PaymentRequired", 403: "Forbidden", 404: "NotFound", 409: "Conflict",
		413: "TooLarge", 415: "UnsupportedMediaType", 429: "TooManyRequests", 500: "InternalError", 503: "Unavailable",
	}[status]
}

func errorResponse(status int) *huma.Response {
	names := []string{"X-Request-Id", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"}
	codes := []string{}
	text := ""
	for _, row := range refusals() {
		if row.Status == status || row.Code == board.CodeInvalidRequest && (status == 409 || status == 413 || status == 415) {
			codes = append(codes, string(row.Code))
		}
		if row.Status == status {
			if text != "" {
				text += " "
			}
			text += "`" + string(row.Code) + "`: " + row.When
		}
	}
	switch status {
	case http.StatusUnauthorized:
		names = append(names, "WWW-Authenticate")
	case http.StatusConflict, http.StatusTooManyRequests, http.StatusServiceUnavailable:
		names = append(names, "Retry-After")
	case http.StatusRequestEntityTooLarge:
		text = "`invalid_request`: The body is larger than 1 MiB."
	case http.StatusUnsupportedMediaType:
		text = "`invalid_request`: The body is not application/json."
	}
	return &huma.Response{
		Description: text, Headers: headerRefs(names...),
		Content:    map[string]*huma.MediaType{"application/json": {Schema: &huma.Schema{Ref: op.SchemaPrefix + "Error"}}},
		Extensions: map[string]any{"x-codes": codes},
	}
}
