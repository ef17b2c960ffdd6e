package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// Progress is called with the progress of an import. Total is an estimate, or 0
// if it is unknown. Within one board, done never decreases. Nil means that no
// progress is reported.
type Progress func(done, total int)

// Import adds the boards of a document from Export or ExportWorkspace to a draft.
// Numbers, order, times, states, versions and activity are kept. All ids are new,
// so a document can be imported twice.
//
// People of the workspace, identified by id, stay the same. All others become
// placeholders: accounts without an email address that cannot be used to sign
// in. Shared filters whose owner is not in the workspace become the caller's.
//
// It returns a fault with a location for a document that has another format, is
// incomplete, does not match its own counts, or exceeds the limits of this
// server. The caller must then drop the draft.
func Import(ctx context.Context, d *store.Draft, r io.Reader, progress Progress) (Report, error) {
	in := &reader{
		ctx: ctx, draft: d, v: d.View(), dec: jsontext.NewDecoder(r), workspace: d.Workspace(), progress: progress,
		users: map[string]string{}, named: map[string]string{}, gone: map[string]string{}, filters: map[string]bool{}, owned: map[string]int{},
	}
	if err := in.document(); err != nil {
		return Report{}, in.fault(err)
	}
	return in.report, d.Flush(ctx)
}

type reader struct {
	ctx       context.Context // of the one call that the reader lives for
	draft     *store.Draft
	v         *store.View
	dec       *jsontext.Decoder
	workspace board.Workspace
	progress  Progress
	report    Report
	users     map[string]string // names of all users of the document, by their ids in it
	named     map[string]string // new ids of objects that queries can refer to, by their ids in the document
	gone      map[string]string // the same for objects that the document refers to but does not contain
	filters   map[string]bool   // ids in the document of the filters read so far
	owned     map[string]int    // number of filters per person
}

// errWhole means that the document is marked as incomplete.
var errWhole = errors.New("the document is incomplete")

// fault turns an error in the document into a fault with a location.
func (in *reader) fault(err error) error {
	if _, ok := board.AsFault(err); ok {
		return err
	}
	var (
		syntax   *jsontext.SyntacticError
		semantic *json.SemanticError
	)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF), errors.Is(err, errWhole):
		return board.Invalid("The file is cut off: it ends at byte %d, before its end is marked as "+
			"complete.", in.dec.InputOffset())
	case errors.As(err, &syntax):
		return jsonFault(syntax.Err, string(syntax.JSONPointer), syntax.ByteOffset)
	case errors.As(err, &semantic):
		return valueFault(semantic)
	}
	return fmt.Errorf("import: %w", err)
}

func jsonFault(err error, pointer string, offset int64) error {
	return board.Invalid("The file is not valid JSON: %s at "+
		"byte %d%s.", excerpt(err.Error(), 100), offset, inside(pointer))
}

func valueFault(e *json.SemanticError) error {
	pointer := strings.TrimPrefix(string(e.JSONPointer), "/")
	if pointer == "" {
		pointer = "The document"
	}
	if e.Err != nil {
		return board.Invalid("%s (byte %d): %s.", excerpt(pointer, 100), e.ByteOffset, excerpt(e.Err.Error(), 100))
	}
	return board.Invalid("%s (byte %d) must not be a %s.", excerpt(pointer, 100), e.ByteOffset, e.JSONKind)
}

func inside(pointer string) string {
	if pointer == "" {
		return ""
	}
	return " in " + excerpt(strings.TrimPrefix(pointer, "/"), 100)
}

// document reads the whole file.
func (in *reader) document() error {
	format, err := in.open()
	if err != nil {
		return err
	}
	switch format {
	case Format:
		if _, err := in.board(); err != nil {
			return err
		}
	case WorkspaceFormat:
		if err := in.boards(); err != nil {
			return err
		}
	default:
		return board.Invalid("format is %q; this program reads "+
			"%s and %s.", excerpt(format, 60), Format, WorkspaceFormat).In("format", board.RuleValue)
	}
	if _, err := in.dec.ReadToken(); err == nil || !errors.Is(err, io.EOF) {
		return board.Invalid("The file continues after its end, at byte %d.", in.dec.InputOffset())
	}
	return nil
}

// open reads the start of a document, up to its format.
func (in *reader) open() (format string, err error) {
	if err := in.begin('{'); err != nil {
		return "", err
	}
	t, err := in.dec.ReadToken()
	if err != nil {
		return "", err
	}
	if t.Kind() != '"' || t.String() != "format" {
		return "", board.Invalid("format must come first; the file is not an export of Cardwall.").
			In("format", board.RuleValue)
	}
	return format, json.UnmarshalDecode(in.dec, &format)
}

func (in *reader) begin(kind jsontext.Kind) error {
	at := in.dec.StackPointer()
	t, err := in.dec.ReadToken()
	if err != nil {
		return err
	}
	if t.Kind() != kind {
		name, want := strings.TrimPrefix(string(at), "/"), map[jsontext.Kind]string{'{': "object", '[': "array"}[kind]
		return board.Invalid("%s must be an %s.", cmpOr(name, "The document"), want).
			In(name, board.RuleValue)
	}
	return nil
}

func cmpOr(s, other string) string {
	if s == "" {
		return other
	}
	return excerpt(s, 100)
}

// required returns the first member that every complete document has. Older
// versions wrote documents without the others.
func required(members []string) string {
	for _, name := range members {
		if name != "statusUpdates" && name != "savedFilters" {
			return name
		}
	}
	return ""
}

// members reads the rest of an object whose members must be in this order. It
// skips unknown members and reports them.
func (in *reader) members(order []string, read func(name string) error) error {
	next := 0
	for {
		t, err := in.dec.ReadToken()
		if err != nil {
			return err
		}
		if t.Kind() == '}' {
			if missing := required(order[next:]); missing != "" {
				return board.Invalid("The document is incomplete: %s is missing.", missing)
			}
			return nil
		}
		name := t.String()
		switch i := slices.Index(order, name); {
		case i < 0:
			in.report.note("Parts that this program does not know", name)
			if err := in.dec.SkipValue(); err != nil {
				return err
			}
		case i < next || required(order[next:i]) != "":
			return board.Invalid("%s is in the wrong place (byte %d). The members of the document are, in this "+
				"order: %s.", name, in.dec.InputOffset(), strings.Join(order, ", ")).In(name, board.RuleValue)
		default:
			next = i + 1
			if err := read(name); err != nil {
				return err
			}
		}
	}
}

// each reads an array and passes each element with its location to read.
func each[T any](in *reader, name string, read func(at string, record *T) error) error {
	if err := in.begin('['); err != nil {
		return err
	}
	for n := 0; in.dec.PeekKind() != ']'; n++ {
		var record T
		if err := json.UnmarshalDecode(in.dec, &record); err != nil {
			return err
		}
		if n%pageSize == 0 {
			if err := in.ctx.Err(); err != nil {
				return err
			}
		}
		if err := read(fmt.Sprintf("%s[%d]", name, n), &record); err != nil {
			return err
		}
	}
	_, err := in.dec.ReadToken()
	return err
}

// boards reads the rest of a workspace's document.
func (in *reader) boards() error {
	var total countsRecord
	order := []string{"exportedAt", "workspace", "boards", "savedFilters", "counts", "complete"}
	return in.members(order, func(name string) error {
		switch name {
		case "boards":
			if err := in.begin('['); err != nil {
				return err
			}
			for in.dec.PeekKind() != ']' {
				format, err := in.open()
				if err != nil {
					return err
				}
				if format != Format {
					return board.Invalid("boards[%d].format is %q; this program "+
						"reads %s.", total.Boards, excerpt(format, 60), Format)
				}
				n, err := in.board()
				if err != nil {
					return err
				}
				n.Boards = 1
				total.add(n)
			}
			_, err := in.dec.ReadToken()
			return err
		case "savedFilters":
			return in.savedFilters(&total)
		case "counts":
			return in.counts(total)
		case "complete":
			return in.complete()
		}
		return in.dec.SkipValue()
	})
}

func (in *reader) counts(have countsRecord) error {
	var want countsRecord
	if err := json.UnmarshalDecode(in.dec, &want); err != nil {
		return err
	}
	if want != have {
		return board.Invalid("counts is %s, but the document contains %s. Parts of the export are missing. Export "+
			"it again.", want, have).In("counts", board.RuleValue)
	}
	return nil
}

func (in *reader) complete() error {
	var whole bool
	if err := json.UnmarshalDecode(in.dec, &whole); err != nil {
		return err
	}
	if !whole {
		return errWhole
	}
	return nil
}
