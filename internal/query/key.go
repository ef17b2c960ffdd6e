package query

import (
	"slices"
	"strings"
)

// kind defines how the values of a key are parsed.
type kind int

const (
	kindText kind = iota
	kindIs
	kindHas
	kindNo
	kindRef
	kindPlan // due, start: a number counts days from today into the future
	kindPast // created, updated, completed: a number counts days into the past
	kindStatus
	kindSort
)

// lookup returns the full name and kind of a key of the search grammar. The word
// must be in lower case.
func lookup(word string) (key string, k kind, ok bool) {
	switch word {
	case "is":
		return word, kindIs, true
	case "has":
		return word, kindHas, true
	case "no":
		return word, kindNo, true
	case "board", "list", "label", "member", "creator", "commenter":
		return word, kindRef, true
	case "assignee", "assignees", "assigned", "members":
		return "member", kindRef, true
	case "author":
		return "creator", kindRef, true
	case "labels", "tag", "tags":
		return "label", kindRef, true
	case "due", "start":
		return word, kindPlan, true
	case "edited":
		return "updated", kindPast, true
	case "created", "updated", "completed":
		return word, kindPast, true
	case "title", "description", "comment", "checklist", "attachment":
		return word, kindText, true
	case "status":
		return word, kindStatus, true
	case "sort":
		return word, kindSort, true
	}
	return "", 0, false
}

// hint returns the keys to use instead of an ambiguous word that looks like a key.
// It returns "" for other words.
func hint(word string) string {
	switch word {
	case "owner", "user", "person", "people":
		return "member: for assignees, creator: for the person who created the card, or commenter: for people who " +
			"commented"
	}
	return ""
}

// The fixed vocabularies. They are never modified.
var (
	isWords     = []string{"open", "done", "archived", "overdue", "assigned", "unassigned", "checked", "unchecked"}
	hasWords    = []string{"description", "checklist", "comment", "attachment", "due", "start", "assignee", "label"}
	statusWords = []string{"on_track", "at_risk", "off_track", "on_hold", "complete"}
	sortWords   = []string{"position", "due", "start", "created", "updated", "title", "relevance"}
	planWords   = []string{"overdue", "today", "tomorrow", "week", "calendarweek", "next7", "month", "none", "any"}
)

// idPrefixes returns the prefixes of ids that a reference accepts.
func idPrefixes(r Ref) []string {
	switch r {
	case RefList:
		return []string{"lst_"}
	case RefBoard:
		return []string{"brd_"}
	case RefLabel:
		return []string{"lbl_"}
	case RefMember:
		return []string{"usr_"}
	default: // integrations also create cards and comments
		return []string{"usr_", "itg_"}
	}
}

// isID reports whether s is an id with one of the prefixes: the prefix and 26
// characters of lower-case Crockford base32.
func isID(s string, prefixes []string) bool {
	for _, p := range prefixes {
		rest, ok := strings.CutPrefix(s, p)
		if ok && len(rest) == 26 && strings.Trim(rest, "0123456789abcdefghjkmnpqrstvwxyz") == "" {
			return true
		}
	}
	return false
}

// takes reports whether the reference accepts the unquoted word as a special value.
func (r Ref) takes(word string) bool {
	switch word {
	case "none", "any":
		return r != RefBoard
	case "me":
		return r == RefMember || r == RefCreator || r == RefCommenter
	}
	return false
}

// allowed describes the values that a key accepts. It completes "due takes …".
func allowed(key string, k kind) string {
	const dates = "a date (YYYY-MM-DD from 1900 to 2999, or yesterday, today, tomorrow), a comparison such as " +
		">=2026-01-31, " +
		"or a range such as 2026-01-01..2026-01-31 (either side may be *)"
	switch k {
	case kindIs:
		return orList(isWords)
	case kindHas, kindNo:
		return orList(hasWords)
	case kindStatus:
		return orList(statusWords)
	case kindSort:
		return "one of " + orList(sortWords) + ", prefixed with - for descending"
	case kindPlan:
		return strings.Join(planWords, ", ") + ", a number of days from 1 to 3650, " + dates
	case kindPast:
		return "a number of days from 1 to 3650, " + dates
	case kindText:
		return "text with at least one letter or digit"
	}
	switch Ref(key) {
	case RefBoard:
		return "a name or an id"
	case RefList, RefLabel:
		return "a name, an id, none or any"
	default:
		return "a name, an email address, an id, me, none or any"
	}
}

// orList returns "a, b or c".
func orList(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// check validates the values and normalizes them. It returns the number of
// words in text values.
func (t *term) check() (words int, err error) {
	if len(t.values) > MaxValues {
		return 0, t.fail(MaxValues, "%s takes at most %d values", t.key, MaxValues)
	}
	if t.kind == kindSort {
		if t.negated {
			return 0, t.fail(len(t.values), "sort cannot be negated; write sort:-due for descending")
		}
		if len(t.values) > 1 {
			return 0, t.fail(1, "sort takes only one value")
		}
	}
	for i := range t.values {
		v := &t.values[i]
		ok := true
		switch t.kind {
		case kindText:
			n := len(Words(v.text))
			words += n
			switch {
			case t.key != "":
				ok = n > 0
			case n == 0:
				t.ignored = true
			}
		case kindIs:
			ok = v.word(isWords)
		case kindHas, kindNo:
			ok = v.word(hasWords)
		case kindStatus:
			v.text = strings.ReplaceAll(v.text, "-", "_")
			ok = v.word(statusWords)
		case kindSort:
			desc := strings.HasPrefix(v.text, "-")
			v.text = strings.TrimPrefix(v.text, "-")
			if ok = v.word(sortWords); desc {
				v.text = "-" + v.text
			}
		case kindRef:
			ok = v.ref(Ref(t.key))
		case kindPlan, kindPast:
			ok = v.date(t.kind)
		}
		if !ok {
			return 0, t.fail(i, "%s takes %s", t.key, allowed(t.key, t.kind))
		}
	}
	return words, nil
}

// word normalizes a value and reports whether it is a word of a fixed vocabulary.
func (v *value) word(words []string) bool {
	v.text, v.quoted = strings.ToLower(v.text), false
	return slices.Contains(words, v.text)
}

// ref normalizes a name, an id or a special word, and reports whether it is not blank. It
// removes the prefix of the short form: @ for a member, # for a label.
func (v *value) ref(r Ref) bool {
	if !v.quoted {
		// Keep the sigil before a quote. Without it, String would return a phrase.
		if s := strings.TrimLeft(v.text, sigil(r)); !strings.HasPrefix(s, `"`) {
			v.text = s
		}
		if low := strings.ToLower(v.text); r.takes(low) {
			v.text = low
		}
	}
	return FoldName(v.text) != ""
}

// sigil returns the prefix of the short form, or "".
func sigil(r Ref) string {
	switch r {
	case RefMember:
		return "@"
	case RefLabel:
		return "#"
	}
	return ""
}

// special returns the special word in v: none, any or me. It returns "" if v is not
// a special word.
func (v value) special(r Ref) string {
	if v.quoted || !r.takes(v.text) {
		return ""
	}
	return v.text
}

// sortOf returns the order for a validated value of sort.
func sortOf(s string) Sort {
	by, desc := strings.CutPrefix(s, "-")
	return Sort{By: SortBy(by), Desc: desc && SortBy(by) != SortRelevance}
}
