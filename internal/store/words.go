package store

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"cardwall/internal/query"
)

// The index of words is held by workspace: each word has the end of its
// workspace's id in front, as one term, so that others' texts cost nothing.
// Triggers of migration 021 keep it, also when a card goes to another workspace.

const (
	// mostWorkspaces is in how many workspaces a word is looked up at once. Who is
	// in more finds it in the cards themselves.
	mostWorkspaces = 1000
	// workspaceEnd is how much of a workspace's id stands in front of its words in
	// the index; migrations 021 and 022 say so too.
	workspaceEnd = 8
)

// indexedIn are what stands in front of the words of a page's workspaces in the
// index of words; nil when that is not to be asked.
func (v *View) indexedIn(ctx context.Context, p CardPage, where query.And) ([]string, error) {
	isText := func(n query.Node) bool { _, ok := n.(query.Text); return ok }
	if !slices.ContainsFunc(slices.Collect(query.Leaves(where)), isText) {
		return nil, nil
	}
	var a arguments
	text := "SELECT b.workspace_id FROM boards b WHERE b.id = "
	if p.BoardID != "" {
		text += a.add(p.BoardID)
	} else {
		text = "SELECT m.workspace_id FROM workspace_members m WHERE m.user_id = " + a.add(v.caller.UserID)
		for _, w := range []string{p.WorkspaceID, v.caller.WorkspaceID} {
			if w != "" {
				text += " AND m.workspace_id = " + a.add(w)
			}
		}
	}
	in, err := v.texts(ctx, fmt.Sprintf("%s LIMIT %d", text, mostWorkspaces+1), a...)
	if err != nil || len(in) > mostWorkspaces {
		return nil, err
	}
	for i, id := range in {
		var ok bool
		if in[i], ok = wordKey(id); !ok {
			return nil, nil
		}
	}
	return in, nil
}

// wordKey is what stands in front of a workspace's words in the index. Ok is
// false for an id that is none of ours: it may hold an operator of the index.
func wordKey(workspaceID string) (key string, ok bool) {
	key = workspaceID[max(0, len(workspaceID)-workspaceEnd):]
	return key, strings.Trim(key, crockford) == ""
}

const (
	// matchWords is how many words of a phrase are looked up in the index. The
	// longest are the rarest, and what is found is read anyway.
	matchWords = 4
	// matchPrefix is how many bytes a prefix has at least that is looked up:
	// the index gathers all words that begin so.
	matchPrefix = 3
)

// match asks the index of words for all words of a text or, of a long one, for
// some of them, in each workspace. This and the two after it are the one place
// where the full-text engines differ. ok is false when the index is not worth
// asking. Words are letters, marks and digits, as is what stands in front of
// them, and each is quoted: nothing in them is an operator.
func (d dialect) match(n query.Text, workspaces []string) (match string, ok bool) {
	words, prefix := n.Words, ""
	if n.Prefix {
		words, prefix = n.Words[:len(n.Words)-1], n.Words[len(n.Words)-1]
	}
	words = rarest(words)
	if len(words) == 0 && len(prefix) < matchPrefix || len(workspaces) == 0 {
		return "", false
	}
	quote, and, or, star := `"`, " AND ", " OR ", "*"
	if d.lock {
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

// matches is that the index finds the text t. On SQLite that is true of the
// newest texts too, which the index does not know yet.
func (d dialect) matches(match string) string {
	if d.lock {
		return "array_to_tsvector(string_to_array(btrim(replace(rtrim(t.words), ' ', ' ' || right(t.workspace_id, 8))), ' ')) @@ " + match + "::tsquery"
	}
	return "t.id IN (" + d.found(match) + ")"
}

// found selects a row for each text that the index finds.
func (d dialect) found(match string) string {
	if d.lock {
		return "SELECT '' FROM texts t WHERE " + d.matches(match) // a text, as the other candidates in a UNION
	}
	return "SELECT rowid FROM texts_words WHERE texts_words MATCH " + match + " UNION ALL SELECT f.id FROM texts f WHERE f.id > (SELECT upto FROM texts_indexed)"
}

// among is that a value is one of a few that a query selects. PostgreSQL has to
// be told that they are few.
func (d dialect) among(text string) string {
	if d.lock {
		return "= ANY (ARRAY(" + text + "))"
	}
	return "IN (" + text + ")"
}

// rarest are the longest different words, at most matchWords.
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
