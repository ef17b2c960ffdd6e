package store

import (
	"reflect"

	"cardwall/internal/board"
)

// This file converts Go values to column values that both drivers accept. An optional
// field is either a pointer, or a value whose zero value means that it is missing.

// null returns an optional value as a column value. It returns NULL for a zero value
// ("", 0 or a nil pointer), and converts named types such as board.Instant to string
// or int64. A pointer to a zero value is not NULL.
func null[T comparable](v T) any {
	r := reflect.ValueOf(v)
	if r.IsZero() {
		return nil
	}
	if r.Kind() == reflect.Pointer {
		r = r.Elem()
	}
	switch r.Kind() {
	case reflect.String:
		return r.String()
	case reflect.Int, reflect.Int64:
		return r.Int()
	case reflect.Bool:
		return flag(r.Bool())
	}
	return r.Interface()
}

// flag returns a bool as a column value, 0 or 1.
func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// orEmpty returns an optional value for a column that stores "" for a missing value.
func orEmpty[T ~string](v *T) string {
	if v == nil {
		return ""
	}
	return string(*v)
}

// authorID returns the id of an optional author, or "" for none.
func authorID(u *board.UserRef) string {
	if u == nil {
		return ""
	}
	return u.ID
}
