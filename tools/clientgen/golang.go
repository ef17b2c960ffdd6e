package main

import (
	"fmt"
	"go/format"
	"regexp"
	"slices"
	"strings"
)

// goField is a field of a struct. Line declares it.
type goField struct{ Doc, Line string }

// goModels returns the file with the types of all records.
func goModels(a *api) ([]byte, error) {
	type member struct{ Tag, Type string }
	var view struct {
		Objects []struct {
			Name, Doc string
			Fields    []goField
		}
		Unions []struct {
			Name, Doc, Common string
			Members           []member
		}
	}
	byName := map[string]*object{}
	for _, o := range a.objects {
		byName[o.name] = o
		view.Objects = append(view.Objects, struct {
			Name, Doc string
			Fields    []goField
		}{o.name, o.doc, goFields(o.fields)})
	}
	for _, u := range a.unions {
		if u.tag == "" {
			continue // The client defines it, such as Position.
		}
		var members []member
		for _, m := range u.members {
			i := slices.IndexFunc(byName[m.name].fields, func(f *field) bool { return f.name == u.tag })
			members = append(members, member{byName[m.name].fields[i].typ.values[0], m.name})
		}
		view.Unions = append(view.Unions, struct {
			Name, Doc, Common string
			Members           []member
		}{u.name, u.doc, u.name + "Fields", members})
	}
	return formatted("go_models.tmpl", view)
}

// goFields declares fields that are encoded as JSON.
func goFields(fields []*field) []goField {
	var lines []goField
	for _, f := range fields {
		typ, option := goType(f.typ), ""
		switch {
		case f.required && !f.typ.nullable, f.typ.kind == anyKind && f.required:
		case f.typ.kind == arrayKind || f.typ.kind == mapKind || f.typ.kind == anyKind:
			if !f.required {
				option = ",omitzero"
			}
		case f.required:
			typ = "*" + typ
		case f.typ.nullable:
			typ, option = "Nullable["+typ+"]", ",omitzero"
		default:
			typ, option = "*"+typ, ",omitempty"
		}
		lines = append(lines, goField{f.doc, fmt.Sprintf("%s %s `json:%q`", goName(f.name), typ, f.name+option)})
	}
	return lines
}

// goType returns a type that cannot be null.
func goType(t *typeRef) string {
	switch t.kind {
	case stringKind, enumKind:
		return "string"
	case integerKind:
		return "int64"
	case numberKind:
		return "float64"
	case booleanKind:
		return "bool"
	case binaryKind:
		return "[]byte"
	case arrayKind:
		return "[]" + goType(t.elem)
	case mapKind:
		return "map[string]" + goType(t.elem)
	case namedKind:
		return t.name
	}
	return "any"
}

// initialism matches a word that Go names write in capitals.
var initialism = regexp.MustCompile(`(Id|Url|Json)(s?\b|s?[A-Z])`)

// goName returns a name in JSON as an exported name.
func goName(name string) string {
	return initialism.ReplaceAllStringFunc(pascal(name), func(word string) string {
		end := len(initialism.FindStringSubmatch(word)[1])
		return strings.ToUpper(word[:end]) + word[end:]
	})
}

// goArgument returns a name in JSON as an argument.
func goArgument(name string) string {
	exported := goName(name)
	argument := strings.ToLower(exported[:1]) + exported[1:]
	if slices.Contains([]string{"type", "range", "func", "map"}, argument) {
		return argument + "Value"
	}
	return argument
}

// goComment returns the comment of a declaration, which begins with its name.
func goComment(name, doc string) string {
	return wrap(name+": "+strings.ToLower(doc[:1])+doc[1:], "// ")
}

// formatted executes a template and formats its output.
func formatted(name string, view any) ([]byte, error) {
	source, err := execute(name, view)
	if err != nil {
		return nil, err
	}
	return format.Source(source)
}
