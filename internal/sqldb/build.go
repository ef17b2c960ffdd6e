package sqldb

import (
	"slices"
	"strconv"
	"strings"
)

// Args collects the arguments of a statement that is built from parts.
type Args []any

// Add appends a value and returns its placeholder.
func (a *Args) Add(v any) string {
	*a = append(*a, v)
	return "$" + strconv.Itoa(len(*a))
}

// In appends the values of an IN list and returns the placeholders between its
// parentheses. It repeats the last value until the length is a power of four, so that
// only a few different statements are prepared. values must not be empty.
func (a *Args) In(values []string) string {
	length := 1
	for length < len(values) {
		length *= 4
	}
	var b strings.Builder
	for i := range length {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(a.Add(values[min(i, len(values)-1)]))
	}
	return b.String()
}

// InChunks calls fn for at most 256 values at a time, with the placeholders and arguments
// of an IN list.
func InChunks(values []string, fn func(in string, args []any) error) error {
	for chunk := range slices.Chunk(values, 256) {
		var a Args
		in := a.In(chunk)
		if err := fn(in, a); err != nil {
			return err
		}
	}
	return nil
}

// batchValues limits the number of parameters in one statement, because SQLite searches
// all named parameters for each one that it binds.
const batchValues = 256

// Batches calls fn with the values of many rows at a time. It uses only a few different
// numbers of rows, so that only a few different statements are prepared.
func Batches(rows [][]any, fn func(n int, args []any) error) error {
	for len(rows) > 0 {
		n := 1
		for _, size := range []int{64, 16, 8, 4, 2} {
			if len(rows) >= size && size*len(rows[0]) <= batchValues {
				n = size
				break
			}
		}
		var args []any
		for _, row := range rows[:n] {
			args = append(args, row...)
		}
		if err := fn(n, args); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

// Values returns ($1, $2), ($3, $4) … for the given number of rows and columns.
func Values(rows, columns int) string {
	b := make([]byte, 0, len("$1234, ")*rows*columns+len("(), ")*rows)
	for i := range rows * columns {
		switch {
		case i == 0:
			b = append(b, '(')
		case i%columns == 0:
			b = append(b, "), ("...)
		default:
			b = append(b, ", "...)
		}
		b = strconv.AppendInt(append(b, '$'), int64(i+1), 10)
	}
	return string(append(b, ')'))
}
