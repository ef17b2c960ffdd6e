package query

// Caps on what one query may hold. More is refused by name, never cut off.
const (
	MaxTextBytes  = 16384 // of a search text
	MaxTerms      = 100   // of a search text
	MaxWords      = 200   // of a search text, over all its text terms
	MaxValues     = 50    // of one term or parameter
	MaxValueBytes = 200   // of one value of a parameter
	MaxDays       = 3650  // N in due:N
)

// MaxWordRunes is where Words cuts a word off, in the index and in a query
// alike, so that a longer word is still found by its beginning. It keeps every
// word far below the 2,046 bytes that a PostgreSQL lexeme may have.
const MaxWordRunes = 64
