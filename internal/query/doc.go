// Package query parses conditions on cards into a tree. Filter parses the filter
// parameters of the card lists, and ParseSearch parses the search grammar. Both
// return a Query, so lists, searches, saved filters and the web application
// interpret conditions in the same way.
//
// Package store/search translates the tree to SQL. This package performs no I/O.
//
// # Guarantees
//
//   - The tree is resolved. Relative words (today, overdue, me …) have been replaced
//     by dates, instants and ids from one Env. A saved filter stores its text and
//     is parsed for each run.
//   - The tree is shallow: a conjunction of terms. A term is a disjunction of leaves
//     and pairs of leaves. Leaves and terms may be negated. The size of the tree is
//     bounded by the limits in limits.go.
//   - Parsing takes linear time and never panics. Everything that is not an operator
//     is plain text. The tree contains plain text only as words of letters, marks
//     and digits, so no operator reaches a full-text engine.
//   - Errors in a query have the code board.CodeInvalidRequest. They name the
//     parameter and what it accepts, and never repeat the caller's value. Errors in
//     the search grammar contain the byte offset ("at offset 12").
//   - ParseSearch(q.String()) returns the same tree as q for the same Env, unless the
//     text exceeds a limit. The text of a combination of parameters can.
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
//   - Plain text with an opening quote but no closing quote is taken literally. If a
//     value of a known key starts with an unclosed quote, it is an error.
//   - Keys are case-insensitive. An unknown key makes the whole run plain text. A
//     known key without a value is an error.
//   - The words none, any and me are special for the keys that accept them. For keys
//     that also accept names, quotes turn them into names: label:"none" is the label
//     with that name.
//   - Comparisons and ranges exist for dates only. Elsewhere > and .. are text.
//   - @ada,@bob and @ada,bob both mean member:ada,bob.
//   - A person is given as an id, an email address that the caller may see, me, or a
//     name. A name is the full name or, if no one has it, the start of a name. It
//     must identify exactly one of the people that the caller can see. Lists, labels
//     and boards are given by their ids or their full names.
//   - assignee:, assignees:, assigned: and members: mean member:. author: means
//     creator:. labels:, tag: and tags: mean label:. edited: means updated:. owner:,
//     user:, person: and people: are ambiguous and are errors.
//   - is:open means neither done nor archived. Archived cards are included only if a
//     term that is not negated has is:archived. If such a term has no other value, only
//     archived cards are included. is:open,done,archived means all cards.
//   - is:checked and is:unchecked correspond to the filter
//     checklist=complete|incomplete. The key checklist: searches text instead.
//   - no:due,label means "no due date or no label", because every comma means or.
//     -has:due,label means "neither a due date nor a label".
//   - A text term without a letter or digit (an emoji, a dash) is ignored, and Echo
//     reports it as ignored. If the query has no other condition, nothing matches,
//     unless all ignored terms are negated.
//
// # Time
//
// Days are calendar days in Env.Zone. week is today and the next six days;
// next7 is another name for it. calendarweek is Monday to Sunday (ISO 8601)
// around today, and month the calendar month. due:N and start:N are the N days
// starting today. created:N, updated:N and completed:N are the last N days,
// including today. overdue means that the card is not done and has a date before
// today or, with a time, an instant before now. A range whose end is before its
// start is an error if both are dates, and otherwise matches nothing.
//
// Env.DayInWords and Env.InstantInWords parse dates in words, such as "friday", that
// are not part of a query. The web application tests its own parser with the same
// testdata/words.json.
package query
