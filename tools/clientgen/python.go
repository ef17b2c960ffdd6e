package main

import (
	"bytes"
	"embed"
	"fmt"
	"slices"
	"strings"
	"text/template"
	"unicode"
)

//go:embed *.tmpl
var templateFiles embed.FS

var templates = template.Must(template.New("").Funcs(template.FuncMap{
	"docstring": pyDocstring,
	"comment":   func(indent int, text string) string { return wrap(text, strings.Repeat(" ", indent)+"# ") },
	"goComment": goComment,
	"goDoc":     func(text string) string { return wrap(text, "// ") },
}).ParseFS(templateFiles, "*.tmpl"))

// pyReserved are keywords of Python, and the names of types, which a field of a class would hide.
var pyReserved = strings.Fields("and as assert async await bool break class continue def del dict elif else except " +
	"finally float for from global if import in int is lambda list nonlocal not or pass raise return str try while with yield")

// pyClass is a TypedDict. All of its fields are required, or all are optional. The class
// of an object with both inherits from others.
type pyClass struct {
	Name, Doc, Bases  string
	Total, Functional bool
	Fields            []pyField
}

// pyField is a field of a TypedDict. Line declares it in a class.
type pyField struct{ Wire, Type, Line, Doc string }

// pythonModels returns the module with the types of all records.
func pythonModels(a *api) ([]byte, error) {
	var view struct {
		Names   []string
		Classes []pyClass
		Unions  []struct {
			Name, Doc string
			Members   []string
		}
	}
	for _, o := range a.objects {
		view.Names = append(view.Names, o.name)
		classes, err := pyClasses(o)
		if err != nil {
			return nil, err
		}
		view.Classes = append(view.Classes, classes...)
	}
	for _, u := range a.unions {
		view.Names = append(view.Names, u.name)
		var members []string
		for _, m := range u.members {
			members = append(members, pyType(m, ""))
		}
		view.Unions = append(view.Unions, struct {
			Name, Doc string
			Members   []string
		}{u.name, u.doc, members})
	}
	slices.Sort(view.Names)
	return execute("python_models.tmpl", view)
}

// pyClasses returns the class of an object, after those that it inherits from. Only a class
// that a function call creates can have fields with reserved names.
func pyClasses(o *object) ([]pyClass, error) {
	var classes []pyClass
	for i, suffix := range []string{"Reserved", "ReservedOptional", "Required", ""} {
		c := pyClass{Name: "_" + o.name + suffix, Functional: i < 2, Total: i%2 == 0}
		for _, f := range o.fields {
			if slices.Contains(pyReserved, f.name) == c.Functional && f.required == c.Total {
				typ := pyType(f.typ, "")
				c.Fields = append(c.Fields, pyField{f.name, typ, breakLiteral("    " + f.name + ": " + typ), f.doc})
			}
		}
		if len(c.Fields) > 0 {
			classes = append(classes, c)
		}
	}
	var bases []string
	for i := range classes {
		c := &classes[i]
		c.Bases = "TypedDict"
		if i == len(classes)-1 {
			if c.Functional {
				return nil, fmt.Errorf("all fields of %s have reserved names", o.name)
			}
			c.Name, c.Doc = o.name, o.doc
			if len(bases) > 0 {
				c.Bases = strings.Join(bases, ", ")
			}
		}
		if !c.Total {
			c.Bases += ", total=False"
		}
		bases = append(bases, c.Name)
	}
	return classes, nil
}

// pyType returns a type. The names of records begin with prefix.
func pyType(t *typeRef, prefix string) string {
	var s string
	switch t.kind {
	case anyKind:
		return "Any"
	case stringKind:
		s = "str"
	case integerKind:
		s = "int"
	case numberKind:
		s = "float"
	case booleanKind:
		s = "bool"
	case binaryKind:
		s = "bytes"
	case enumKind:
		s = `Literal["` + strings.Join(t.values, `", "`) + `"]`
	case arrayKind:
		s = "list[" + pyType(t.elem, prefix) + "]"
	case mapKind:
		s = "dict[str, " + pyType(t.elem, prefix) + "]"
	case namedKind:
		s = prefix + t.name
	case unionKind:
		var members []string
		for _, m := range t.members {
			members = append(members, pyType(m, prefix))
		}
		s = strings.Join(members, " | ")
	}
	if t.nullable {
		s += " | None"
	}
	return s
}

// pyName returns a name as an argument: in snake case, with an underscore after a keyword.
func pyName(name string) string {
	var b strings.Builder
	for i, r := range name {
		switch {
		case r == '-':
			continue
		case unicode.IsUpper(r) && i > 0:
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	if s := b.String(); s != "list" && slices.Contains(pyReserved, s) {
		return s + "_"
	}
	return b.String()
}

// pyDocstring returns a docstring, indented.
func pyDocstring(indent int, text string) string {
	margin := strings.Repeat(" ", indent)
	text = strings.ReplaceAll(text, `\`, `\\`)
	if s := margin + `"""` + text + `"""`; len(s) <= 100 && !strings.Contains(text, "\n") && !strings.HasSuffix(text, `"`) {
		return s
	}
	first, rest, _ := strings.Cut(text, "\n")
	s := margin + strings.TrimLeft(wrap(`"""`+first, margin), " ")
	if rest != "" {
		s += "\n" + rest
	}
	return s + "\n" + margin + `"""`
}

// breakLiteral breaks a line that is too long after each value of an enumeration.
func breakLiteral(line string) string {
	before, rest, found := strings.Cut(line, `Literal[`)
	if len(line) <= 100 || !found {
		return line
	}
	margin := line[:len(line)-len(strings.TrimLeft(line, " "))]
	values, after, _ := strings.Cut(rest, "]")
	return before + "Literal[\n" + wrap(values+",", margin+"    ") + "\n" + margin + "]" + after
}

// wrap breaks a text into lines of at most 100 characters, each with a prefix.
func wrap(text, prefix string) string {
	line := prefix
	var lines []string
	for _, word := range strings.Fields(text) {
		if len(line)+1+len(word) > 100 && line != prefix {
			lines = append(lines, strings.TrimRight(line, " "))
			line = prefix
		}
		if line != prefix {
			line += " "
		}
		line += word
	}
	return strings.Join(append(lines, line), "\n")
}

// shorten returns the first sentences of a text, at most limit characters of them if
// the first one is not longer.
func shorten(text string, limit int) string {
	sentences := strings.SplitAfter(text, ". ")
	short := sentences[0]
	for _, s := range sentences[1:] {
		if len(short)+len(s) > limit {
			break
		}
		short += s
	}
	return strings.TrimSpace(short)
}

func execute(name string, view any) ([]byte, error) {
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, name, view); err != nil {
		return nil, err
	}
	return append(bytes.TrimRight(b.Bytes(), "\n"), '\n'), nil
}
