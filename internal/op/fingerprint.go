package op

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
	"slices"
)

// fingerprint returns a hash of the operation and its arguments. It omits cursor and
// limit if paging is false, because they may differ from page to page.
func (c Call) fingerprint(paging bool) (sum [32]byte) {
	h := sha256.New()
	part(h, c.Operation.Name)
	for _, f := range c.Operation.Input.Fields {
		if f.In == InPath {
			part(h, c.Arguments.Path(f.Name))
		}
	}
	names := make([]string, 0, len(c.Arguments.Query))
	for name := range c.Arguments.Query {
		if paging || name != "cursor" && name != "limit" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		part(h, name)
		for _, v := range c.Arguments.Query[name] {
			part(h, v)
		}
	}
	part(h, string(c.Arguments.Body))
	if c.File != nil {
		part(h, c.File.Name)
		part(h, c.File.Blob.Hash)
	}
	h.Sum(sum[:0])
	return sum
}

// asked returns the call with the arguments that the caller sent.
func (c Call) asked() Call {
	if c.Asked != nil {
		c.Arguments = *c.Asked
	}
	return c
}

func part(h hash.Hash, s string) {
	_, _ = fmt.Fprintf(h, "%d:", len(s)) // writing to a hash never fails
	_, _ = io.WriteString(h, s)
}
