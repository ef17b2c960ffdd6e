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

// DefaultLimit is the default number of records of a page.
const DefaultLimit = 50

// Paging is embedded in the input of an operation that returns a list.
type Paging struct {
	Limit  int    `json:"limit,omitempty" minimum:"1" maximum:"200" doc:"The maximum number of records to return; 50 when absent." example:"50"`
	Cursor string `json:"cursor,omitempty" maxLength:"2048" doc:"The nextCursor of the previous response; the first page when absent." example:"Q3Vyc29yLW9mLXRoZS1hbnN3ZXItYmVmb3Jl"`
	key    []byte
}

// Size returns the number of records of the page.
func (p Paging) Size() int {
	if p.Limit == 0 {
		return DefaultLimit
	}
	return p.Limit
}

// After decodes the key of the previous page's last record into dest. On the
// first page it leaves dest unchanged.
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

// Page is one page of a list. Next is the key of its last record, from which
// the next page continues; it is nil on the last page. Query is the parsed
// query of an operation registered with Echoes, otherwise nil.
type Page[T any] struct {
	Items []T
	Next  any
	Query any
}

type pager interface {
	element() reflect.Type
	content() (items, next, query any)
}

func (p Page[T]) element() reflect.Type             { return reflect.TypeFor[T]() }
func (p Page[T]) content() (items, next, query any) { return p.Items, p.Next, p.Query }

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

// sealCursor signs a key for one operation with one set of filters.
func sealCursor(secret []byte, bound [32]byte, key any) (string, error) {
	text, err := json.Marshal(key)
	if err != nil {
		return "", fmt.Errorf("encode cursor: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(append(cursorMAC(secret, bound, text), text...)), nil
}

// openCursor verifies a cursor. It returns an error if the cursor was changed
// or belongs to another operation or other filters.
func openCursor(secret []byte, bound [32]byte, cursor string) ([]byte, error) {
	b, err := base64.RawURLEncoding.DecodeString(cursor)
	// The decoder skips line breaks and accepts any padding bits in the last
	// character.
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
