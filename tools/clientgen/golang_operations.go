package main

import (
	"fmt"
	"strings"
)

// goMethod is a method of Client, with its statements.
type goMethod struct {
	Name, Doc, Signature, Results, Body string
	Params                              *goParams // nil if there are none
}

// goParams is the struct with the parameters of a method.
type goParams struct {
	Name, Method string
	Fields       []goField
}

// goOperations returns the file with a method for each operation.
func goOperations(a *api) ([]byte, error) {
	var methods []goMethod
	for _, o := range a.operations {
		methods = append(methods, goOperation(o))
		if o.multipart != nil {
			upload := *o
			upload.name, upload.body, upload.hasBody, upload.multipart = o.name+"_file", o.multipart, false, nil
			methods = append(methods, goOperation(&upload))
		}
		if o.record != nil {
			methods = append(methods, goIterator(o))
		}
	}
	return formatted("go_operations.tmpl", methods)
}

// goArguments returns the parameters in the signature of an operation, and how to pass them on.
func goArguments(o *operation, params *goParams) (declared, passed string) {
	declared, passed = "ctx context.Context", "ctx"
	for _, f := range append(append([]*field{}, o.pathParams...), o.headerParams...) {
		declared += ", " + goArgument(f.name) + " " + goType(f.typ)
		passed += ", " + goArgument(f.name)
	}
	if o.media != "" {
		declared += ", content []byte"
	}
	if strings.HasSuffix(o.media, "/*") {
		declared += ", contentType string"
	}
	if params != nil {
		declared += ", params " + params.Name
		passed += ", params"
	}
	return declared + ", options ...Option", passed + ", options..."
}

// goParamsOf returns the struct with the parameters of an operation, or nil.
func goParamsOf(o *operation) *goParams {
	params := &goParams{Name: pascal(o.name) + "Params", Method: pascal(o.name)}
	for _, f := range o.queryParams {
		params.Fields = append(params.Fields, goField{f.doc, goName(f.name) + " " + goType(f.typ)})
	}
	if o.hasBody {
		params.Fields = append(params.Fields, goFields(o.body)...)
	} else {
		for _, f := range o.body {
			params.Fields = append(params.Fields, goField{f.doc, goName(f.name) + " " + goType(f.typ)})
		}
	}
	if len(params.Fields) == 0 {
		return nil
	}
	return params
}

// goOperation returns the method that calls an operation.
func goOperation(o *operation) goMethod {
	m := goMethod{Name: pascal(o.name), Doc: o.doc, Params: goParamsOf(o), Results: "error"}
	m.Signature, _ = goArguments(o, m.Params)
	var b strings.Builder
	path := `"` + o.path + `"`
	for _, f := range o.pathParams {
		value := goArgument(f.name)
		if f.typ.kind == integerKind {
			value = "strconv.FormatInt(" + value + ", 10)"
		}
		path = strings.Replace(path, "{"+f.name+"}", `"+segment(`+value+`)+"`, 1)
	}
	fmt.Fprintf(&b, "\tr := request{method: %q, path: %s, keyed: %t}\n", o.method, strings.TrimSuffix(path, `+""`), o.keyed)
	if len(o.queryParams) > 0 {
		b.WriteString("\tr.query = url.Values{}\n")
		for _, f := range o.queryParams {
			fmt.Fprintf(&b, "\tsetValue(r.query, %q, params.%s)\n", f.name, goName(f.name))
		}
	}
	switch {
	case o.hasBody:
		b.WriteString("\tr.body = params\n")
	case o.body != nil:
		b.WriteString("\tr.form(params.Name, params.File)\n")
	case strings.HasSuffix(o.media, "/*"):
		b.WriteString("\tr.content, r.contentType = content, contentType\n")
	case o.media != "":
		fmt.Fprintf(&b, "\tr.content, r.contentType = content, %q\n", o.media)
	}
	for _, f := range o.headerParams {
		fmt.Fprintf(&b, "\tr.header = http.Header{%q: {strconv.FormatInt(%s, 10)}}\n", f.name, goArgument(f.name))
	}
	switch {
	case o.result == nil:
		b.WriteString("\treturn c.call(ctx, r, nil, nil, options)")
	case o.result.kind == unionKind:
		first, second := goType(o.result.members[0]), goType(o.result.members[1])
		m.Doc += " The second result is a job, if one was started; then the first is nil."
		m.Results = "(*" + first + ", *" + second + ", error)"
		fmt.Fprintf(&b, "\tvar result *%s\n\tvar job *%s\n\terr := c.call(ctx, r, &result, &job, options)\n", first, second)
		b.WriteString("\treturn result, job, err")
	case o.result.kind == binaryKind:
		m.Results = "([]byte, error)"
		b.WriteString("\tvar result []byte\n\terr := c.call(ctx, r, &result, nil, options)\n\treturn result, err")
	default:
		m.Results = "(*" + goType(o.result) + ", error)"
		fmt.Fprintf(&b, "\tvar result *%s\n\terr := c.call(ctx, r, &result, nil, options)\n\treturn result, err", goType(o.result))
	}
	m.Body = b.String()
	return m
}

// goIterator returns the method that iterates over the records of a list with pages.
func goIterator(o *operation) goMethod {
	list, record := pascal(o.name), goType(o.record)
	m := goMethod{
		Name: "Iterate" + strings.TrimPrefix(list, "List"),
		Doc: "iterate over the records of all pages of " + list + ". It stops after the first error. " +
			"Options apply to all requests.",
		Results: "iter.Seq2[" + record + ", error]",
	}
	var passed string
	m.Signature, passed = goArguments(o, goParamsOf(o))
	m.Body = fmt.Sprintf(`	return iterate(func(cursor string) ([]%s, *string, error) {
		params := params
		if cursor != "" {
			params.Cursor = cursor
		}
		page, err := c.%s(%s)
		if err != nil {
			return nil, nil, err
		}
		return page.Data, page.NextCursor, nil
	})`, record, list, passed)
	return m
}
