// Package query parses conditions on cards into a tree: the filter parameters
// of the card lists (Filter) and the search grammar (ParseSearch). Both result
// in the same Query, so lists, searches, saved filters and the web application
// interpret conditions in the same way.
//
// Package store compiles the tree to SQL. This package performs no I/O.
//
// # Guarantees
//
//   - The tree is resolved. Relative words (today, overdue, me …) have been replaced
//     by dates, instants and ids from one Env. A saved filter stores its text and
//     is parsed for each run.
//   - The tree is shallow: a conjunction of terms. Each term is a leaf, a
//     disjunction of leaves (or of pairs of leaves), or the negation of one. Its
//     size is bounded by the limits in limits.go.
//   - Parsing takes linear time and never panics. Everything that is not an operator
//     is plain text. Plain text reaches the tree only as words of letters, marks
//     and digits, so no operator of a full-text engine can pass.
//   - Errors are board.CodeInvalidRequest. They name the parameter and what is
//     allowed, never repeat the caller's value, and for the search grammar give
//     the byte offset ("at offset 12").
//   - ParseSearch(q.String()) returns the same tree as q for the same Env.
//
// # The search grammar
//
//	query     = [ term { ws term } ]                         terms AND
//	term      = ["-"] ( qualifier | "@"atom | "#"atom | phrase | word["*"] )
//	qualifier = key ":" value { "," value }                  values OR
//	value     = [">"|">="|"<"|"<="] atom | bound ".." bound
//	bound     = atom | "*"
//	atom      = run without space or comma | phrase
//	phrase    = '"' characters '"'                           \" escapes
//
// Rules that the grammar does not show:
//
//   - Plain text with an opening quote but no closing one is taken literally. In the
//     value of a known key this is an error.
//   - Keys are case-insensitive. An unknown key makes the whole run plain text. A
//     known key without a value is an error.
//   - The words none, any and me are special for the keys that accept them, unless
//     they are quoted: label:"none" is the label with that name.
//   - Comparisons and ranges exist for dates only. Elsewhere > and .. are text.
//   - @ada,@bob and @ada,bob both mean member:ada,bob.
//   - A person is given as an id, an email address that the caller may see, me, or a
//     name. A name is the full name or, if no one has it, the start of a name. It
//     must identify one of the people that the caller can see. Lists, labels and
//     boards are given by their full names.
//   - assignee: is member:, author: is creator:, tag: is label:. owner:, user:,
//     person: and people: are ambiguous and are errors.
//   - is:open means neither done nor archived. Archived cards are only included if a
//     term asks for is:archived. Alone it means archived cards only;
//     is:open,done,archived means all cards.
//   - is:checked and is:unchecked correspond to the filter
//     checklist=complete|incomplete, because checklist: searches text.
//   - no:due,label means "no due date or no label", as every comma means or;
//     -has:due,label means "neither".
//   - A text term without a letter or digit (an emoji, a dash) is ignored, and Echo
//     marks it. If the query has no other terms, nothing matches.
//
// # Time
//
// Days are calendar days in Env.Zone. week is today and the next six days;
// next7 is another name for it. calendarweek is Monday to Sunday (ISO 8601)
// around today, and month the calendar month. due:N and start:N are the N days
// starting today. created:N, updated:N and completed:N are the N days ending
// today. overdue means that the card is not done and has a date before today
// or, with a time, an instant before now. A range whose end is before its start
// is an error if both are dates, and otherwise matches nothing.
package query
