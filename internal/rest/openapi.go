package rest

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cardwall/internal/asset"
	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/session"
)

const introduction = "Workspaces contain boards, boards contain lists, and lists contain cards. " +
	"Most operations are also tools of the MCP endpoint, with the same name, input and checks.\n\n" +
	"A successful response is an object with `data`. A list also has `nextCursor` if there are more records, " +
	"and a change to a board has `boardVersion`. An error is `{\"error\": {\"code\", \"message\"}}`. " +
	"If a field is invalid, the message names the field and its allowed values.\n\n" +
	"Paging with a cursor neither repeats nor skips a record that keeps its position, even while others write.\n\n" +
	"Every response to a GET has an ETag. A GET with this value in If-None-Match returns 304 if nothing has changed, and a write with the " +
	"ETag of the object at the start of its path in If-Match is refused if the object has changed."

const applicationIntroduction = "Operations that only the web app uses, in addition to the public API. " +
	"They can change with every version. Programs should use the public API."

// responsePrefix is the path of shared responses in the document.
const responsePrefix = "#/components/responses/"

// notModified is the name of the response with the status 304.
const notModified = "NotModified"

// refusal is a row of the error table in the document.
type refusal struct {
	Code   board.Code `json:"code"`
	Status int        `json:"status"`
	When   string     `json:"when"`
}

// refusals returns the table of all error codes.
func refusals() []refusal {
	table := []refusal{
		{board.CodeInvalidRequest, 0, "A field or parameter is invalid, unknown or missing, " +
			"or the idempotency key was used for a different request. " +
			"The status is 409 while the first request with the key is in progress, and if a part does not continue its upload, " +
			"412 if a precondition or the version of tus does not match, 413 for a body over 1 MiB, " +
			"415 for an unsupported content type, 416 for a wrong range, and 405 for an unsupported method."},
		{board.CodeUnauthenticated, 0, "The credentials are missing or invalid."},
		{board.CodePlanLimit, 0, "The organization has reached a limit of its plan."},
		{board.CodePlanReadOnly, 0, "The organization is read-only."},
		{board.CodeForbidden, 0, "The caller is not allowed to do this."},
		{board.CodeInsufficientScope, 0, "The token does not have the required scope."},
		{board.CodeNotFound, 0, "The object does not exist, or the caller cannot see it."},
		{board.CodeArchived, 0, "The list or card is archived. Restore it before you change it."},
		{board.CodeBoardArchived, 0, "The board is archived. Restore it before you change it."},
		{board.CodeCapacityFull, 0, "The list has reached its hard WIP limit."},
		{board.CodePowerupDisabled, 0, "The feature is disabled on this board. Stored values can still be read."},
		{board.CodeLimitReached, 0, "A fixed limit has been reached. The message names the limit."},
		{board.CodeRateLimited, 0, "Too many requests. Wait for the time given in Retry-After."},
		{board.CodeInternal, 0, "An unexpected error occurred. The message contains the request id, which is also in the server log."},
		{board.CodeUnavailable, 0, "The service is temporarily unavailable. Try again after the time given in Retry-After."},
	}
	for i := range table {
		table[i].Status = StatusOf(&board.Fault{Code: table[i].Code})
	}
	return table
}

// Document returns the OpenAPI 3.1 description of the public API.
func Document(r *op.Registry, version string) *huma.OpenAPI {
	return document(r, version, false)
}

// ApplicationDocument returns the OpenAPI 3.1 description of the operations that
// only the web app uses.
func ApplicationDocument(r *op.Registry, version string) *huma.OpenAPI {
	return document(r, version, true)
}

func document(r *op.Registry, version string, application bool) *huma.OpenAPI {
	doc := newDocument(version, application)
	r.Schemas.Map()["Error"] = &huma.Schema{
		Type: huma.TypeObject, Required: []string{"error"}, AdditionalProperties: false, Description: "An error.",
		Properties: map[string]*huma.Schema{"error": {Ref: op.SchemaPrefix + op.ErrorSchema}},
	}
	r.Schemas.Map()[op.ErrorSchema] = errorSchema()
	areas, calls := map[string][]string{}, examples()
	for _, o := range r.All() {
		if (o.Audience != op.Public) != application {
			continue
		}
		areas[o.Area] = append(areas[o.Area], o.Name)
		if o.Tagged() || o.HasContent() {
			doc.Components.Headers["ETag"] = tagHeader()
			doc.Components.Responses[notModified] = &huma.Response{
				Description: "The response has not changed: it still has the entity tag in If-None-Match.", Headers: headerRefs("X-Request-Id", "ETag"),
			}
		}
		if o.Starts() {
			doc.Components.Responses[jobStartedName] = started(r)
		}
		for _, status := range errorStatuses() {
			if possible(o, status) {
				doc.Components.Responses[responseName(status)] = errorResponse(status)
			}
		}
		entry := describe(r, o)
		if isUpload(o) {
			describeUpload(doc, entry, o)
		}
		if o.TakesPicture() {
			describePicture(entry)
		}
		calls[o.Name].addTo(entry)
		doc.AddOperation(entry)
	}
	for _, a := range r.Areas {
		if names := areas[a.Name]; names != nil {
			doc.Tags = append(doc.Tags, &huma.Tag{
				Name: a.Name, Description: a.Description, Extensions: map[string]any{"x-operations": names},
			})
		}
	}
	if !application {
		addWebhooks(doc, r)
	}
	shareParameters(doc)
	shareResponses(doc)
	doc.Components.Schemas = schemasOf(doc, r.Schemas)
	return doc
}

// newDocument returns a document without operations.
func newDocument(version string, application bool) *huma.OpenAPI {
	title, about, prefix := "Cardwall", introduction+budgets(), Prefix
	if application {
		title, about, prefix = "Cardwall application", applicationIntroduction, ApplicationPrefix
	}
	doc := &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{
			Title: title, Version: version, Description: about,
			Contact: &huma.Contact{Name: "The operator of this server"},
			License: &huma.License{Name: "Apache-2.0", Identifier: "Apache-2.0"},
		},
		Servers:  []*huma.Server{{URL: prefix, Description: "This server."}},
		Security: []map[string][]string{{"token": {}}},
		Components: &huma.Components{
			SecuritySchemes: map[string]*huma.SecurityScheme{"token": {
				Type: "http", Scheme: "bearer", BearerFormat: "cwl_…",
				Description: "A personal API token. Its scopes are read (always included), write and admin. " +
					"The admin scope does not include the write scope.",
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
			Description: "The session of a person who is signed in with a browser. " +
				"Requests that change something must come from pages of this server.",
		}
	}
	return doc
}

// Encode returns the document as indented JSON. The same document always has the
// same encoding.
func Encode(doc *huma.OpenAPI) ([]byte, error) {
	b, err := json.Marshal(doc, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("encode the OpenAPI document: %w", err)
	}
	v := jsontext.Value(b)
	if err := v.Indent(jsontext.WithIndent(" ")); err != nil { // many tools read JSON as YAML, which has no tabs
		return nil, fmt.Errorf("indent the OpenAPI document: %w", err)
	}
	return append(v, '\n'), nil
}

// serveDocument serves a description of the API without authentication. It encodes the
// description on the first request.
func (h *handler) serveDocument(path string, write func() ([]byte, error)) {
	encode := sync.OnceValues(func() (*asset.Asset, error) {
		body, err := write()
		if err != nil {
			return nil, err
		}
		return asset.New(body, op.JSON)
	})
	h.mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) {
		session.SetRate(w.Header(), h.Gate.AnonymousRate(r))
		encoded, err := encode()
		if err != nil {
			h.refuse(w, r, err)
			return
		}
		w.Header().Set("Cache-Control", "public, max-age=300")
		encoded.ServeHTTP(w, r)
	})
}

func describe(r *op.Registry, o *op.Operation) *huma.Operation {
	entry := &huma.Operation{
		Method: o.Method, Path: o.Path, OperationID: o.Name, Tags: []string{o.Area},
		Summary: o.Summary, Description: o.Description, Parameters: parameters(o),
		Responses:  map[string]*huma.Response{},
		Extensions: map[string]any{"x-scope": o.Scope},
	}
	switch {
	case o.Audience.NeedsNoAccount():
		entry.Security = []map[string][]string{{}}
	case o.Audience.NeedsSession():
		entry.Security = []map[string][]string{{"session": {}}}
	}
	if o.Input.Body != nil {
		entry.RequestBody = &huma.RequestBody{
			Required: len(o.Input.Body.Required) > 0,
			Content:  map[string]*huma.MediaType{"application/json": {Schema: o.Input.Body}},
		}
		if o.TakesFile() {
			entry.RequestBody.Content["multipart/form-data"] = &huma.MediaType{Schema: formSchema(o)}
		}
	}
	status := http.StatusOK
	if o.Creates {
		status = http.StatusCreated
	}
	entry.Responses[strconv.Itoa(status)] = success(r, o)
	if o.HasContent() {
		part := *entry.Responses[strconv.Itoa(status)]
		part.Description = "The range of the file that the Range header asks for."
		entry.Responses[strconv.Itoa(http.StatusPartialContent)] = &part
	}
	if o.Tagged() || o.HasContent() {
		entry.Responses[strconv.Itoa(http.StatusNotModified)] = &huma.Response{Ref: responsePrefix + notModified}
	}
	if o.Starts() {
		entry.Responses[strconv.Itoa(jobStarted)] = &huma.Response{Ref: responsePrefix + jobStartedName}
	}
	for _, status := range errorStatuses() {
		if possible(o, status) {
			entry.Responses[strconv.Itoa(status)] = &huma.Response{Ref: responsePrefix + responseName(status)}
		}
	}
	return entry
}

// parameters describes the parameters and headers that an operation reads.
func parameters(o *op.Operation) []*huma.Param {
	var params []*huma.Param
	for _, f := range o.Input.Fields {
		if f.In != op.InBody {
			params = append(params, &huma.Param{
				Name: f.Name, In: string(f.In), Required: f.Required, Schema: f.Schema, Description: f.Schema.Description,
			})
		}
	}
	params = append(params, choices(o)...)
	if o.Keyed() {
		params = append(params, &huma.Param{
			Name: "Idempotency-Key", In: "header", Schema: &huma.Schema{
				Type: huma.TypeString, MinLength: new(1), MaxLength: new(op.MaxKey),
				Examples: []any{"5f0c7d3a-create-card"},
			},
			Description: "Makes retries safe. If you repeat the request with the same key within 24 hours, you get the first " +
				"response, with the Idempotent-Replayed header.",
		})
	}
	if o.Tagged() {
		params = append(params, conditional("If-None-Match", "Entity tag of an earlier response. If the response has not changed "+
			"since, the status is 304, and there is no body."))
	}
	if o.Conditional() {
		params = append(params, conditional("If-Match", "Entity tag of the object at the start of the path, from a response of the "+
			"operation that reads it. If the object has changed since, the status is 412, and nothing changes."))
	}
	return params
}

// formSchema returns the schema of a request with a file.
func formSchema(o *op.Operation) *huma.Schema {
	s := &huma.Schema{
		Type: huma.TypeObject, AdditionalProperties: false, Required: []string{"file"}, Properties: map[string]*huma.Schema{
			"file": {Type: huma.TypeString, Format: "binary", Description: "The file. It must be the last part."},
		},
	}
	for name, p := range o.Input.Body.Properties {
		if name != "url" {
			s.Properties[name] = p
		}
	}
	return s
}

// success describes the successful response of an operation.
func success(r *op.Registry, o *op.Operation) *huma.Response {
	if o.HasContent() {
		return &huma.Response{
			Description: "The content of the file.",
			Headers: headerRefs("X-Request-Id", "ETag", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset",
				"X-RateLimit-Resource"),
			Content: map[string]*huma.MediaType{o.Media: {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}},
		}
	}
	if o.Streams() {
		text := "The document as a stream. A document that does not end with complete: true is incomplete."
		schema := r.WrittenSchema(o)
		if schema == nil {
			schema = &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
		}
		if o.Media != op.JSON {
			text = "The document as a stream. An incomplete document ends in the middle of a chunk, " +
				"which HTTP clients report as an error."
			schema = &huma.Schema{Type: huma.TypeString}
		}
		return &huma.Response{
			Description: text,
			Headers: headerRefs("X-Request-Id", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset",
				"X-RateLimit-Resource"),
			Content: map[string]*huma.MediaType{o.Media: {Schema: schema}},
		}
	}
	names := []string{"X-Request-Id", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "X-RateLimit-Resource"}
	if o.Tagged() {
		names = append(names, "ETag")
	}
	if o.Keyed() {
		names = append(names, "Idempotent-Replayed")
	}
	return &huma.Response{
		Description: "Success.", Headers: headerRefs(names...),
		Content: map[string]*huma.MediaType{op.JSON: {Schema: envelope(r, o)}},
	}
}

// enum converts values to the enum of a schema.
func enum[T ~string](values []T) []any {
	out := make([]any, len(values))
	for i, v := range values {
		out[i] = string(v)
	}
	return out
}

func errorSchema() *huma.Schema {
	codes := []any{}
	for _, row := range refusals() {
		codes = append(codes, string(row.Code))
	}
	return &huma.Schema{
		Type: huma.TypeObject, Required: []string{"code", "message"}, AdditionalProperties: false,
		Properties: map[string]*huma.Schema{
			"code": {
				Type: huma.TypeString, Enum: codes, Description: "Machine-readable error code.",
				Examples: []any{"not_found"},
			},
			"message": {
				Type:        huma.TypeString,
				Description: "Explanation for people. For an invalid field, the message names the field and its allowed values.",
				Examples:    []any{"title is required."},
			},
			"reason": {
				Type: huma.TypeString, Extensions: map[string]any{"x-extensible-enum": enum(board.Reasons())},
				Description: "Distinguishes errors that have the same code but must be handled differently: " +
					board.JoinValues(board.Reasons()) + ". Later versions may add reasons. Absent for most errors.",
			},
			"current": {
				Type: huma.TypeObject, AdditionalProperties: true,
				Description: "The current state of the object, as the operation that reads it returns it. Only present if reason is version_conflict.",
			},
			"details": {
				Type: huma.TypeArray, Items: detailSchema(),
				Description: "The invalid fields of an invalid_request. Absent if the error does not concern specific fields.",
			},
		},
	}
}

func detailSchema() *huma.Schema {
	return &huma.Schema{
		Type: huma.TypeObject, Required: []string{"field", "rule"}, AdditionalProperties: false,
		Properties: map[string]*huma.Schema{
			"field": {
				Type: huma.TypeString, Description: "Path of the field or parameter. Empty for the whole body.",
				Examples: []any{"due.date"},
			},
			"rule": {
				Type: huma.TypeString, Enum: enum(board.FieldRules()),
				Description: "The rule that the field breaks: it is missing (required), the operation does not have it (unknown), " +
					"it must not be empty (empty), or its value is not allowed (value).",
			},
			"allowed": {
				Type: huma.TypeString, Description: "The allowed values or names, as in the message. Absent if they cannot be listed.",
				Examples: []any{"a whole number from 1 to 200"},
			},
		},
	}
}

func errorStatuses() []int {
	var out []int
	for _, row := range refusals() {
		if !slices.Contains(out, row.Status) {
			out = append(out, row.Status)
		}
	}
	for _, cause := range []board.Cause{board.CausePrecondition, board.CauseTooLarge, board.CauseMediaType, board.CauseRange} {
		out = append(out, StatusOf(&board.Fault{Code: board.CodeInvalidRequest, Cause: cause}))
	}
	return out
}

// possible reports whether an operation can return a status.
func possible(o *op.Operation, status int) bool {
	switch status {
	case http.StatusPaymentRequired, http.StatusConflict:
		return !o.ReadOnly
	case http.StatusPreconditionFailed:
		return o.HasContent() || o.Conditional() || isUpload(o)
	case http.StatusRequestedRangeNotSatisfiable:
		return o.HasContent()
	case http.StatusRequestEntityTooLarge:
		return o.Input.Body != nil || o.TakesPicture()
	case http.StatusUnsupportedMediaType:
		return o.Input.Body != nil || o.TakesPart() || o.TakesPicture()
	}
	return true
}

func responseName(status int) string {
	return map[int]string{
		400: "BadRequest", 401: "Unauthorized", 402: "PaymentRequired", 403: "Forbidden",
		404: "NotFound", 409: "Conflict", 412: "PreconditionFailed", 413: "TooLarge", 415: "UnsupportedMediaType", 416: "WrongRange",
		429: "TooManyRequests", 500: "InternalError", 503: "Unavailable",
	}[status]
}

func errorResponse(status int) *huma.Response {
	names := []string{"X-Request-Id", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "X-RateLimit-Resource"}
	codes := []string{}
	text := ""
	for _, row := range refusals() {
		if row.Status == status ||
			row.Code == board.CodeInvalidRequest && slices.Contains([]int{409, 412, 413, 415, 416}, status) {
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
	case http.StatusUnauthorized, http.StatusForbidden:
		names = append(names, "WWW-Authenticate")
	case http.StatusConflict, http.StatusTooManyRequests, http.StatusServiceUnavailable:
		names = append(names, "Retry-After")
	case http.StatusPreconditionFailed:
		names = append(names, "ETag")
		text = "`invalid_request`: The object or file does not match If-Match or If-Unmodified-Since, or the client uses " +
			"another version of tus. If the object has changed, `reason` is `version_conflict`, and `current` and `ETag` " +
			"contain its current state and entity tag."
	case http.StatusRequestedRangeNotSatisfiable:
		text = "`invalid_request`: The file does not have the range in the Range header."
	case http.StatusRequestEntityTooLarge:
		text = "`invalid_request`: The body is larger than 1 MiB."
	case http.StatusUnsupportedMediaType:
		text = "`invalid_request`: The body does not have the operation's media type, usually application/json."
	}
	return &huma.Response{
		Description: text, Headers: headerRefs(names...),
		Content:    map[string]*huma.MediaType{"application/json": {Schema: &huma.Schema{Ref: op.SchemaPrefix + "Error"}}},
		Extensions: map[string]any{"x-codes": codes},
	}
}
