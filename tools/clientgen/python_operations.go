package main

import (
	"fmt"
	"strings"
)

// pyMethod is a method of Operations. If Iterates is set, it yields the records of all
// pages of that operation.
type pyMethod struct {
	Name, Iterates       string
	Method, Path, Result string
	Params               []string // as declared, one line each
	Docstring            string
	Arguments            []string // of the call in its body, as Python writes them
}

// pythonOperations returns the module with a method for each operation.
func pythonOperations(a *api) ([]byte, error) {
	var methods []pyMethod
	for _, o := range a.operations {
		m, err := pyOperation(o)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", o.name, err)
		}
		methods = append(methods, m)
		if o.multipart != nil {
			upload := *o
			upload.name, upload.body, upload.hasBody, upload.multipart = o.name+"_file", o.multipart, false, nil
			upload.media = "multipart/form-data"
			if m, err = pyOperation(&upload); err != nil {
				return nil, fmt.Errorf("%s: %w", upload.name, err)
			}
			methods = append(methods, m)
		}
		if o.record != nil {
			methods = append(methods, pyIterator(o))
		}
	}
	return execute("python_operations.tmpl", methods)
}

// signature collects the parameters of a method and their descriptions.
type signature struct {
	positional, keyword, docs []string
	seen                      map[string]bool
	err                       error
}

// add adds a parameter and returns its name.
func (s *signature) add(f *field) string {
	name := pyName(f.name)
	if s.seen == nil {
		s.seen = map[string]bool{"self": true, "idempotency_key": true, "if_match": true, "if_none_match": true}
	}
	if s.seen[name] {
		s.err = fmt.Errorf("two parameters have the name %s", name)
	}
	s.seen[name] = true
	if f.doc != "" {
		s.docs = append(s.docs, wrapArgument(name, shorten(f.doc, 160)))
	}
	declared := name + ": " + pyType(f.typ, "models.")
	switch {
	case f.required:
		s.positional = append(s.positional, declared+",")
		return name
	case f.typ.nullable:
		declared += " | Omitted = OMITTED,"
	default:
		declared += " | None = None,"
	}
	s.keyword = append(s.keyword, declared)
	return name
}

// addOption adds an optional parameter that is a header.
func (s *signature) addOption(name, doc string) {
	s.keyword = append(s.keyword, name+": str | None = None,")
	s.docs = append(s.docs, wrapArgument(name, doc))
}

// lines returns the declarations of all parameters.
func (s *signature) lines() []string {
	var lines []string
	for _, p := range s.positional {
		lines = append(lines, breakLiteral("        "+p))
	}
	if len(s.keyword) > 0 {
		lines = append(lines, "        *,")
	}
	for _, p := range s.keyword {
		lines = append(lines, breakLiteral("        "+p))
	}
	return lines
}

// docstring returns the docstring of a method with these parameters.
func (s *signature) docstring(text string) string {
	if len(s.docs) > 0 {
		text += "\n\n        Args:\n" + strings.Join(s.docs, "\n")
	}
	return pyDocstring(8, text)
}

func wrapArgument(name, doc string) string {
	return "            " + strings.TrimLeft(wrap(name+": "+doc, "                "), " ")
}

// pyOperation returns the method that calls an operation.
func pyOperation(o *operation) (pyMethod, error) {
	m := pyMethod{Name: o.name, Method: o.method, Result: "None"}
	if o.result != nil {
		m.Result = pyType(o.result, "models.")
	}
	var s signature
	path := o.path
	for _, f := range o.pathParams {
		path = strings.Replace(path, "{"+f.name+"}", "{segment("+s.add(f)+")}", 1)
	}
	m.Path = `"` + path + `"`
	if len(o.pathParams) > 0 {
		m.Path = "f" + m.Path
	}
	if len(o.queryParams) > 0 {
		m.Arguments = append(m.Arguments, pyDict("query=", s.entries(o.queryParams, false), "")...)
	}
	headers := s.entries(o.headerParams, false)
	switch {
	case o.hasBody:
		m.Arguments = append(m.Arguments, pyDict("body=", s.entries(o.body, true), "")...)
	case o.body != nil:
		m.Arguments = append(m.Arguments, pyDict("content=form(", s.entries(o.body, true), ")")...)
	case o.media != "":
		content := &field{name: "content", doc: "The content of the file.", typ: &typeRef{kind: binaryKind}, required: true}
		m.Arguments = append(m.Arguments, "content="+s.add(content))
	}
	if strings.HasSuffix(o.media, "/*") {
		media := &field{name: "contentType", doc: "The type of the content, such as image/png.", typ: &typeRef{kind: stringKind}, required: true}
		headers = append(headers, `"Content-Type": `+s.add(media))
	} else if o.media != "" && o.body == nil {
		headers = append(headers, fmt.Sprintf(`"Content-Type": %q`, o.media))
	}
	if o.ifMatch {
		s.addOption("if_match", "Change nothing if the object no longer has this ETag.")
		headers = append(headers, `"If-Match": if_match`)
	}
	if o.ifNoneMatch {
		s.addOption("if_none_match", "Raise NotModified if the response still has this ETag.")
		headers = append(headers, `"If-None-Match": if_none_match`)
	}
	if len(headers) > 0 {
		m.Arguments = append(m.Arguments, pyDict("headers=", headers, "")...)
	}
	if o.keyed {
		s.addOption("idempotency_key", "The key of an earlier call, to repeat it. Defaults to a new key.")
		m.Arguments = append(m.Arguments, "key=idempotency_key or new_key()")
	}
	if m.Result == "bytes" {
		m.Arguments = append(m.Arguments, "binary=True")
	}
	m.Params, m.Docstring = s.lines(), s.docstring(shorten(o.doc, 400))
	return m, s.err
}

// entries adds parameters, and returns them as entries of a dictionary. In a body, None is a value.
func (s *signature) entries(fields []*field, body bool) []string {
	var entries []string
	for _, f := range fields {
		value := s.add(f)
		if body && !f.required && !f.typ.nullable {
			value = "given(" + value + ")"
		}
		entries = append(entries, fmt.Sprintf("%q: %s", f.name, value))
	}
	return entries
}

// pyDict returns an argument that is a dictionary, in one element if it fits into a line.
func pyDict(before string, entries []string, after string) []string {
	if line := before + "{" + strings.Join(entries, ", ") + "}" + after; len(line) < 88 {
		return []string{line}
	}
	return []string{before + "{\n                " + strings.Join(entries, ",\n                ") +
		",\n            }" + after}
}

// pyIterator returns the method that iterates over the records of a list with pages.
func pyIterator(o *operation) pyMethod {
	m := pyMethod{
		Name:     "iterate_" + strings.TrimPrefix(o.name, "list_"),
		Iterates: o.name,
		Result:   "Iterator[" + pyType(o.record, "models.") + "]",
	}
	var s signature
	for _, f := range append(append([]*field{}, o.pathParams...), o.queryParams...) {
		if f.name == "cursor" {
			continue
		}
		s.add(f)
		name := pyName(f.name)
		if f.required {
			m.Arguments = append(m.Arguments, name)
		} else {
			m.Arguments = append(m.Arguments, name+"="+name)
		}
	}
	m.Params = s.lines()
	s.docs = nil
	m.Docstring = s.docstring("Iterate over the records of all pages of " + o.name + ", with the same parameters.")
	return m
}
