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

// Progress is told how far an import is. Total is an estimate that done may
// miss by a little, and 0 while it is not known; done never falls within one
// board. Nil for nobody.
type Progress func(done, total int)

// Import makes the boards of a document that Export or ExportWorkspace wrote,
// in a workspace where the caller may make boards. Numbers, order, times,
// states, versions and activity stay; every id is new, so that a document can
// be imported twice.
//
// Who is a person of the workspace, by id, stays that person. Everybody else
// becomes a placeholder: an account without address that nobody signs in with.
// Shared filters whose owner is no person of the workspace become the caller's.
//
// It refuses, with a fault that says where, a document of another format, one
// that is cut off or does not hold what it says at its end, and one that holds
// what the limits of this server do not allow. The caller must then end the
// transaction.
func Import(ctx context.Context, tx *store.Tx, workspaceID string, r io.Reader, progress Progress) (Report, error) {
	tx.Quiet()
	w, err := tx.Workspace(ctx, workspaceID, board.CreateBoards)
	if err != nil {
		return Report{}, err
	}
	in := &reader{
		ctx: ctx, tx: tx, dec: jsontext.NewDecoder(r), workspace: w, progress: progress,
		users: map[string]string{}, named: map[string]string{}, gone: map[string]string{}, filters: map[string]bool{}, owned: map[string]int{},
	}
	if err := in.document(); err != nil {
		return Report{}, in.fault(err)
	}
	return in.report, nil
}

type reader struct {
	ctx       context.Context // of the one call that the reader lives for
	tx        *store.Tx
	dec       *jsontext.Decoder
	workspace board.Workspace
	progress  Progress
	report    Report
	users     map[string]string // names of all users of the document, by their ids there
	named     map[string]string // ids here of what a query can name, by ids there
	gone      map[string]string // the same of what the document names and does not hold
	filters   map[string]bool   // ids there of the filters that were read
	owned     map[string]int    // how many filters people have, by id
}

// errWhole marks a document that says itself that it is not whole.
var errWhole = errors.New("the document is not whole")

// fault turns what is wrong with the document into a fault that says where.
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
		return board.Invalid("The file is cut off: it ends at byte %d, before its end is marked as complete.", in.dec.InputOffset())
	case errors.As(err, &syntax):
		return jsonFault(syntax.Err, string(syntax.JSONPointer), syntax.ByteOffset)
	case errors.As(err, &semantic):
		return valueFault(semantic)
	}
	return fmt.Errorf("import: %w", err)
}

func jsonFault(err error, pointer string, offset int64) error {
	return board.Invalid("The file is not valid JSON: %s at byte %d%s.", excerpt(err.Error(), 100), offset, inside(pointer))
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
		return board.Invalid("format is %q; this program reads %s and %s.", excerpt(format, 60), Format, WorkspaceFormat)
	}
	if _, err := in.dec.ReadToken(); err == nil || !errors.Is(err, io.EOF) {
		return board.Invalid("The file goes on behind its end, at byte %d.", in.dec.InputOffset())
	}
	return nil
}

// open reads the beginning of a document up to its format.
func (in *reader) open() (format string, err error) {
	if err := in.begin('{'); err != nil {
		return "", err
	}
	t, err := in.dec.ReadToken()
	if err != nil {
		return "", err
	}
	if t.Kind() != '"' || t.String() != "format" {
		return "", board.Invalid("format must come first; the file is no export of Cardwall.")
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
		return board.Invalid("%s must be an %s.", cmpOr(strings.TrimPrefix(string(at), "/"), "The document"), map[jsontext.Kind]string{'{': "object", '[': "array"}[kind])
	}
	return nil
}

func cmpOr(s, other string) string {
	if s == "" {
		return other
	}
	return excerpt(s, 100)
}

// required is the first of the members without which a document is not whole.
// Older programs wrote it without the others.
func required(members []string) string {
	for _, name := range members {
		if name != "statusUpdates" && name != "savedFilters" {
			return name
		}
	}
	return ""
}

// members reads the rest of an object whose members must be these in this
// order; what it does not know it skips, and notes.
func (in *reader) members(order []string, read func(name string) error) error {
	next := 0
	for {
		t, err := in.dec.ReadToken()
		if err != nil {
			return err
		}
		if t.Kind() == '}' {
			if missing := required(order[next:]); missing != "" {
				return board.Invalid("The document is not whole: %s is missing.", missing)
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
			return board.Invalid("%s is not where it belongs (byte %d): the members of the document are %s, in this order.", name, in.dec.InputOffset(), strings.Join(order, ", "))
		default:
			next = i + 1
			if err := read(name); err != nil {
				return err
			}
		}
	}
}

// each reads an array, element by element, and tells read where each stands.
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
					return board.Invalid("boards[%d].format is %q; this program reads %s.", total.Boards, excerpt(format, 60), Format)
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
		return board.Invalid("counts is %s, but the document holds %s. Parts of the export are missing; export it again.", want, have)
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
