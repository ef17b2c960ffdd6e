package main

// api is what the outputs are generated from. It contains no notions of OpenAPI and
// none of a programming language.
type api struct {
	objects    []*object    // sorted by name
	unions     []*union     // sorted by name
	operations []*operation // sorted by name
}

// kind is the kind of a type.
type kind int

const (
	anyKind kind = iota
	stringKind
	integerKind
	numberKind
	booleanKind
	binaryKind // bytes that are not JSON
	enumKind   // strings in values
	arrayKind  // of elem
	mapKind    // from strings to elem
	namedKind  // the object or union of this name
	unionKind  // one of members
)

// typeRef is a type where it is used.
type typeRef struct {
	kind     kind
	nullable bool
	name     string
	values   []string
	elem     *typeRef
	members  []*typeRef
}

// object is a JSON object with known fields.
type object struct {
	name, doc string
	fields    []*field // required ones first, in the order of the document
}

// union is a named type that is one of several. Its tag is the field whose value
// differs between them, if they are objects and there is one.
type union struct {
	name, doc string
	tag       string
	members   []*typeRef
}

// field is a field of an object, a parameter, or a field of a body.
type field struct {
	name, doc string // the name in JSON, in the query or in the header
	typ       *typeRef
	required  bool
	example   any // of a parameter: its value in snippets, or nil
}

// operation is a request that the API supports.
type operation struct {
	name         string // in snake case
	method, path string
	summary, doc string
	pathParams   []*field       // in the order of the path
	queryParams  []*field       // required ones first
	headerParams []*field       // except those below
	hasBody      bool           // whether it takes a JSON object with the fields of body
	body         []*field       // required ones first
	example      map[string]any // of the body
	multipart    []*field       // an alternative body with a file, or nil
	media        string         // the content type of a body that is not JSON; image/* is any of them
	result       *typeRef       // nil if the response has no content
	record       *typeRef       // of a list with pages: the type of its records
	paged        bool           // whether the response may have a cursor for the next page
	keyed        bool           // whether it takes an Idempotency-Key
	ifMatch      bool
	ifNoneMatch  bool
}
