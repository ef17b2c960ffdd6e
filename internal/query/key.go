package query

import (
	"slices"
	"strings"
)

// kind is how the values of a key are read.
type kind int

const (
	kindText kind = iota
	kindIs
	kindHas
	kindNo
	kindRef
	kindPlan // due, start: days ahead
	kindPast // created, updated, completed: days back
	kindStatus
	kindSort
)

// lookup finds a key of the search grammar by its lower-case word and gives its
// full name.
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
	case "title", "description", "comment", "checklist":
		return word, kindText, true
	case "status":
		return word, kindStatus, true
	case "sort":
		return word, kindSort, true
	}
	return "", 0, false
}

// hint says what to write instead of a word that looks like a key and is none;
// "" for other words.
func hint(word string) string {
	switch word {
	case "owner", "user", "person", "people":
		return "member: for whom a card is assigned to, creator: for who made it, or commenter: for who commented"
	}
	return ""
}

// The closed vocabularies. They are constant: nothing writes them.
var (
	isWords     = []string{"open", "done", "archived", "overdue", "assigned", "unassigned", "checked", "unchecked"}
	hasWords    = []string{"description", "checklist", "comment", "due", "start", "assignee", "label"}
	statusWords = []string{"on_track", "at_risk", "off_track", "on_hold", "complete"}
	sortWords   = []string{"position", "due", "start", "created", "updated", "title"}
	planWords   = []string{"overdue", "today", "tomorrow", "week", "calendarweek", "next7", "month", "none", "any"}
)

// idPrefixes are the ids that a reference takes.
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
	default: // an integration, too, creates cards and comments
		return []string{"usr_", "itg_"}
	}
}

// isID tells whether s is an id of one of the prefixes: the prefix and 26
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

// takes tells whether the unquoted word is a special value of the reference.
func (r Ref) takes(word string) bool {
	switch word {
	case "none", "any":
		return r != RefBoard
	case "me":
		return r == RefMember || r == RefCreator || r == RefCommenter
	}
	return false
}

// allowed says what the key takes, as the end of "due takes …".
func allowed(key string, k kind) string {
	const dates = "a date (YYYY-MM-DD from 1900 to 2999, or yesterday, today, tomorrow), a comparison such as >=2026-01-31, " +
		"or a range such as 2026-01-01..2026-01-31 (either side may be *)"
	switch k {
	case kindIs:
		return orList(isWords)
	case kindHas, kindNo:
		return orList(hasWords)
	case kindStatus:
		return orList(statusWords)
	case kindSort:
		return "one of " + orList(sortWords) + ", with - in front for descending"
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

// orList writes "a, b or c".
func orList(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// check refuses values that the key does not take and brings the others into
// canonical form. It counts the words of a text.
func (t *term) check() (words int, err error) {
	if len(t.values) > MaxValues {
		return 0, t.refuse(MaxValues, "%s takes at most %d values", t.key, MaxValues)
	}
	if t.kind == kindSort {
		if t.negated {
			return 0, t.refuse(len(t.values), "sort cannot be negated; write sort:-due for descending")
		}
		if len(t.values) > 1 {
			return 0, t.refuse(1, "sort takes only one value")
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
			return 0, t.refuse(i, "%s takes %s", t.key, allowed(t.key, t.kind))
		}
	}
	return words, nil
}

// word reads a word of a closed vocabulary.
func (v *value) word(words []string) bool {
	v.text, v.quoted = strings.ToLower(v.text), false
	return slices.Contains(words, v.text)
}

// ref reads a name, an id or a special word. A person may be written with the
// @ of the short form, a label with its #.
func (v *value) ref(r Ref) bool {
	if !v.quoted {
		// What would then open a phrase stays as it is.
		if s := strings.TrimLeft(v.text, sigil(r)); !strings.HasPrefix(s, `"`) {
			v.text = s
		}
		if low := strings.ToLower(v.text); r.takes(low) {
			v.text = low
		}
	}
	return FoldName(v.text) != ""
}

// sigil is the short form's mark, or "".
func sigil(r Ref) string {
	switch r {
	case RefMember:
		return "@"
	case RefLabel:
		return "#"
	}
	return ""
}

// special is the word that v stands for: none, any, me or "".
func (v value) special(r Ref) string {
	if v.quoted || !r.takes(v.text) {
		return ""
	}
	return v.text
}

// sortOf reads a checked value of sort.
func sortOf(s string) Sort {
	by, desc := strings.CutPrefix(s, "-")
	return Sort{By: SortBy(by), Desc: desc}
}
