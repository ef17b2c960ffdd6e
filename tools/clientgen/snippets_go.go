package main

import (
	"fmt"
	"go/format"
	"strconv"
	"strings"
)

// goAny writes values of the type any.
var goAny = notation{
	object: [2]string{"map[string]any{", "}"}, list: [2]string{"[]any{", "}"}, key: strconv.Quote, scalar: goScalar,
}

// goSnippet returns a call of an operation in Go.
func goSnippet(a *api, o *operation) (string, error) {
	text, err := goCall(a, o)
	if err != nil {
		return "", err
	}
	formatted, err := format.Source([]byte(text))
	return string(formatted), err
}

func goCall(a *api, o *operation) (string, error) {
	w := goValues{objects: map[string]*object{}}
	for _, object := range a.objects {
		w.objects[object.name] = object
	}
	method := pascal(o.name)
	if o.record != nil {
		method = "Iterate" + strings.TrimPrefix(method, "List")
	}
	call := code{open: "client." + method + "(", close: ")"}
	arguments := []string{"ctx"}
	for _, f := range append(examples(o.pathParams), examples(required(o.headerParams))...) {
		arguments = append(arguments, w.value(f.typ, f.value).flat())
	}
	before := ""
	if o.media != "" {
		file, media := fileOf(o)
		before = fmt.Sprintf("content, err := os.ReadFile(%q)\nif err != nil {\n\tlog.Fatal(err)\n}\n", file)
		arguments = append(arguments, "content")
		if media == pictureMedia {
			arguments = append(arguments, strconv.Quote(media))
		}
	}
	call.open += strings.Join(arguments, ", ")
	if params := goParamsOf(o); params != nil {
		literal := code{open: ", cardwall." + params.Name + "{", close: "})"}
		for _, f := range examples(required(o.queryParams)) {
			literal.items = append(literal.items, w.value(f.typ, f.value).after(goName(f.name)+": "))
		}
		if o.hasBody {
			literal.items = append(literal.items, w.fields(members(o.body, o.example))...)
		}
		call = literal.after(call.open)
	}
	if w.err != nil {
		return "", w.err
	}
	assign := ":="
	switch {
	case o.record != nil:
		call = call.after("for " + variable(o.record) + ", err := range ")
		call.close += " {"
		return call.lines("", "\t") + "\n\tif err != nil {\n\t\tlog.Fatal(err)\n\t}\n\tfmt.Println(" + variable(o.record) + ")\n}", nil
	case o.result == nil && before != "":
		assign = "err ="
	case o.result == nil:
		assign = "err :="
	case o.result.kind == unionKind:
		assign = "result, job, err :="
	default:
		assign = "result, err :="
	}
	return before + call.after(assign+" ").lines("", "\t"), nil
}

// goValues writes values of the types of the Go client.
type goValues struct {
	objects map[string]*object
	err     error // the first value that it cannot write
}

// fields returns the fields of a struct, as goFields declares them.
func (w *goValues) fields(fields []argument) []code {
	var out []code
	for _, f := range fields {
		out = append(out, w.field(f).after(goName(f.name)+": "))
	}
	return out
}

func (w *goValues) field(f argument) code {
	collection := f.typ.kind == arrayKind || f.typ.kind == mapKind || f.typ.kind == anyKind
	switch {
	case f.value == nil && f.typ.nullable && !f.required && !collection:
		return code{open: "cardwall.Null[" + w.typeName(f.typ) + "]()"}
	case f.value == nil:
		return code{open: "nil"}
	}
	value := w.value(f.typ, f.value)
	switch {
	case collection, f.required && !f.typ.nullable:
		return value
	case f.typ.nullable && !f.required:
		return code{"cardwall.Value(" + value.open, value.items, value.close + ")"}
	case strings.HasPrefix(value.open, "*"):
		value.open = value.open[1:] // from a function that returns a pointer
		return value
	case f.typ.kind == namedKind:
		return value.after("&")
	}
	return code{"cardwall.Ptr(" + value.open, value.items, value.close + ")"}
}

// value returns a value that is not null.
func (w *goValues) value(t *typeRef, v any) code {
	switch t.kind {
	case arrayKind:
		list := code{open: w.typeName(t) + "{", close: "}"}
		for _, item := range v.([]any) {
			element := w.value(t.elem, item)
			element.open = strings.TrimPrefix(element.open, w.typeName(t.elem)) // Go infers it
			list.items = append(list.items, element)
		}
		return list
	case mapKind, anyKind:
		return goAny.value(v)
	case namedKind:
		if t.name == "Position" {
			return w.position(v)
		}
		object, ok := w.objects[t.name]
		if !ok {
			w.err = fmt.Errorf("values of the union %s are not supported", t.name)
			return code{}
		}
		return code{w.typeName(t) + "{", w.fields(members(object.fields, v.(map[string]any))), "}"}
	case stringKind, enumKind:
		return code{open: strconv.Quote(v.(string))}
	}
	return code{open: jsonText(v)}
}

// position returns a Position, with one of the functions that make a pointer to one.
func (w *goValues) position(v any) code {
	if word, ok := v.(string); ok {
		return code{open: "*cardwall." + pascal(word) + "()"}
	}
	for word, id := range v.(map[string]any) {
		return code{open: fmt.Sprintf("*cardwall.%s(%q)", pascal(word), id)}
	}
	w.err = fmt.Errorf("the position %v is not supported", v)
	return code{}
}

// typeName returns a type with the package where it is declared.
func (w *goValues) typeName(t *typeRef) string {
	switch t.kind {
	case arrayKind:
		return "[]" + w.typeName(t.elem)
	case namedKind:
		return "cardwall." + t.name
	}
	return goType(t)
}

func goScalar(v any) string {
	if v == nil {
		return "nil"
	}
	return jsonText(v)
}
