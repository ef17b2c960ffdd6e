package query

// Limits on the size of a query. Exceeding one is an error; nothing is
// truncated.
const (
	MaxTextBytes  = 16384 // per search text
	MaxTerms      = 100   // per search text
	MaxWords      = 200   // per search text, in all text terms
	MaxValues     = 50    // per term or parameter
	MaxValueBytes = 200   // per value of a parameter
	MaxDays       = 3650  // N in due:N
)

// MaxWordRunes is the length to which Words truncates words, in the index and
// in queries, so that a longer word is still found by its start. Every word
// stays far below the limit of 2,046 bytes of a PostgreSQL lexeme.
const MaxWordRunes = 64
