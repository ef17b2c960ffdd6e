package search

import (
	"strings"

	"cardwall/internal/query"
	"cardwall/internal/sqldb"
)

// The search index is organized by workspace: each word is prefixed with the end
// of its workspace's id and indexed as one term, so that texts of other workspaces
// cost nothing. Triggers of migration 021 maintain it, even when a card moves to
// another workspace.

const (
	// MaxWorkspaces is how many workspaces one lookup covers. A caller with more
	// workspaces searches the cards themselves.
	MaxWorkspaces = 1000
	// MaxProbes is how many terms of one query are tried as its lead.
	MaxProbes = 8

	// workspaceEnd is the length of a workspace's prefix. Migrations 021 and 022
	// use the same.
	workspaceEnd = 8

	// crockford is the alphabet of ids.
	crockford = "0123456789abcdefghjkmnpqrstvwxyz"
)

// CardTexts selects the texts of the cards with $1 < id <= $2: card, place, ref, text.
const CardTexts = `SELECT c.id, 'title', '', c.title FROM cards c WHERE c.id > $1 AND c.id <= $2
	UNION ALL SELECT c.id, 'description', '', c.description FROM cards c WHERE c.id > $1 AND c.id <= $2
	UNION ALL SELECT m.card_id, 'comment', m.id, m.text FROM comments m WHERE m.card_id > $1 AND m.card_id <= $2
	UNION ALL SELECT k.card_id, 'checklist', k.id, k.title FROM checklists k WHERE k.card_id > $1 AND k.card_id <= $2
	UNION ALL SELECT k.card_id, 'checklist', i.id, i.title FROM checklists k JOIN checklist_items i ON i.checklist_id = k.id
	WHERE k.card_id > $1 AND k.card_id <= $2`

// IndexedText returns a text as the table texts stores it: its words with a space
// around each, or "" if it has none.
func IndexedText(text string) string {
	words := query.Words(text)
	if len(words) == 0 {
		return ""
	}
	return " " + strings.Join(words, " ") + " "
}

// WorkspaceKey returns the prefix of a workspace's words in the index. Ok is false
// for an id that Cardwall did not make, which might contain an operator of the index.
func WorkspaceKey(workspaceID string) (key string, ok bool) {
	key = workspaceID[max(0, len(workspaceID)-workspaceEnd):]
	return key, strings.Trim(key, crockford) == ""
}

const (
	// matchWords is how many words of a phrase are looked up in the index. The
	// longest are the rarest, and the texts found are compared anyway.
	matchWords = 4
	// matchPrefix is the shortest prefix in bytes that is looked up, because the
	// index collects all words that begin with it.
	matchPrefix = 3
)

// match returns the index lookup for all words of a text, or for some words of a
// long one, in each workspace. It and the next two functions are the only place
// where the full-text engines differ. Ok is false if a lookup is not worth its
// cost. Words and prefixes are letters, marks and digits, and each is quoted, so
// none of them is an operator.
func match(d sqldb.Dialect, n query.Text, workspaces []string) (lookup string, ok bool) {
	words, prefix := n.Words, ""
	if n.Prefix {
		words, prefix = n.Words[:len(n.Words)-1], n.Words[len(n.Words)-1]
	}
	words = rarest(words)
	if len(words) == 0 && len(prefix) < matchPrefix || len(workspaces) == 0 {
		return "", false
	}
	quote, and, or, star := `"`, " AND ", " OR ", "*"
	if d.RowLocks {
		quote, and, or, star = "'", " & ", " | ", ":*"
	}
	parts := make([]string, len(workspaces))
	for i, w := range workspaces {
		if len(words) == 0 {
			parts[i] = quote + w + prefix + quote + star
			continue
		}
		parts[i] = "(" + quote + w + strings.Join(words, quote+and+quote+w) + quote + ")"
	}
	return strings.Join(parts, or), true
}

// matches returns the condition that the index finds the text t. On SQLite it also
// holds for the newest texts, which are not indexed yet.
func matches(d sqldb.Dialect, lookup string) string {
	if d.RowLocks {
		return "array_to_tsvector(string_to_array(btrim(replace(rtrim(t.words), ' ', ' ' || right(t.workspace_id, 8))), ' ')) @@ " +
			lookup + "::tsquery"
	}
	return "t.id IN (" + found(d, lookup) + ")"
}

// found returns a query with a row for each text that the index finds.
func found(d sqldb.Dialect, lookup string) string {
	if d.RowLocks {
		return "SELECT '' FROM texts t WHERE " + matches(d, lookup) // a text, as the other candidates in a UNION
	}
	return "SELECT rowid FROM texts_words WHERE texts_words MATCH " + lookup + " UNION ALL SELECT f.id FROM texts f " +
		"WHERE f.id > (SELECT upto FROM texts_indexed)"
}

// rarest returns the longest different words, at most matchWords.
func rarest(words []string) []string {
	out := make([]string, 0, matchWords+1)
	for _, w := range words {
		at := len(out)
		for i, o := range out {
			if o == w {
				at = -1
				break
			}
			if at == len(out) && len(w) > len(o) {
				at = i
			}
		}
		if at < 0 {
			continue
		}
		out = append(out[:at], append([]string{w}, out[at:]...)...)
		if len(out) > matchWords {
			out = out[:matchWords]
		}
	}
	return out
}
