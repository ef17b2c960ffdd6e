package op

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"reflect"

	"github.com/go-json-experiment/json"

	"cardwall/internal/board"
)

// DefaultLimit is the default maximum number of records in a page.
const DefaultLimit = 50

// Paging is embedded in the input of an operation that returns a list in pages.
type Paging struct {
	Limit  int    `json:"limit,omitempty" minimum:"1" maximum:"200" doc:"The maximum number of records to return. Defaults to 50." example:"50"`
	Cursor string `json:"cursor,omitempty" maxLength:"2048" doc:"The nextCursor of the previous response. Defaults to the first page." example:"Q3Vyc29yLW9mLXRoZS1hbnN3ZXItYmVmb3Jl"`
	key    []byte
}

// Size returns the maximum number of records in the page.
func (p Paging) Size() int {
	if p.Limit == 0 {
		return DefaultLimit
	}
	return p.Limit
}

// After decodes the key of the previous page's last record into dest. For the
// first page, it leaves dest unchanged.
func (p Paging) After(dest any) error {
	if p.key == nil {
		return nil
	}
	if err := json.Unmarshal(p.key, dest); err != nil {
		return cursorFault()
	}
	return nil
}

func (p *Paging) paging() *Paging { return p }

// Continuation is embedded in the input of an operation that returns one record and
// splits a large one into pages. The record type must implement Continued.
type Continuation struct {
	Cursor string `json:"cursor,omitempty" maxLength:"2048" doc:"The nextCursor of the previous response. Defaults to the first page." example:"Q3Vyc29yLW9mLXRoZS1hbnN3ZXItYmVmb3Jl"`
	pages  Paging
}

// After decodes the key of the page into dest. For the first page, it leaves dest unchanged.
func (c *Continuation) After(dest any) error { return c.pages.After(dest) }

func (c *Continuation) paging() *Paging {
	c.pages.Cursor = c.Cursor
	return &c.pages
}

// Continued is a page of a large record. Next returns the key of the next page, or nil if
// this is the last one.
type Continued interface{ Next() any }

// Page is one page of a list. Next is the key of the page's last record, after
// which the next page begins, or nil if this is the last page. Query is the
// parsed query if the operation is registered with Echoes, and otherwise nil.
// BoardVersion is not 0 if the operation is registered with Versioned.
type Page[T any] struct {
	Items        []T
	Next         any
	Query        any
	BoardVersion int64
}

type pager interface {
	element() reflect.Type
	content() (envelope, any)
}

func (p Page[T]) element() reflect.Type { return reflect.TypeFor[T]() }

// content returns the envelope of the page, and the key of the next one.
func (p Page[T]) content() (envelope, any) {
	return envelope{Data: p.Items, Query: p.Query, BoardVersion: p.BoardVersion}, p.Next
}

// Cut makes a page of items that were read with a limit of size+1. The extra
// item shows that there is a next page.
func Cut[T any](items []T, size int, key func(last T) any) Page[T] {
	if len(items) <= size {
		return Page[T]{Items: items}
	}
	items = items[:size]
	return Page[T]{Items: items, Next: key(items[size-1])}
}

const macSize = 16

// sealCursor returns a signed cursor that contains a key. Bound is the fingerprint of
// the operation and filters for which the cursor is valid.
func sealCursor(secret []byte, bound [32]byte, key any) (string, error) {
	text, err := json.Marshal(key)
	if err != nil {
		return "", fmt.Errorf("encode cursor: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(append(cursorMAC(secret, bound, text), text...)), nil
}

// openCursor verifies a cursor and returns its key as JSON. It returns an error if the
// cursor was changed or belongs to another operation or other filters.
func openCursor(secret []byte, bound [32]byte, cursor string) ([]byte, error) {
	b, err := base64.RawURLEncoding.DecodeString(cursor)
	// The decoder skips line breaks and accepts any padding bits in the last
	// character, so the cursor must also equal its canonical encoding.
	if err != nil || base64.RawURLEncoding.EncodeToString(b) != cursor || len(b) < macSize ||
		!hmac.Equal(b[:macSize], cursorMAC(secret, bound, b[macSize:])) {
		return nil, cursorFault()
	}
	return b[macSize:], nil
}

func cursorMAC(secret []byte, bound [32]byte, text []byte) []byte {
	m := hmac.New(sha256.New, secret)
	m.Write(bound[:])
	m.Write(text)
	return m.Sum(nil)[:macSize]
}

func cursorFault() error {
	return board.Invalid("cursor is not valid for this operation with these filters. Use nextCursor unchanged, or "+
		"start again without a cursor.").In("cursor", board.RuleValue)
}
