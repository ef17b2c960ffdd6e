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

	"github.com/danielgtaylor/huma/v2"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// Operation is one thing that the service can do.
type Operation struct {
	Name        string // also the operationId, the tool name and the name in the audit
	Method      string
	Path        string // below the door's prefix, with {fields} of the input in it
	Area        string // the heading it stands under
	Summary     string // one sentence
	Description string // the whole text; begins with the summary
	Scope       board.Scope
	ReadOnly    bool
	Destructive bool         // it may overwrite or delete what is there; others only add
	Creates     bool         // answers 201
	Pages       bool         // answers an array with a cursor
	Search      bool         // counts against the limit of searches
	Report      bool         // reads across boards: who has much to do leaves it for later
	Secret      bool         // its answer holds a secret
	Application bool         // a door for people alone: the application's, below a prefix of its own
	NoTool      bool         // not offered to assistants
	Anonymous   bool         // for who is not signed in, too
	Visitor     bool         // for anyone, with the caller's session where there is one
	Guest       bool         // for who has the key of a public page
	SignedIn    bool         // for a person in a session, never for a token
	Operator    bool         // to everybody but the server's operators it is not found
	Recent      bool         // a person in a session must have signed in within the last ten minutes
	Unkeyed     bool         // an Idempotency-Key changes nothing
	Media       string       // the media type of what it streams
	Echo        reflect.Type // the type of query in its answers; nil when it echoes none
	Input       *Input       // the fields it takes
	Output      reflect.Type // the type of data; the element's type when it pages
	subject     []int        // where Output has its id
	before      func(context.Context, *store.DB, board.Caller, any) error
	query       func(context.Context, *store.View, any) (any, error)
	command     func(context.Context, *store.Tx, any) (any, error)
	stream      func(context.Context, *store.View, any, io.Writer) error
}

// Area is a group of operations.
type Area struct{ Name, Description string }

// Registry holds the operations in the order of their registration.
type Registry struct {
	Schemas huma.Registry
	Areas   []Area
	Events  []Event // in the order of their registration
	all     []*Operation
	byName  map[string]*Operation
	mended  map[string]bool // schemas that allowNull has seen
}

// Option says what the signature of an operation's function cannot.
type Option func(*Operation)

// Admin makes the operation need the scope admin.
func Admin(o *Operation) { o.Scope = board.ScopeAdmin }

// Creates makes the operation answer 201 (RFC 9110, 15.3.2).
func Creates(o *Operation) { o.Creates = true }

// Echoes makes the operation's answers repeat the query that was understood.
func Echoes[T any](o *Operation) { o.Echo = reflect.TypeFor[T]() }

// Search makes the operation count against the limit of searches.
func Search(o *Operation) { o.Search = true }

// Report marks what reads across boards, and so costs as much as many small
// operations: the first work to be put off when there is too much, and the first
// to be done elsewhere. What streams is a report always.
func Report(o *Operation) { o.Report = true }

// Application takes the operation out of the public interface: it is what only
// people do, on the pages of the application.
func Application(o *Operation) { o.Application, o.NoTool = true, true }

// NoTool keeps the operation from assistants.
func NoTool(o *Operation) { o.NoTool = true }

// Secret says that the answer holds a secret: what is stored for a replay is
// sealed.
func Secret(o *Operation) { o.Secret = true }

// Destructive marks a POST that may overwrite or delete what is there. The
// methods PUT, PATCH and DELETE say so themselves.
func Destructive(o *Operation) { o.Destructive = true }

// Anonymous opens the operation to who is not signed in. Its caller is nobody,
// whatever the request carries; the requests of each network address are
// counted, and keys of idempotency change nothing.
func Anonymous(o *Operation) {
	o.Application, o.NoTool, o.Anonymous, o.Unkeyed = true, true, true, true
}

// Visitor is Anonymous for operations that also take the session of a caller who
// is signed in.
func Visitor(o *Operation) {
	Anonymous(o)
	o.Visitor = true
}

// Guest is Anonymous for what the key of a public page is needed for, which its
// input names by a method GuestKey. Keys of idempotency count, for each page
// apart; its body is a small one, and no answer tells a boardVersion.
func Guest(o *Operation) {
	Anonymous(o)
	o.Guest, o.Unkeyed = true, false
}

// SignedIn keeps the operation to a person who is signed in with a browser: no
// token may do it.
func SignedIn(o *Operation) { o.Application, o.NoTool, o.SignedIn = true, true, true }

// Recent is SignedIn for what guards the account: who signed in longer ago than
// board.RecentFor is asked to do so again.
func Recent(o *Operation) { SignedIn(o); o.Recent = true }

// Operator is SignedIn for what only the server's operators do. To everybody
// else who is signed in it is not found, however recent the sign-in.
func Operator(o *Operation) { SignedIn(o); o.Operator = true }

// Guarded asks a person in a browser for a sign-in as recent as Recent does; a
// token with the scope may too.
func Guarded(o *Operation) { o.Recent = true }

// Unkeyed says that doing it twice is doing it once, or that its answer must
// not be kept: an Idempotency-Key changes nothing. So must be what takes a
// password, for of what a key is used with a fingerprint is kept.
func Unkeyed(o *Operation) { o.Unkeyed = true }

// Before has fn run ahead of the transaction, for what would hold it up, such
// as hashing a password. It leaves what it found in fields of the input that
// are not exported; its error is the operation's refusal.
func Before[I any](fn func(ctx context.Context, db *store.DB, caller board.Caller, in *I) error) Option {
	return func(o *Operation) {
		o.before = func(ctx context.Context, db *store.DB, caller board.Caller, in any) error {
			return fn(ctx, db, caller, in.(*I))
		}
	}
}

// SchemaPrefix is where the shared schemas stand in the OpenAPI document.
const SchemaPrefix = "#/components/schemas/"

// setHuma sets the two switches of huma that are variables of its package.
var setHuma = sync.OnceFunc(func() {
	huma.ValidateStrictCasing = true  // else {"title":"x","TITLE":""} passes
	huma.DefaultArrayNullable = false // an empty list is [], never null
})

// NewRegistry makes an empty registry.
func NewRegistry() *Registry {
	setHuma()
	schemas := huma.NewMapRegistry(SchemaPrefix, huma.DefaultSchemaNamer)
	schemas.RegisterTypeAlias(reflect.TypeFor[board.Position](), reflect.TypeFor[positionSchema]())
	return &Registry{Schemas: schemas, byName: map[string]*Operation{}, mended: map[string]bool{}}
}

// In begins an area: what is registered next stands in it.
func (r *Registry) In(name, description string) {
	r.Areas = append(r.Areas, Area{name, description})
}

// All are the operations in the order of their registration.
func (r *Registry) All() []*Operation { return r.all }

// Named finds an operation, nil when there is none of that name.
func (r *Registry) Named(name string) *Operation { return r.byName[name] }

// Query registers an operation that only reads. The route is a method and a
// path; the text's first sentence is the summary.
func Query[I, O any](r *Registry, name, route, text string, fn func(context.Context, *store.View, I) (O, error), options ...Option) {
	o := register[I, O](r, name, route, text, board.ScopeRead, options)
	o.ReadOnly = true
	o.query = func(ctx context.Context, v *store.View, in any) (any, error) { return fn(ctx, v, *in.(*I)) }
}

// Command registers an operation that changes something.
func Command[I, O any](r *Registry, name, route, text string, fn func(context.Context, *store.Tx, I) (O, error), options ...Option) {
	o := register[I, O](r, name, route, text, board.ScopeWrite, options)
	o.command = func(ctx context.Context, tx *store.Tx, in any) (any, error) { return fn(ctx, tx, *in.(*I)) }
}

// register panics on what is a mistake in the program: a name taken twice, a
// path with a field that the input does not have.
func register[I, O any](r *Registry, name, route, text string, scope board.Scope, options []Option) *Operation {
	method, path, ok := strings.Cut(route, " ")
	if !ok || r.byName[name] != nil || len(r.Areas) == 0 {
		panic(fmt.Sprintf("op: %s: bad route %q, or the name is taken, or it has no area", name, route))
	}
	summary, _, _ := strings.Cut(text, ". ")
	o := &Operation{
		Name: name, Method: method, Path: path, Area: r.Areas[len(r.Areas)-1].Name,
		Summary: strings.TrimSuffix(summary, "."), Description: text, Scope: scope, Output: reflect.TypeFor[O](),
	}
	o.Destructive = method == http.MethodPut || method == http.MethodPatch || method == http.MethodDelete
	for _, option := range options {
		option(o)
	}
	if page, ok := reflect.Zero(o.Output).Interface().(pager); ok {
		o.Pages, o.Output = true, page.element()
	}
	if field, ok := idField(o.Output); ok {
		o.subject = field
	}
	o.Input = newInput(r, reflect.TypeFor[I](), o)
	if o.Output != reflect.TypeFor[Document]() {
		r.schemaOf(o.Output)
	}
	if o.Echo != nil {
		r.schemaOf(o.Echo)
	}
	r.all = append(r.all, o)
	r.byName[name] = o
	return o
}

func idField(t reflect.Type) ([]int, bool) {
	if t.Kind() != reflect.Struct {
		return nil, false
	}
	f, ok := t.FieldByName("ID")
	return f.Index, ok && f.Type.Kind() == reflect.String
}

// subjectOf is the id that an operation's audit entry is about.
func (o *Operation) subjectOf(out any, in any) string {
	if o.subject != nil {
		return reflect.ValueOf(out).FieldByIndex(o.subject).String()
	}
	for _, f := range o.Input.Fields {
		if f.In == InPath {
			return reflect.ValueOf(in).Elem().FieldByIndex(f.index).String()
		}
	}
	return ""
}

// schemaOf makes the schema of an answer's type, and mends in all schemas what
// huma leaves out: a pointer to a record, and an enumeration, that may be null.
func (r *Registry) schemaOf(t reflect.Type) *huma.Schema {
	s := r.Schemas.Schema(t, true, t.Name())
	for name, component := range r.Schemas.Map() {
		if !r.mended[name] {
			r.mended[name] = true
			r.allowNull(component, r.Schemas.TypeFromRef(SchemaPrefix+name))
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

// EchoSchema is the schema of an operation's query, nil when it echoes none.
func (r *Registry) EchoSchema(o *Operation) *huma.Schema {
	if o.Echo == nil {
		return nil
	}
	return r.schemaOf(o.Echo)
}

// Schema is the schema of an operation's data.
func (r *Registry) Schema(o *Operation) *huma.Schema {
	s := r.schemaOf(o.Output)
	if o.Pages {
		return &huma.Schema{Type: huma.TypeArray, Items: s}
	}
	return s
}
