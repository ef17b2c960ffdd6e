package main

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
)

// pathParam matches a parameter in a path.
var pathParam = regexp.MustCompile(`\{(\w+)\}`)

// addOperation adds an operation.
func (p *parser) addOperation(method, path string, o *operationObject) error {
	result := &operation{name: o.OperationID, method: method, path: path, summary: o.Summary, doc: o.Description}
	for _, ref := range o.Parameters {
		parameter, err := resolve(p.Components.Parameters, ref.Ref, ref)
		if err != nil {
			return err
		}
		if err := p.addParameter(result, parameter); err != nil {
			return fmt.Errorf("parameter %s: %w", parameter.Name, err)
		}
	}
	var inPath []*field
	for _, match := range pathParam.FindAllStringSubmatch(path, -1) {
		i := slices.IndexFunc(result.pathParams, func(f *field) bool { return f.name == match[1] })
		if i < 0 {
			return fmt.Errorf("parameter %s is not described", match[1])
		}
		inPath = append(inPath, result.pathParams[i])
	}
	result.pathParams = inPath
	requiredFirst(result.queryParams)
	if err := p.addBody(result, o); err != nil {
		return err
	}
	if err := p.addResult(result, o); err != nil {
		return err
	}
	p.api.operations = append(p.api.operations, result)
	return nil
}

func (p *parser) addParameter(o *operation, parameter *parameter) error {
	switch parameter.Name {
	case "Idempotency-Key":
		o.keyed = true
		return nil
	case "If-Match":
		o.ifMatch = true
		return nil
	case "If-None-Match":
		o.ifNoneMatch = true
		return nil
	}
	t, err := p.typeOf("", parameter.Schema)
	if err != nil {
		return err
	}
	if t.kind > booleanKind && t.kind != enumKind {
		return fmt.Errorf("its type is not supported")
	}
	f := &field{name: parameter.Name, doc: parameter.Description, typ: t, required: parameter.Required}
	if len(parameter.Schema.Examples) > 0 {
		f.example = parameter.Schema.Examples[0]
	}
	switch parameter.In {
	case "path":
		o.pathParams = append(o.pathParams, f)
	case "query":
		o.queryParams = append(o.queryParams, f)
	case "header":
		o.headerParams = append(o.headerParams, f)
	default:
		return fmt.Errorf("it is in %q", parameter.In)
	}
	return nil
}

// addBody adds the types of request bodies: the fields of a JSON object, a form with
// a file, or any other content.
func (p *parser) addBody(o *operation, source *operationObject) error {
	if source.RequestBody == nil {
		return nil
	}
	for _, media := range slices.Sorted(maps.Keys(source.RequestBody.Content)) {
		s := source.RequestBody.Content[media].Schema
		var err error
		switch media {
		case "application/json":
			o.hasBody = true
			o.example, _ = source.RequestBody.Content[media].Example.(map[string]any)
			o.body, err = p.fields(pascal(o.name), s)
		case "multipart/form-data":
			o.multipart, err = p.fields(pascal(o.name), s)
		default:
			o.media = media
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// addResult adds the type of successful responses, which is a union if it depends on
// the status, and whether they are pages of a list.
func (p *parser) addResult(o *operation, source *operationObject) error {
	for _, status := range slices.Sorted(maps.Keys(source.Responses)) {
		r, err := resolve(p.Components.Responses, source.Responses[status].Ref, source.Responses[status])
		if err != nil {
			return err
		}
		if status[0] != '2' {
			continue
		}
		for _, media := range slices.Sorted(maps.Keys(r.Content)) {
			t := &typeRef{kind: binaryKind}
			if media == "application/json" {
				if t, err = p.typeOf(pascal(o.name)+"Response", r.Content[media].Schema); err != nil {
					return err
				}
			}
			switch {
			case o.result == nil:
				o.result = t
			case o.result.kind != t.kind || o.result.name != t.name:
				o.result = &typeRef{kind: unionKind, members: []*typeRef{o.result, t}}
			}
		}
	}
	if o.result == nil || o.result.kind != namedKind {
		return nil
	}
	envelope := p.Components.Schemas[o.result.name]
	o.paged = envelope.Properties["nextCursor"] != nil
	if data := envelope.Properties["data"]; o.paged && data.Items != nil {
		var err error
		o.record, err = p.typeOf("", data.Items)
		return err
	}
	return nil
}

// requiredFirst sorts required fields before optional ones.
func requiredFirst(fields []*field) {
	slices.SortStableFunc(fields, func(a, b *field) int {
		switch {
		case a.required == b.required:
			return 0
		case a.required:
			return -1
		}
		return 1
	})
}
