package docs

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	tables "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	lines "github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// node is an element or text of a description. The template escapes the text.
type node struct {
	Kind  string // name of the HTML element; empty for text
	Text  string // content of text or code; for an ordered list, its first number if that is not 1
	Href  string // URL of a link, or of the section that code names
	Nodes []node
}

// commonMark parses CommonMark and tables. It does not parse HTML, so tags remain
// text.
var commonMark = parser.NewParser(
	parser.WithBlockParsers(
		util.Prioritized(parser.NewSetextHeadingParser(), 100),
		util.Prioritized(parser.NewThematicBreakParser(), 200),
		util.Prioritized(parser.NewListParser(), 300),
		util.Prioritized(parser.NewListItemParser(), 400),
		util.Prioritized(parser.NewCodeBlockParser(), 500),
		util.Prioritized(parser.NewATXHeadingParser(), 600),
		util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
		util.Prioritized(parser.NewBlockquoteParser(), 800),
		util.Prioritized(parser.NewParagraphParser(), 1000),
	),
	parser.WithInlineParsers(
		util.Prioritized(parser.NewCodeSpanParser(), 100),
		util.Prioritized(parser.NewLinkParser(), 200),
		util.Prioritized(parser.NewAutoLinkParser(), 300),
		util.Prioritized(parser.NewEmphasisParser(), 500),
	),
	parser.WithParagraphTransformers(
		util.Prioritized(parser.LinkReferenceParagraphTransformer, 100),
		util.Prioritized(extension.NewTableParagraphTransformer(), 200),
	),
	parser.WithASTTransformers(util.Prioritized(extension.NewTableASTTransformer(), 0)),
)

var safeHref = regexp.MustCompile(`^(https?://|mailto:|#|/[^/]|\.{1,2}/)`)

// noHeadings is the level for text in tables. A heading there would break the
// page's outline, so it becomes a bold paragraph.
const noHeadings = 0

// markdown parses a description. The first heading gets the level top. No later
// heading skips a level, so that the page's outline has no gaps.
func (d *document) markdown(source string, top int) []node {
	r := &converter{document: d, source: []byte(source), top: top, last: top - 1}
	return r.children(commonMark.Parse(lines.NewReader(r.source)))
}

// article parses the text of a page. Code that names an operation or a schema links to the reference page.
func (d *document) article(source, reference string) []node {
	above := document{anchors: map[string]string{}}
	for name, anchor := range d.anchors {
		above.anchors[name] = reference + anchor
	}
	return above.markdown(source, 2)
}

// converter converts the syntax tree of one description.
type converter struct {
	*document
	source          []byte
	top, base, last int // levels of the first heading on the page, the first in the source, and the last on the page
}

func (r *converter) children(of ast.Node) (out []node) {
	for n := of.FirstChild(); n != nil; n = n.NextSibling() {
		out = append(out, r.nodes(n)...)
	}
	return out
}

func (r *converter) nodes(n ast.Node) []node {
	element := func(kind string) []node { return []node{{Kind: kind, Nodes: r.children(n)}} }
	switch n := n.(type) {
	case *ast.Text:
		return r.text(n)
	case *ast.CodeSpan:
		return r.code(n)
	case *ast.Emphasis:
		return element([]string{"em", "strong"}[n.Level-1])
	case *ast.Link:
		return link(plain(n.Destination), r.children(n))
	case *ast.Image: // a link, because the page does not load external images
		return link(plain(n.Destination), r.children(n))
	case *ast.AutoLink:
		return link(string(n.URL(r.source)), []node{{Text: string(n.Label(r.source))}})
	case *ast.Paragraph:
		return element("p")
	case *ast.Heading:
		return r.heading(n)
	case *ast.List:
		if !n.IsOrdered() {
			return element("ul")
		}
		list := element("ol")
		if n.Start != 1 {
			list[0].Text = strconv.Itoa(n.Start)
		}
		return list
	case *ast.ListItem:
		return element("li")
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		return []node{{Kind: "pre", Text: strings.TrimSuffix(string(n.Lines().Value(r.source)), "\n")}}
	case *ast.Blockquote:
		return element("blockquote")
	case *ast.ThematicBreak:
		return element("hr")
	case *tables.Table:
		return element("table")
	case *tables.TableHeader, *tables.TableRow:
		return element("tr")
	case *tables.TableCell:
		return element("td")
	}
	return r.children(n) // an *ast.TextBlock, the content of an item in a tight list
}

func (r *converter) text(n *ast.Text) []node {
	value := plain(n.Value(r.source))
	switch {
	case n.HardLineBreak():
		return []node{{Text: value}, {Kind: "br"}}
	case n.SoftLineBreak():
		value += " "
	}
	return []node{{Text: value}}
}

// plain resolves backslash escapes and character references.
func plain(source []byte) string {
	return string(util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(source))))
}

// code returns a code span. A span that names an operation or a schema links to its
// section.
func (r *converter) code(n *ast.CodeSpan) []node {
	var b strings.Builder
	for part := n.FirstChild(); part != nil; part = part.NextSibling() {
		b.Write(part.(*ast.Text).Value(r.source)) // a code span contains only text
	}
	code := strings.ReplaceAll(b.String(), "\n", " ")
	return []node{{Kind: "code", Text: code, Href: r.anchors[code]}}
}

// link returns a link, or its source as text if the URL is not safe.
func link(href string, label []node) []node {
	if safeHref.MatchString(href) {
		return []node{{Kind: "a", Href: href, Nodes: label}}
	}
	return append(append([]node{{Text: "["}}, label...), node{Text: "](" + href + ")"})
}

func (r *converter) heading(n *ast.Heading) []node {
	if r.top == noHeadings {
		return []node{{Kind: "p", Nodes: []node{{Kind: "strong", Nodes: r.children(n)}}}}
	}
	if r.base == 0 {
		r.base = n.Level
	}
	r.last = min(max(r.top+n.Level-r.base, r.top), r.last+1, 6)
	return []node{{Kind: "h" + strconv.Itoa(r.last), Nodes: r.children(n)}}
}
