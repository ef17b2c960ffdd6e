package docs

import (
	"regexp"
	"strings"
)

// block is a piece of a description. The kinds are those that descriptions
// need: paragraph, heading, list, numbered, code and table. Everything is text
// that the template escapes; markup in the source shows as it was typed.
type block struct {
	Kind  string
	Level int // of a heading: 2 to 6
	Text  []span
	Code  string
	Items [][]span
	Head  [][]span
	Rows  [][][]span
}

// span is text within a block; Kind is empty, code, strong, em or link.
type span struct{ Kind, Text, Href string }

var (
	headingLine  = regexp.MustCompile(`^(#{1,6})\s+(.+?)\s*#*$`)
	bulletLine   = regexp.MustCompile(`^\s{0,3}[-*+]\s+(.+)$`)
	numberedLine = regexp.MustCompile(`^\s{0,3}\d{1,3}[.)]\s+(.+)$`)
	ruleLine     = regexp.MustCompile(`^\s*\|?[\s:|-]*-[\s:|-]*\|?\s*$`)
	inlineMark   = regexp.MustCompile("`([^`]+)`|\\*\\*([^*]+)\\*\\*|\\*([^*\\s][^*]*)\\*|\\[([^\\]]+)\\]\\(([^()\\s]+)\\)")
	safeHref     = regexp.MustCompile(`^(https?://|mailto:|#|/[^/]|\.{0,2}/)`)
)

// noHeadings is the top level for texts within tables: a heading there is a
// line in bold, since it would break the page's outline.
const noHeadings = 0

// markdown reads the small part of Markdown that API descriptions use. The
// first heading gets level top and none skips a level below it, so the page's
// outline stays in order whatever the source does.
func (d *document) markdown(source string, top int) []block {
	lines := strings.Split(strings.ReplaceAll(source, "\r\n", "\n"), "\n")
	var out []block
	var para []string
	flush := func() {
		if len(para) > 0 {
			out = append(out, block{Kind: "paragraph", Text: d.spans(strings.Join(para, " "))})
			para = nil
		}
	}
	base, last := 0, top-1
	for i := 0; i < len(lines); i++ {
		line := strings.TrimRight(lines[i], " \t")
		if strings.TrimSpace(line) == "" {
			flush()
			continue
		}
		if fence := strings.TrimSpace(line); strings.HasPrefix(fence, "```") {
			flush()
			var code []string
			for i++; i < len(lines) && !strings.HasPrefix(strings.TrimSpace(lines[i]), "```"); i++ {
				code = append(code, lines[i])
			}
			out = append(out, block{Kind: "code", Code: strings.Join(code, "\n")})
			continue
		}
		if m := headingLine.FindStringSubmatch(line); m != nil {
			flush()
			if top == noHeadings {
				out = append(out, block{Kind: "paragraph", Text: []span{{Kind: "strong", Text: m[2]}}})
				continue
			}
			if base == 0 {
				base = len(m[1])
			}
			level := min(max(top+len(m[1])-base, top), last+1, 6)
			last = level
			out = append(out, block{Kind: "heading", Level: level, Text: d.spans(m[2])})
			continue
		}
		if strings.Contains(line, "|") && i+1 < len(lines) && strings.Contains(lines[i+1], "|") && ruleLine.MatchString(lines[i+1]) {
			flush()
			table := block{Kind: "table", Head: d.cells(line)}
			for i += 2; i < len(lines) && strings.Contains(lines[i], "|"); i++ {
				table.Rows = append(table.Rows, d.cells(lines[i]))
			}
			i--
			out = append(out, table)
			continue
		}
		if kind, pattern := listKind(line); kind != "" {
			flush()
			list := block{Kind: kind}
			var item []string
			for ; i < len(lines) && !endsList(lines[i]); i++ {
				if m := pattern.FindStringSubmatch(lines[i]); m != nil {
					if item != nil {
						list.Items = append(list.Items, d.spans(strings.Join(item, " ")))
					}
					item = []string{m[1]}
					continue
				}
				item = append(item, strings.TrimSpace(lines[i]))
			}
			list.Items = append(list.Items, d.spans(strings.Join(item, " ")))
			i--
			out = append(out, list)
			continue
		}
		para = append(para, strings.TrimSpace(line))
	}
	flush()
	return out
}

// endsList tells that a line is no further part of a list's last item.
func endsList(line string) bool {
	line = strings.TrimSpace(line)
	return line == "" || strings.HasPrefix(line, "```") || strings.HasPrefix(line, "|") || headingLine.MatchString(line)
}

func listKind(line string) (string, *regexp.Regexp) {
	switch {
	case bulletLine.MatchString(line):
		return "list", bulletLine
	case numberedLine.MatchString(line):
		return "numbered", numberedLine
	}
	return "", nil
}

// cells splits a row of a table. A bar written as \| or within backquotes is
// part of its cell.
func (d *document) cells(line string) [][]span {
	line = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(line), "|"), "|")
	var out [][]span
	var cell strings.Builder
	code := false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\\' && i+1 < len(line) && line[i+1] == '|':
			cell.WriteByte('|')
			i++
		case c == '|' && !code:
			out = append(out, d.spans(strings.TrimSpace(cell.String())))
			cell.Reset()
		default:
			if c == '`' {
				code = !code
			}
			cell.WriteByte(c)
		}
	}
	return append(out, d.spans(strings.TrimSpace(cell.String())))
}

// spans finds code, emphasis and links. A link whose address is not plainly
// harmless stays text; code that names an operation or a schema becomes a link
// to it.
func (d *document) spans(text string) []span {
	var out []span
	add := func(s span) {
		if s.Text != "" {
			out = append(out, s)
		}
	}
	at := 0
	for _, m := range inlineMark.FindAllStringSubmatchIndex(text, -1) {
		add(span{Text: text[at:m[0]]})
		at = m[1]
		switch {
		case m[2] >= 0:
			code := text[m[2]:m[3]]
			href := ""
			if id, ok := d.anchors[code]; ok {
				href = id
			}
			add(span{"code", code, href})
		case m[4] >= 0:
			add(span{Kind: "strong", Text: text[m[4]:m[5]]})
		case m[6] >= 0:
			add(span{Kind: "em", Text: text[m[6]:m[7]]})
		case safeHref.MatchString(text[m[10]:m[11]]):
			add(span{"link", text[m[8]:m[9]], text[m[10]:m[11]]})
		default:
			add(span{Text: text[m[0]:m[1]]})
		}
	}
	add(span{Text: text[at:]})
	return out
}
