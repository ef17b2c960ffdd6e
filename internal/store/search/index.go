package search

import (
	"strings"

	"cardwall/internal/query"
	"cardwall/internal/sqldb"
)

// The search index is organized by workspace: each word is prefixed with the end of its
// workspace's id and indexed as one term, so that the content of other workspaces costs
// nothing. The index also finds phrases of common words without reading all text that
// contains the words. On SQLite, it stores the positions of words. On PostgreSQL, where a
// GIN index has no positions, each pair of adjacent words is another term. Migrations 021
// and 047 define the triggers and functions that maintain the index, even when a card
// moves to another workspace.

const (
	// MaxWorkspaces is the maximum number of workspaces that one lookup covers. For a
	// caller in more workspaces, a search reads the cards themselves.
	MaxWorkspaces = 1000
	// MaxProbes is the maximum number of terms of a query that are probed to find the most
	// selective one.
	MaxProbes = 8

	// workspaceEnd is the length of a workspace's prefix. Migrations 021 and 047 use the
	// same length.
	workspaceEnd = 8

	// crockford is the alphabet of ids.
	crockford = "0123456789abcdefghjkmnpqrstvwxyz"
)

// CardTexts selects the searchable text of the cards with $1 < id <= $2, as the columns
// card, place, ref and text.
const CardTexts = `SELECT c.id, 'title', '', c.title FROM cards c WHERE c.id > $1 AND c.id <= $2
	UNION ALL SELECT c.id, 'description', '', c.description FROM cards c WHERE c.id > $1 AND c.id <= $2
	UNION ALL SELECT m.card_id, 'comment', m.id, m.text FROM comments m WHERE m.card_id > $1 AND m.card_id <= $2
	UNION ALL SELECT k.card_id, 'checklist', k.id, k.title FROM checklists k WHERE k.card_id > $1 AND k.card_id <= $2
	UNION ALL SELECT k.card_id, 'checklist', i.id, i.title FROM checklists k JOIN checklist_items i ON i.checklist_id = k.id
	WHERE k.card_id > $1 AND k.card_id <= $2
	UNION ALL SELECT t.card_id, 'attachment', t.id, t.name FROM attachments t WHERE t.card_id > $1 AND t.card_id <= $2
	AND t.removed_at IS NULL`

// IndexedText returns text in the form that the texts table stores: its words with
// spaces between and around them, or "" if it has no words.
func IndexedText(text string) string {
	words := query.Words(text)
	if len(words) == 0 {
		return ""
	}
	return " " + strings.Join(words, " ") + " "
}

// WorkspaceKey returns the prefix of a workspace's words in the index. Ok is false for an
// id that Cardwall did not generate, because it might contain an operator of the full-text
// engine.
func WorkspaceKey(workspaceID string) (key string, ok bool) {
	key = workspaceID[max(0, len(workspaceID)-workspaceEnd):]
	return key, strings.Trim(key, crockford) == ""
}

const (
	// pairJoin joins two adjacent words to a term on PostgreSQL. It is not part of any
	// word. Migration 047 uses the same character.
	pairJoin = "·"
	// matchPairs is the maximum number of pairs of a phrase that are looked up on
	// PostgreSQL. The longest pairs tend to be the rarest, and the entries found are
	// compared with the phrase anyway.
	matchPairs = 4
	// matchPrefix is the minimum length, in bytes, of a prefix that is looked up. A lookup
	// reads all words that begin with the prefix.
	matchPrefix = 3
)

// match returns the index lookup for the words of a term in each workspace, or for the
// prefix if the term has no other word. Ok is false if a lookup is not worth its cost.
// Words and prefixes consist of letters, marks and digits, and each term is quoted, so
// none of them is an operator. The full-text engines differ only in this function and the
// next four.
func match(d sqldb.Dialect, n query.Text, workspaces []string) (lookup string, ok bool) {
	words, prefix := n.Words, ""
	if n.Prefix {
		words, prefix = n.Words[:len(n.Words)-1], n.Words[len(n.Words)-1]
	}
	if len(words) == 0 && len(prefix) < matchPrefix || len(workspaces) == 0 {
		return "", false
	}
	find, or := matchPhrase, " OR "
	if d.RowLocks {
		find, or = matchTerms, " | "
	}
	parts := make([]string, len(workspaces))
	for i, w := range workspaces {
		parts[i] = find(w, words, prefix)
	}
	return strings.Join(parts, or), true
}

// matchPhrase returns the lookup of a phrase, or of a prefix, in FTS5.
func matchPhrase(workspace string, words []string, prefix string) string {
	if len(words) == 0 {
		return `"` + workspace + prefix + `"*`
	}
	return `"` + workspace + strings.Join(words, " "+workspace) + `"`
}

// matchTerms returns the lookup of the pairs of a phrase, of a word, or of a prefix, in
// a tsquery.
func matchTerms(workspace string, words []string, prefix string) string {
	if len(words) == 0 {
		return "'" + workspace + prefix + "':*"
	}
	terms := words
	if len(words) > 1 {
		terms = make([]string, len(words)-1)
		for i := range terms {
			terms[i] = words[i] + pairJoin + words[i+1]
		}
	}
	return "('" + workspace + strings.Join(rarest(terms), "' & '"+workspace) + "')"
}

// matches returns the condition that the index finds the entry t. On SQLite, it is also
// true for the newest entries, which are not indexed yet.
func matches(d sqldb.Dialect, lookup string) string {
	if d.RowLocks {
		return "texts_terms(t.words, t.workspace_id) @@ " + lookup + "::tsquery"
	}
	return "t.id IN (" + found(d, lookup) + ")"
}

// found returns a query with a row for each entry that the index finds.
func found(d sqldb.Dialect, lookup string) string {
	if d.RowLocks {
		return "SELECT '' FROM texts t WHERE " + matches(d, lookup) // a text column, like the other candidates in a UNION
	}
	return "SELECT rowid FROM texts_words WHERE texts_words MATCH " + lookup + " UNION ALL SELECT f.id FROM texts f " +
		"WHERE f.id > (SELECT upto FROM texts_indexed)"
}

// rarest returns the longest distinct terms, at most matchPairs.
func rarest(terms []string) []string {
	out := make([]string, 0, matchPairs+1)
	for _, term := range terms {
		at := len(out)
		for i, o := range out {
			if o == term {
				at = -1
				break
			}
			if at == len(out) && len(term) > len(o) {
				at = i
			}
		}
		if at < 0 {
			continue
		}
		out = append(out[:at], append([]string{term}, out[at:]...)...)
		if len(out) > matchPairs {
			out = out[:matchPairs]
		}
	}
	return out
}
