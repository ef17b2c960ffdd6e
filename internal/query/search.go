package query

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"cardwall/internal/board"
)

// ParseSearch parses text in the search grammar. Blank text matches every card
// that is not archived. ParseSearch returns an error for a known key with an
// invalid value, with an unclosed quote or without a value, for an ambiguous key
// such as owner:, for a second sort:, and for text that exceeds MaxTextBytes,
// MaxTerms, MaxValues or MaxWords.
func ParseSearch(text string, env Env) (Query, error) {
	terms, err := scan(text, env.name())
	if err != nil {
		return Query{}, err
	}
	return build(terms, env)
}

// scan splits a search text into terms.
func scan(text, param string) ([]term, error) {
	if len(text) > MaxTextBytes {
		return nil, board.Invalid("%s must not be longer than %d bytes.", param, MaxTextBytes).
			In(param, board.RuleValue)
	}
	s := scanner{text: validUTF8(text), param: param}
	var terms []term
	for {
		s.skipSpace()
		if s.atEnd() {
			return terms, nil
		}
		if len(terms) == MaxTerms {
			return nil, errorAt(param, s.pos, "a search text must not have more than %d terms", MaxTerms)
		}
		start := s.pos
		t, err := s.term()
		if err != nil {
			return nil, err
		}
		t.param, t.offset, t.length = param, start, s.pos-start
		for s.at(',') && t.key != "" { // "@ada, hello"
			s.pos++
		}
		terms = append(terms, t)
	}
}

// validUTF8 replaces each byte of invalid UTF-8 with a question mark, so that
// offsets stay the same.
func validUTF8(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	b := []byte(s)
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			b[i] = '?'
		}
		i += n
	}
	return string(b)
}

// scanner reads a search text. It backtracks at most once per term.
type scanner struct {
	text  string
	pos   int
	param string
}

func (s *scanner) atEnd() bool { return s.pos >= len(s.text) }

func (s *scanner) at(c byte) bool { return s.pos < len(s.text) && s.text[s.pos] == c }

func (s *scanner) atSpace() bool {
	r, _ := utf8.DecodeRuneInString(s.text[s.pos:])
	return !s.atEnd() && unicode.IsSpace(r)
}

func (s *scanner) skipSpace() {
	for s.atSpace() {
		_, n := utf8.DecodeRuneInString(s.text[s.pos:])
		s.pos += n
	}
}

// term reads one term. The scanner must not be at a space or the end.
func (s *scanner) term() (term, error) {
	var t term
	if s.at('-') {
		s.pos++
		if s.atEnd() || s.atSpace() {
			s.pos--
		} else {
			t.negated = true
		}
	}
	at := s.pos
	switch {
	case s.at('"'):
		if text, ok := s.phrase(); ok {
			t.values = []value{{offset: at, text: text, quoted: true}}
			return t, nil
		}
	case s.at('@'):
		if values, ok := s.short(RefMember, '@'); ok {
			t.key, t.kind, t.values = string(RefMember), kindRef, values
			return t, nil
		}
	case s.at('#'):
		if values, ok := s.short(RefLabel, '#'); ok {
			t.key, t.kind, t.values = string(RefLabel), kindRef, values
			return t, nil
		}
	default:
		if err := s.misnamed(); err != nil {
			return t, err
		}
		if key, k, ok := s.key(); ok {
			var err error
			t.key, t.kind = key, k
			t.values, err = s.values(key, k)
			return t, err
		}
	}
	t.values = []value{s.word()}
	return t, nil
}

// key reads a known key and its colon. If there is none, it reads nothing and
// returns false.
func (s *scanner) key() (key string, k kind, ok bool) {
	end := s.pos
	for end < len(s.text) && end-s.pos < 16 && isLetter(s.text[end]) {
		end++
	}
	if end == len(s.text) || s.text[end] != ':' {
		return "", 0, false
	}
	if key, k, ok = lookup(strings.ToLower(s.text[s.pos:end])); ok {
		s.pos = end + 1
	}
	return key, k, ok
}

// misnamed returns an error if the next term is a word that is often mistaken for a
// key, followed by a colon and a value.
func (s *scanner) misnamed() error {
	word, rest, ok := strings.Cut(s.text[s.pos:min(len(s.text), s.pos+16)], ":")
	use := hint(strings.ToLower(word))
	if !ok || use == "" || rest == "" || strings.TrimSpace(rest[:1]) == "" {
		return nil
	}
	return errorAt(s.param, s.pos, "%s is not a search key; use %s", strings.ToLower(word), use)
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// phrase reads quoted text and unescapes it. If there is no closing quote, it
// reads nothing and returns false. A phrase cannot end in a backslash, because \" is
// an escape.
func (s *scanner) phrase() (text string, ok bool) {
	rest := s.text[s.pos+1:]
	for i := 0; i < len(rest); i++ {
		switch rest[i] {
		case '\\':
			if i+1 < len(rest) && rest[i+1] == '"' {
				i++
			}
		case '"':
			s.pos += i + 2
			return strings.ReplaceAll(rest[:i], `\"`, `"`), true
		}
	}
	return "", false
}

// run reads up to a space, one of the stops or the end.
func (s *scanner) run(stops ...string) string {
	start := s.pos
	for !s.atEnd() && !s.atSpace() {
		for _, stop := range stops {
			if strings.HasPrefix(s.text[s.pos:], stop) {
				return s.text[start:s.pos]
			}
		}
		_, n := utf8.DecodeRuneInString(s.text[s.pos:])
		s.pos += n
	}
	return s.text[start:s.pos]
}

// word reads a run as plain text.
func (s *scanner) word() value {
	v := value{offset: s.pos}
	v.text = s.run()
	if open := strings.TrimLeft(v.text, "@#"); strings.HasPrefix(open, `"`) {
		// The quote is not closed. Treat the run as a phrase, so that it has the
		// same meaning at any position in String.
		v.quoted = true
		v.text = strings.TrimRight(strings.ReplaceAll(v.text, `\"`, `"`), `\`)
		return v
	}
	v.star()
	return v
}

// star removes a * from the end of a word and sets prefix. It does nothing if the
// word has no other characters.
func (v *value) star() {
	if text, ok := strings.CutSuffix(v.text, "*"); ok && text != "" {
		v.text, v.prefix = text, true
	}
}

// short reads @ada or #bug with further alternatives. If there is no such value, it
// reads nothing and returns false.
func (s *scanner) short(r Ref, mark byte) ([]value, bool) {
	start := s.pos
	var values []value
	for {
		before := s.pos
		if len(values) > 0 {
			if !s.at(',') {
				return values, true
			}
			s.pos++
		}
		if s.at(mark) {
			s.pos++
		}
		v := value{offset: s.pos}
		ok := true
		if s.at('"') {
			v.text, ok = s.phrase()
			v.quoted = true
		} else {
			v.text = s.run(",")
		}
		if copied := v; !ok || !copied.ref(r) {
			s.pos = before
			if len(values) == 0 {
				s.pos = start
			}
			return values, len(values) > 0
		}
		values = append(values, v)
	}
}

// values reads the alternatives of a key.
func (s *scanner) values(key string, k kind) ([]value, error) {
	var values []value
	for {
		v, err := s.value(key, k)
		if err != nil {
			return nil, err
		}
		values = append(values, v)
		switch {
		case s.atEnd() || s.atSpace():
			return values, nil
		case !s.at(','):
			return nil, errorAt(s.param, s.pos, "after a quoted value, a comparison or a range, %s needs a space or a comma", key)
		}
		s.pos++
	}
}

func (s *scanner) value(key string, k kind) (value, error) {
	v := value{offset: s.pos}
	if k != kindPlan && k != kindPast {
		text, quoted, err := s.atom(key, v.offset, ",")
		if v.text, v.quoted = text, quoted; k == kindText && !quoted {
			v.star()
		}
		return v, err
	}
	for _, op := range []string{">=", "<=", ">", "<"} {
		if strings.HasPrefix(s.text[s.pos:], op) {
			v.op = op
			s.pos += len(op)
			break
		}
	}
	var err error
	if v.text, _, err = s.atom(key, v.offset, ",", ".."); err != nil {
		return v, err
	}
	if v.op == "" && strings.HasPrefix(s.text[s.pos:], "..") {
		v.op = ".."
		s.pos += 2
		v.to, _, err = s.atom(key, v.offset, ",", "..")
	}
	return v, err
}

// atom reads an atom of a known key. It returns an error if the atom is empty or its
// quote is not closed. At is the offset to report for an empty atom.
func (s *scanner) atom(key string, at int, stops ...string) (text string, quoted bool, err error) {
	if s.at('"') {
		text, ok := s.phrase()
		if !ok {
			return "", false, errorAt(s.param, s.pos, "%s has an opening quote without a closing one", key)
		}
		return text, true, nil
	}
	if text = s.run(stops...); text == "" {
		_, k, _ := lookup(key)
		return "", false, errorAt(s.param, at, "%s needs a value directly after its colon and after each comma; it "+
			"takes %s", key, allowed(key, k))
	}
	return text, false, nil
}
