package op

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// Operation describes an operation of the service: its route, options, schemas and functions.
type Operation struct {
	Name        string // also the operationId, the tool name and the name in the audit log
	Method      string
	Path        string // path below the API's prefix, with input fields as {field}
	Area        string // name of the area under which it is listed
	Summary     string // one sentence
	Description string // complete description; starts with the summary
	Audience    Audience
	Scope       board.Scope
	ReadOnly    bool
	Destructive bool             // may overwrite or delete existing data
	Creates     bool             // responds with 201
	Paged       bool             // returns an array with a cursor
	Continues   bool             // returns a record that may have a cursor
	Search      bool             // counts against the search limit
	Report      bool             // reads across boards; shed first during an overload
	Versioned   bool             // a query whose responses have a boardVersion
	Secret      bool             // the response contains a secret
	NoTool      bool             // excluded from the MCP tools
	Recent      bool             // a person in a session must have signed in within the last ten minutes
	Unkeyed     bool             // ignores the idempotency key
	Promoted    time.Time        // when the operation became public; zero if it has no path in the internal API
	Media       string           // media type of a stream, of content, of a picture, or of a part of a file
	Picture     board.PictureUse // what the picture in the request is for; zero if the request is not a picture
	Written     reflect.Type     // type of the JSON document that a stream writes; nil if its members are not described
	Expanded    reflect.Type     // type of the additional records from which callers choose; nil if there are none
	Echo        reflect.Type     // type of the parsed query in responses; nil if responses do not include it
	Input       *Input
	Output      reflect.Type // type of the response's data, or of its elements if Paged is set
	subject     []int        // index of the ID field in Output; nil if it has none
	record      *Operation   // reads the record at the start of a command's path; nil if nothing does
	before      func(context.Context, *store.DB, board.Caller, any) error
	sliced      bool // whether before changes data
	query       func(context.Context, *store.View, any) (any, error)
	basis       func(context.Context, *store.View, any) (Basis, error) // nil if responses are not cached
	expand      func(ctx context.Context, v *store.View, out any, names []string) (any, error)
	command     func(context.Context, *store.Tx, any) (any, error)
	parts       func(in any) // decodes the parts of a batch; nil for other operations
	stream      func(context.Context, *store.View, any, io.Writer) error
	content     func(context.Context, *store.View, any) (board.Content, error)
	ofJob       func(context.Context, *store.View, board.Job) (any, error)
}

// Resource returns the rate limit against which a call counts. An operation that sends
// emails counts them itself, because not every call sends one.
func (o *Operation) Resource() board.Resource {
	switch {
	case o.Streams():
		return board.ResourceExport
	case o.Search:
		return board.ResourceSearch
	case o.Report:
		return board.ResourceReport
	}
	return board.ResourceGeneral
}

// Area is a group of operations and events.
type Area struct{ Name, Description string }

// Registry holds the operations in the order in which they were registered.
type Registry struct {
	Schemas  huma.Registry
	Areas    []Area
	Events   []Event // in the order in which they were registered
	all      []*Operation
	byName   map[string]*Operation
	nullable map[string]bool // schemas processed by allowNull
}

// Option sets a property of an operation that does not follow from the signature
// of its function. An Audience is also an Option.
type Option interface{ set(*Operation) }

type option func(*Operation)

func (f option) set(o *Operation) { f(o) }

var (
	// Admin makes the operation require the admin scope.
	Admin Option = option(func(o *Operation) { o.Scope = board.ScopeAdmin })

	// Recent makes the operation require that a person in a session has signed in
	// within board.RecentFor. It does not apply to tokens; to exclude tokens, also
	// set the SignedIn audience.
	Recent Option = option(func(o *Operation) { o.Recent = true })

	// Creates makes the operation respond with 201 (RFC 9110, 15.3.2).
	Creates Option = option(func(o *Operation) { o.Creates = true })

	// Destructive marks a POST that may overwrite or delete existing data. PUT,
	// PATCH and DELETE are always destructive.
	Destructive Option = option(func(o *Operation) { o.Destructive = true })

	// Search makes the operation count against the search limit.
	Search Option = option(func(o *Operation) { o.Search = true })

	// Report marks an operation that reads across boards and is therefore much more
	// expensive than others. Reports are refused first during an overload, and may
	// run on a replica. Streams are always reports.
	Report Option = option(func(o *Operation) { o.Report = true })

	// Versioned makes the responses of a query have a boardVersion.
	Versioned Option = option(func(o *Operation) { o.Versioned = true })

	// NoTool excludes a public operation from the MCP tools.
	NoTool Option = option(func(o *Operation) { o.NoTool = true })

	// Secret marks an operation whose response contains a secret. The response that
	// is stored for the idempotency key is encrypted.
	Secret Option = option(func(o *Operation) { o.Secret = true })

	// Unkeyed makes the operation ignore the idempotency key. It is for operations
	// that have no further effect when repeated, or whose responses must not be
	// stored. Operations that take a password must use this option, because a hash
	// of the input is stored with each key.
	Unkeyed Option = option(func(o *Operation) { o.Unkeyed = true })
)

// Promoted marks a public operation that was part of the internal API before the given day,
// such as "2026-11-28". Its earlier path keeps working, with headers that say that it is
// deprecated and what replaces it. Documents list only the public path. Promoted panics if
// the day is malformed.
func Promoted(day string) Option {
	since, err := time.Parse(board.DateLayout, day)
	if err != nil {
		panic(fmt.Sprintf("op: %s: %v", day, err))
	}
	return option(func(o *Operation) { o.Promoted = since })
}

// Echoes makes the operation's responses include the parsed query.
func Echoes[T any]() Option {
	return option(func(o *Operation) { o.Echo = reflect.TypeFor[T]() })
}

// Before makes the operation run fn before the transaction, for slow work such as
// hashing a password. Fn stores its results in unexported fields of the input. If it
// returns an error, the operation fails with that error.
func Before[I any](fn func(ctx context.Context, db *store.DB, caller board.Caller, in *I) error) Option {
	return option(func(o *Operation) {
		o.before = func(ctx context.Context, db *store.DB, caller board.Caller, in any) error {
			return fn(ctx, db, caller, in.(*I))
		}
	})
}

// InSlices makes the operation run fn before the transaction. Fn does most of the work of
// a command that changes too much for one transaction, and checks that the command is
// allowed. It does not run if the idempotency key was used before.
func InSlices[I any](fn func(ctx context.Context, db *store.DB, caller board.Caller, in *I) error) Option {
	return option(func(o *Operation) {
		Before(fn).set(o)
		o.sliced = true
	})
}

// SchemaPrefix is the path of shared schemas in the OpenAPI document.
const SchemaPrefix = "#/components/schemas/"

// setHuma sets the options of huma that are package variables.
var setHuma = sync.OnceFunc(func() {
	huma.ValidateStrictCasing = true  // otherwise {"title":"x","TITLE":""} is accepted
	huma.DefaultArrayNullable = false // an empty list is [], never null
})

// NewRegistry returns an empty registry.
func NewRegistry() *Registry {
	setHuma()
	schemas := huma.NewMapRegistry(SchemaPrefix, huma.DefaultSchemaNamer)
	schemas.RegisterTypeAlias(reflect.TypeFor[board.Position](), reflect.TypeFor[positionSchema]())
	return &Registry{Schemas: schemas, byName: map[string]*Operation{}, nullable: map[string]bool{}}
}

// In starts an area for the operations and events registered next.
func (r *Registry) In(name, description string) {
	r.Areas = append(r.Areas, Area{name, description})
}

// All returns the operations in the order in which they were registered.
func (r *Registry) All() []*Operation { return r.all }

// Named returns the operation with the given name, or nil.
func (r *Registry) Named(name string) *Operation { return r.byName[name] }

// Query registers a read-only operation. The route is a method and a path. The
// first sentence of text is the summary.
func Query[I, O any](r *Registry, name, route, text string, fn func(context.Context, *store.View, I) (O, error), options ...Option) {
	o := register[I, O](r, name, route, text, board.ScopeRead, options)
	o.ReadOnly = true
	o.query = func(ctx context.Context, v *store.View, in any) (any, error) { return fn(ctx, v, *in.(*I)) }
}

// Command registers an operation that changes data.
func Command[I, O any](r *Registry, name, route, text string, fn func(context.Context, *store.Tx, I) (O, error), options ...Option) {
	o := register[I, O](r, name, route, text, board.ScopeWrite, options)
	o.command = func(ctx context.Context, tx *store.Tx, in any) (any, error) { return fn(ctx, tx, *in.(*I)) }
}

// Long registers an operation that changes data and may take longer than one
// short transaction. Fn returns either its result or a job that it has started.
// When the job is done, ofJob returns the result of the operation.
func Long[I, O any](r *Registry, name, route, text string, fn func(context.Context, *store.Tx, I) (O, *board.Job, error),
	ofJob func(context.Context, *store.View, board.Job) (O, error), options ...Option) {
	o := register[I, O](r, name, route, text, board.ScopeWrite, options)
	o.command = func(ctx context.Context, tx *store.Tx, in any) (any, error) {
		out, job, err := fn(ctx, tx, *in.(*I))
		if job != nil {
			return job, err
		}
		return out, err
	}
	o.ofJob = func(ctx context.Context, v *store.View, j board.Job) (any, error) { return ofJob(ctx, v, j) }
	r.schemaOf(reflect.TypeFor[board.Job]())
}

// Starts reports whether the operation may start a job and return it.
func (o *Operation) Starts() bool { return o.ofJob != nil }

// JobSchema returns the schema of a job.
func (r *Registry) JobSchema() *huma.Schema { return r.schemaOf(reflect.TypeFor[board.Job]()) }

// register adds an operation to the registry. It panics on programming errors, such as a
// duplicate name or a path field that the input does not have.
func register[I, O any](r *Registry, name, route, text string, scope board.Scope, options []Option) *Operation {
	method, path, ok := strings.Cut(route, " ")
	if !ok || r.byName[name] != nil || len(r.Areas) == 0 {
		panic(fmt.Sprintf("op: %s: bad route %q, duplicate name, or no area", name, route))
	}
	summary, _, _ := strings.Cut(text, ". ")
	o := &Operation{
		Name: name, Method: method, Path: path, Area: r.Areas[len(r.Areas)-1].Name,
		Summary: strings.TrimSuffix(summary, "."), Description: text, Scope: scope, Output: reflect.TypeFor[O](),
	}
	o.Destructive = method == http.MethodPut || method == http.MethodPatch || method == http.MethodDelete
	for _, option := range options {
		option.set(o)
	}
	if page, ok := reflect.Zero(o.Output).Interface().(pager); ok {
		o.Paged, o.Output = true, page.element()
	}
	o.Continues = o.Output.Implements(reflect.TypeFor[Continued]())
	if field, ok := idField(o.Output); ok {
		o.subject = field
	}
	o.Input = newInput(r, reflect.TypeFor[I](), o)
	if o.Output != reflect.TypeFor[Document]() {
		r.schemaOf(o.Output)
	}
	for _, t := range []reflect.Type{o.Written, o.Expanded, o.Echo} {
		r.schemaIf(t)
	}
	r.link(o)
	r.all = append(r.all, o)
	r.byName[name] = o
	return o
}

// idField returns the index of the string field ID of a struct type. It returns false
// if there is no such field.
func idField(t reflect.Type) ([]int, bool) {
	if t.Kind() != reflect.Struct {
		return nil, false
	}
	f, ok := t.FieldByName("ID")
	return f.Index, ok && f.Type.Kind() == reflect.String
}

// subjectOf returns the id of the record that an operation's audit entry is about: that
// of the output or, if the output has no id, the first path parameter.
func (o *Operation) subjectOf(out any, in any) string {
	if o.subject != nil {
		return reflect.ValueOf(out).FieldByIndex(o.subject).String()
	}
	if f, ok := o.Input.firstInPath(); ok {
		return reflect.ValueOf(in).Elem().FieldByIndex(f.index).String()
	}
	return ""
}

// schemaOf returns the schema of an output type. It completes all schemas registered so
// far: it allows null where huma does not, for pointers to structs and to enumerations,
// and adds the lists of event kinds.
func (r *Registry) schemaOf(t reflect.Type) *huma.Schema {
	s := r.Schemas.Schema(t, true, t.Name())
	for name, component := range r.Schemas.Map() {
		if !r.nullable[name] {
			r.nullable[name] = true
			t := r.Schemas.TypeFromRef(SchemaPrefix + name)
			r.allowNull(component, t)
			if t != nil && t.Kind() == reflect.Struct {
				listKinds(component, t)
			}
		}
	}
	return s
}

func (r *Registry) allowNull(s *huma.Schema, t reflect.Type) {
	if t == nil || t.Kind() != reflect.Struct {
		return
	}
	for _, f := range reflect.VisibleFields(t) {
		name, rest, _ := strings.Cut(f.Tag.Get("json"), ",")
		prop := s.Properties[name]
		if prop == nil || f.Type.Kind() != reflect.Pointer || strings.Contains(rest, "omit") {
			continue
		}
		switch {
		case prop.Ref != "":
			s.Properties[name] = &huma.Schema{AnyOf: []*huma.Schema{{Ref: prop.Ref}, {Type: "null"}}, Description: f.Tag.Get("doc")}
		case len(prop.Enum) > 0 && !slices.Contains(prop.Enum, nil):
			prop.Enum = append(prop.Enum, nil)
		}
	}
}

// EchoSchema returns the schema of the parsed query in an operation's responses, or
// nil if they do not include it.
func (r *Registry) EchoSchema(o *Operation) *huma.Schema { return r.schemaIf(o.Echo) }

// ExpandedSchema returns the schema of the additional records of a response, or nil if there are none.
func (r *Registry) ExpandedSchema(o *Operation) *huma.Schema { return r.schemaIf(o.Expanded) }

// schemaIf returns the schema of a type, or nil for no type.
func (r *Registry) schemaIf(t reflect.Type) *huma.Schema {
	if t == nil {
		return nil
	}
	return r.schemaOf(t)
}

// WrittenSchema returns the schema of the document that a stream writes, or nil if its members are not described.
func (r *Registry) WrittenSchema(o *Operation) *huma.Schema { return r.schemaIf(o.Written) }

// Schema returns the schema of an operation's data.
func (r *Registry) Schema(o *Operation) *huma.Schema {
	s := r.schemaOf(o.Output)
	if o.Paged {
		return &huma.Schema{Type: huma.TypeArray, Items: s}
	}
	return s
}
