package op

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// returnsRecord reports whether the operation returns one record.
func (o *Operation) returnsRecord() bool { return !o.Paged && o.subject != nil }

// isRecord reports whether a query returns the record whose id is the last part of the path.
func (o *Operation) isRecord() bool {
	return o.Method == http.MethodGet && o.Audience == Public && o.returnsRecord() && strings.HasSuffix(o.Path, "}") &&
		strings.Count(o.Path, "{") == 1
}

// link sets the record of the commands that o reads the record of or, if o is a command, its own.
func (r *Registry) link(o *Operation) {
	for _, other := range r.all {
		for _, pair := range [][2]*Operation{{o, other}, {other, o}} {
			command, record := pair[0], pair[1]
			under := command.Path == record.Path || strings.HasPrefix(command.Path, record.Path+"/")
			if under && command.Method != http.MethodGet && command.Audience == Public && record.isRecord() &&
				(record.Scope == board.ScopeRead || record.Scope == command.Scope) {
				command.record = record
			}
		}
	}
}

// Conditional reports whether a call of the command can depend on the entity tag of the record at the start of
// its path. A command that changes data before its transaction cannot.
func (o *Operation) Conditional() bool { return o.record != nil && !o.sliced && !o.TakesPart() }

// checkConditional returns an error if the call has an If-Match header that its operation does not support.
func (c Call) checkConditional() error {
	if c.IfMatch == "" || c.Operation.Conditional() {
		return nil
	}
	return board.Invalid("If-Match: %s does not support this header.", c.Operation.Name).In("If-Match", board.RuleUnknown)
}

// Tagged reports whether the operation's responses have an entity tag.
func (o *Operation) Tagged() bool { return o.query != nil && o.Audience == Public }

// contentTag returns the entity tag of a response. It depends on nothing but the response.
func contentTag(body []byte) string {
	sum := sha256.Sum256(body)
	return `"` + base64.RawURLEncoding.EncodeToString(sum[:18]) + `"`
}

// CompressedTag is the suffix of the entity tag of a compressed response (RFC 9110, 8.8.3.3). Entity tags
// in requests match with and without it.
const CompressedTag = "-gzip"

// matchingTag returns the entity tag in the value of an If-Match or If-None-Match header that matches tag, or
// "" if there is none. Like a proxy that compresses responses, it does not distinguish weak tags from strong ones.
func matchingTag(header, tag string) string {
	plain := func(tag string) string {
		return strings.Replace(strings.TrimPrefix(tag, "W/"), CompressedTag+`"`, `"`, 1)
	}
	for one := range strings.SplitSeq(header, ",") {
		switch one = strings.TrimSpace(one); {
		case one == "*":
			return tag
		case plain(one) == plain(tag):
			return one
		}
	}
	return ""
}

// tagged gives a response its entity tag, and removes a body that the caller already has.
func (r Response) tagged(match string) Response {
	if r.Tag == "" {
		r.Tag = contentTag(r.Body)
	}
	if same := matchingTag(match, r.Tag); same != "" {
		r.Tag, r.Body, r.Same = same, nil, true
	}
	return r
}

// checkVersion returns a version_conflict unless Call.IfMatch matches the record at the start of the path. It
// locks the record until the transaction ends.
func (c Call) checkVersion(ctx context.Context, tx *store.Tx, in any) error {
	if c.IfMatch == "" {
		return nil
	}
	read := Call{Operation: c.Operation.record, Caller: c.Caller, Arguments: Arguments{Path: c.Arguments.Path}}
	id, _ := read.Operation.Input.firstInPath()
	recordID, other := c.Arguments.Path(id.Name), ""
	for _, record := range c.Operation.Input.records(in) {
		if record != recordID {
			other = record
		}
	}
	if err := tx.LockRecord(ctx, recordID, other); err != nil {
		return err
	}
	input, err := read.Operation.Input.decode(read.Arguments)
	if err != nil {
		return err
	}
	out, err := read.Operation.query(ctx, tx.View, input)
	if err != nil {
		return err
	}
	body, err := envelope{Data: out}.write()
	if err != nil {
		return err
	}
	tag := contentTag(body)
	if matchingTag(tagsOfRecords(c.IfMatch), tag) != "" {
		return nil
	}
	current, err := json.Marshal(out, encodeOptions)
	if err != nil {
		return fmt.Errorf("encode the record of %s: %w", c.Operation.Name, err)
	}
	return &board.Fault{
		Code: board.CodeInvalidRequest, Cause: board.CausePrecondition, Reason: board.ReasonVersionConflict,
		Message: "If-Match: the object has changed. The response contains its current state and ETag.",
		Tag:     tag, Current: current,
	}
}
