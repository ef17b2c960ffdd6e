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

// Progress is called with the progress of an import, counted in records. Total is
// an estimate, or 0 if it is unknown. Within one board, done never decreases. A
// Progress may be nil.
type Progress func(done, total int)

// Import adds the boards of a document from Export or ExportWorkspace to a draft.
// It preserves numbers, order, times, states, versions and activity. All records
// get new ids, so a document can be imported twice.
//
// People who are in the workspace are recognized by their ids. All others become
// placeholders: accounts without an email address that cannot be used to sign in.
// Shared filters whose owner is not in the workspace are given to the caller or, if
// the caller is not a person, to the owner of the workspace.
//
// Import returns a fault if the document has an unknown format, is incomplete, does
// not match its own counts, or exceeds the limits of this server. The caller must
// then discard the draft.
//
// Import skips attached files, because the document does not contain their content.
func Import(ctx context.Context, d *store.Draft, r io.Reader, progress Progress) (Report, error) {
	return importWith(ctx, d, r, progress, nil)
}

// importWith is Import with attached files, or without them if files is nil.
func importWith(ctx context.Context, d *store.Draft, r io.Reader, progress Progress, files *importedFiles) (Report, error) {
	in := &reader{
		ctx: ctx, draft: d, v: d.View(), dec: jsontext.NewDecoder(withoutMark(r)), workspace: d.Workspace(), progress: progress, files: files,
		users: map[string]string{}, queryIDs: map[string]string{}, missing: map[string]string{},
		filters: map[string]bool{}, filterCounts: map[string]int{},
	}
	if err := in.document(); err != nil {
		return Report{}, in.fault(err)
	}
	return in.report, d.Flush(ctx)
}

type reader struct {
	ctx          context.Context // context of the import; each import has its own reader
	draft        *store.Draft
	v            *store.View
	dec          *jsontext.Decoder
	workspace    board.Workspace
	progress     Progress
	files        *importedFiles // nil if attached files are skipped
	report       Report
	users        map[string]string // names of the document's users, by document id
	queryIDs     map[string]string // new ids of objects that queries can refer to, by document id
	missing      map[string]string // new ids of objects that the document refers to but does not contain
	filters      map[string]bool   // document ids of the filters read so far
	filterCounts map[string]int    // number of each person's filters in the workspace
}

// errIncomplete is returned for a document whose "complete" member is false.
var errIncomplete = errors.New("the document is incomplete")

// fault converts an error in the document to a fault with a location.
func (in *reader) fault(err error) error {
	if _, ok := board.AsFault(err); ok {
		return err
	}
	var (
		syntax   *jsontext.SyntacticError
		semantic *json.SemanticError
	)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF), errors.Is(err, errIncomplete):
		return board.Invalid("The file is cut off at byte %d: the end of the document is missing.", in.dec.InputOffset())
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
	return board.Invalid("%s (byte %d) has the wrong type (%s).", excerpt(pointer, 100), e.ByteOffset, e.JSONKind)
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
		return board.Invalid("format is %q; it must be %s or %s.", excerpt(format, 60), Format, WorkspaceFormat).
			In("format", board.RuleValue)
	}
	if _, err := in.dec.ReadToken(); err == nil || !errors.Is(err, io.EOF) {
		return board.Invalid("The file has data after the end of the document, at byte %d.", in.dec.InputOffset())
	}
	return nil
}

// open reads the beginning of a document, up to its format, and returns the format.
func (in *reader) open() (format string, err error) {
	if err := in.begin('{'); err != nil {
		return "", err
	}
	t, err := in.dec.ReadToken()
	if err != nil {
		return "", err
	}
	if t.Kind() != '"' || t.String() != "format" {
		return "", board.Invalid("The first member must be format; the file is not a Cardwall export.").
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
		return board.Invalid("%s must be an %s.", excerptOr(name, "The document"), want).
			In(name, board.RuleValue)
	}
	return nil
}

func excerptOr(s, fallback string) string {
	if s == "" {
		return fallback
	}
	return excerpt(s, 100)
}

// required returns the first of the given members that every complete document
// must have, or "" if there is none. Earlier versions wrote documents without
// statusUpdates and savedFilters.
func required(members []string) string {
	for _, name := range members {
		if name != "statusUpdates" && name != "savedFilters" {
			return name
		}
	}
	return ""
}

// members reads the rest of an object whose members must be in the given order. It
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
			in.report.note("Unknown parts of the document, skipped", name)
			if err := in.dec.SkipValue(); err != nil {
				return err
			}
		case i < next || required(order[next:i]) != "":
			return board.Invalid("%s is out of order (byte %d). The members of the document must be in this "+
				"order: %s.", name, in.dec.InputOffset(), strings.Join(order, ", ")).In(name, board.RuleValue)
		default:
			next = i + 1
			if err := read(name); err != nil {
				return err
			}
		}
	}
}

// each reads an array and calls read with each element and its location in the
// document.
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

// boards reads the rest of a workspace document.
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
					return board.Invalid("boards[%d].format is %q; it must be %s.", total.Boards, excerpt(format, 60), Format)
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
		return board.Invalid("counts is %s, but the document contains %s. Parts of the export are missing. Create "+
			"a new export.", want, have).In("counts", board.RuleValue)
	}
	return nil
}

func (in *reader) complete() error {
	var complete bool
	if err := json.UnmarshalDecode(in.dec, &complete); err != nil {
		return err
	}
	if !complete {
		return errIncomplete
	}
	return nil
}
