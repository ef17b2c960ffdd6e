package main

import (
	"fmt"
	"strings"
)

var tsNotation = notation{object: [2]string{"{ ", "}"}, list: [2]string{"[", "]"}, key: tsKey, scalar: tsScalar}

// tsSnippet returns a call of an operation in TypeScript, in the style of prettier.
func tsSnippet(o *operation) string {
	before, options := "", []code{}
	var params []code
	for _, group := range []struct {
		name   string
		fields []argument
	}{
		{"path", examples(o.pathParams)},
		{"query", examples(required(o.queryParams))},
		{"header", examples(required(o.headerParams))},
	} {
		if len(group.fields) > 0 {
			params = append(params, tsObject(group.fields).after(group.name+": "))
		}
	}
	if len(params) > 0 {
		options = append(options, code{"params: { ", params, "}"})
	}
	switch {
	case o.hasBody && o.example != nil:
		options = append(options, tsObject(members(o.body, o.example)).after("body: "))
	case o.media != "":
		file, media := fileOf(o)
		before = "import { readFile } from 'node:fs/promises'\n\n" +
			fmt.Sprintf("const content = await readFile('%s')\n", file)
		options = append(options, code{open: fmt.Sprintf("body: new Blob([content], { type: '%s' })", media)})
	}
	if o.result != nil && o.result.kind == binaryKind {
		options = append(options, code{open: "parseAs: 'blob'"})
	}
	call := code{open: fmt.Sprintf("%s('%s'", o.method, o.path), close: ")"}
	if o.record != nil {
		call.open = fmt.Sprintf("all('%s'", o.path)
	}
	if len(options) > 0 {
		call = code{call.open + ", { ", options, "})"}
	}
	switch {
	case o.record != nil:
		name := variable(o.record)
		call = call.after("for await (const " + name + " of client.")
		call.close += ") {"
		return call.lines("", "  ") + "\n  console.log(" + name + ")\n}"
	case o.result == nil:
		return before + call.after("await client.").lines("", "  ")
	}
	return before + call.after("const result = await client.").lines("", "  ")
}

// fileOf returns the name and the media type of the file that a snippet sends.
func fileOf(o *operation) (name, media string) {
	if strings.HasSuffix(o.media, "/*") {
		return pictureFile, pictureMedia
	}
	return partFile, o.media
}

func tsObject(fields []argument) code {
	object := code{open: "{ ", close: "}"}
	for _, f := range fields {
		object.items = append(object.items, tsNotation.value(f.value).after(tsKey(f.name)+": "))
	}
	return object
}

// tsKey returns the name of a property, in quotes if it needs some.
func tsKey(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return r != '_' && (r < '0' || r > '9') && (r|' ' < 'a' || r|' ' > 'z') }) {
		return "'" + name + "'"
	}
	return name
}

func tsScalar(v any) string {
	text := jsonText(v)
	if _, ok := v.(string); ok && !strings.ContainsAny(text[1:len(text)-1], `'\`) {
		return "'" + text[1:len(text)-1] + "'"
	}
	return text
}
