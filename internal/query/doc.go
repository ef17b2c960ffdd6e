// Package query turns the words by which a person or a program asks for cards
// into a tree: the filter parameters of the card lists (Filter) and the search
// grammar (ParseSearch). Both give the same Query, so a list, a search, a saved
// filter and the web application mean the same thing by the same word.
//
// store compiles the tree to SQL; app, rest and mcp parse and echo it. The
// package knows no database and does no input or output.
//
// # What it promises
//
//   - The tree is resolved: relative words (today, overdue, me …) are already
//     dates, instants and ids, taken from one Env. A saved filter keeps its
//     text and is parsed at each run.
//   - The tree is shallow: a conjunction of terms; each term a leaf, a
//     disjunction of leaves (or of a leaf pair), or the negation of one. Its
//     size is bounded by the caps in limits.go.
//   - Parsing takes linear time and never panics, whatever the text. What is
//     not an operator is plain text, and plain text reaches the tree only as
//     words made of letters, marks and digits: no operator of a full-text engine
//     can pass.
//   - A refusal is board.CodeInvalidRequest. It names the parameter and what is
//     allowed, never repeats the caller's value, and for the search grammar
//     gives the byte offset ("at offset 12").
//   - ParseSearch(q.String()) gives the same tree as q under the same Env.
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
// Decisions that the grammar leaves open:
//
//   - A plain phrase or word whose quote never closes is plain text. For a known
//     key it is refused.
//   - A key is case-insensitive; an unknown key makes the whole run plain text. A
//     known key without a value is refused.
//   - The words none, any and me are special where a key takes them, unless they
//     stand in quotes: label:"none" is the label of that name.
//   - Comparisons and ranges exist for dates only; elsewhere > and .. are text.
//   - @ada,@bob and @ada,bob are both member:ada,bob.
//   - A person is written as an id, an email address that the caller may see, me,
//     or a name. A name is the whole name or, when nobody has that one, its
//     beginning. It must mean one of the people whom the caller sees. A list, a
//     label and a board are written with their whole name.
//   - assignee: is member:, author: is creator:, tag: is label:. owner:, user:,
//     person: and people: could mean several things and are refused.
//   - is:open is neither done nor archived. Archived cards appear only if some
//     term asks for is:archived; alone that means archived cards only,
//     is:open,done,archived means all cards.
//   - is:checked and is:unchecked are the words for the filter
//     checklist=complete|incomplete, because checklist: searches text.
//   - no:due,label is "no due date or no label", as every comma;
//     -has:due,label is "neither".
//   - A text term without a single letter or digit (an emoji, a dash) is ignored
//     and marked so in Echo. If nothing else was asked for, nothing matches.
//
// # Time
//
// Days are calendar days in Env.Zone. week is today and the next six days, and
// next7 is another name for it. calendarweek is Monday to Sunday (ISO 8601)
// around today, month the calendar month. due:N
// and start:N are the N days that begin with today, created:N, updated:N and
// completed:N the N days that end with today. overdue is: a due (or start) date
// before today for an all-day card, a due instant before now for a timed one,
// and the card not done. A range whose end lies before its beginning is refused
// if both are written as dates, and otherwise matches nothing.
package query
