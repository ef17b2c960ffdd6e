package main

import (
	"fmt"
	"strings"
)

var pyNotation = notation{
	object: [2]string{"{", "}"}, list: [2]string{"[", "]"},
	key: func(name string) string { return jsonText(name) }, scalar: pyScalar,
}

// pySnippet returns a call of an operation in Python.
func pySnippet(o *operation) string {
	before, call := "", code{open: o.name + "(", close: ")"}
	if o.record != nil {
		call.open = "iterate_" + strings.TrimPrefix(o.name, "list_") + "("
	}
	for _, f := range examples(o.pathParams) {
		call.items = append(call.items, pyNotation.value(f.value))
	}
	for _, f := range append(examples(required(o.queryParams)), examples(required(o.headerParams))...) {
		call.items = append(call.items, pyNotation.value(f.value).after(pyName(f.name)+"="))
	}
	switch {
	case o.hasBody:
		for _, f := range members(o.body, o.example) {
			call.items = append(call.items, pyNotation.value(f.value).after(pyName(f.name)+"="))
		}
	case o.media != "":
		file, media := fileOf(o)
		before = fmt.Sprintf("with open(%q, \"rb\") as file:\n    content = file.read()\n", file)
		call.items = append(call.items, code{open: "content=content"})
		if media == pictureMedia {
			call.items = append(call.items, code{open: fmt.Sprintf("content_type=%q", media)})
		}
	}
	switch {
	case o.record != nil:
		name := variable(o.record)
		call = call.after("for " + snake(name) + " in client.")
		call.close += ":"
		return call.lines("", "    ") + "\n    print(" + snake(name) + ")"
	case o.result == nil:
		return before + call.after("client.").lines("", "    ")
	}
	return before + call.after("result = client.").lines("", "    ")
}

// snake returns a name in camel case in snake case.
func snake(name string) string { return strings.TrimSuffix(pyName(name), "_") }

func pyScalar(v any) string {
	switch v {
	case nil:
		return "None"
	case true:
		return "True"
	case false:
		return "False"
	}
	return jsonText(v)
}
