package mcp

import (
	"testing"

	"cardwall/internal/op"
)

// TakesNames reports whether a field of a tool accepts names. Fields within others are named like
// cards[].listId.
func TakesNames(t testing.TB, r *op.Registry, o *op.Operation, field string) bool {
	tool, err := newTool(r, o)
	if err != nil {
		t.Fatal(err)
	}
	return tool.names[field] != ""
}

// Dates returns the fields of a tool that accept dates in words, with their kinds.
func Dates(t testing.TB, r *op.Registry, o *op.Operation) map[string]string {
	tool, err := newTool(r, o)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]string{}
	for field, kind := range tool.dates {
		kinds[field] = string(kind)
	}
	return kinds
}

// NeedsLookup reports whether a tool must look up names or dates before it runs with a body.
func NeedsLookup(t testing.TB, r *op.Registry, o *op.Operation, body string) bool {
	tool, err := newTool(r, o)
	if err != nil {
		t.Fatal(err)
	}
	args := op.Arguments{Body: []byte(body), Path: func(string) string { return "" }}
	return tool.references(args) != nil || tool.dateWords(args) != nil
}
