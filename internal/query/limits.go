package query

// Limits on the size of a query. Exceeding one is an error; nothing is
// truncated.
const (
	MaxTextBytes  = 16384 // per search text
	MaxTerms      = 100   // per search text
	MaxWords      = 200   // per query, in all text terms
	MaxValues     = 50    // per term or parameter
	MaxValueBytes = 200   // per value of a parameter
	MaxDays       = 3650  // N in due:N and other date keys
)

// MaxWordRunes is the length to which Words truncates words, in the index and
// in queries, so that a longer word is still found by its start. Every word
// stays far below PostgreSQL's limit of 2,046 bytes per lexeme.
const MaxWordRunes = 64
