package transfer

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/store"
)

// An export keeps at most one page of records of each type in memory, except for
// the users.
const (
	pageSize     = 100
	cardPageSize = 32 // smaller, because descriptions are long
)

// Exporter writes exports. The zero value is ready to use.
type Exporter struct {
	// File is called with each attached file of the export, whose content the document does
	// not contain. It may be nil.
	File func(board.Attachment)
}

// Export writes a board with the zero Exporter.
func Export(ctx context.Context, v *store.View, boardID string, w io.Writer) error {
	return Exporter{}.Board(ctx, v, boardID, w)
}

// ExportWorkspace writes a workspace with the zero Exporter.
func ExportWorkspace(ctx context.Context, v *store.View, workspaceID string, w io.Writer) error {
	return Exporter{}.Workspace(ctx, v, workspaceID, w)
}

// Board writes a board as one cardwall-export/1 document, page by page. The view
// must come from DB.Stream. Board returns a not_found fault if the caller cannot
// see the board. After an error, the document is incomplete, which readers detect
// because the "complete" member is missing.
func (e Exporter) Board(ctx context.Context, v *store.View, boardID string, w io.Writer) error {
	b, err := v.Board(ctx, boardID, board.View)
	if err != nil {
		return err
	}
	op.NameDocument(w, b.Name, v.Time(), "json")
	out := e.newWriter(ctx, v, w)
	if _, err := out.board(b, true); err != nil {
		return fmt.Errorf("export board %s: %w", boardID, err)
	}
	return out.buffer.Flush()
}

// Workspace writes one document with the boards of a workspace that the
// caller can see, each in the format of Board, and the workspace's shared filters.
// Each board is a snapshot identified by its boardVersion, but the snapshots may be
// from different times. Confidential and trashed boards are never included.
func (e Exporter) Workspace(ctx context.Context, v *store.View, workspaceID string, w io.Writer) error {
	in, err := v.Workspace(ctx, workspaceID, board.ViewWorkspace)
	if err != nil {
		return err
	}
	op.NameDocument(w, in.Name+" (workspace)", v.Time(), "json")
	out := e.newWriter(ctx, v, w)
	if err := out.workspace(in); err != nil {
		return fmt.Errorf("export workspace %s: %w", workspaceID, err)
	}
	return out.buffer.Flush()
}

type writer struct {
	ctx    context.Context // context of the export; each export has its own writer
	v      *store.View
	w      io.Writer
	buffer *bufio.Writer
	enc    *jsontext.Encoder
	file   func(board.Attachment) // called with each attached file; may be nil
}

func (e Exporter) newWriter(ctx context.Context, v *store.View, w io.Writer) *writer {
	b := bufio.NewWriterSize(w, 64<<10)
	return &writer{ctx: ctx, v: v, w: w, buffer: b, enc: jsontext.NewEncoder(b), file: e.File}
}

func (out *writer) value(v any) error {
	return json.MarshalEncode(out.enc, v, json.Deterministic(true))
}

func (out *writer) member(name string, v any) error {
	if err := out.enc.WriteToken(jsontext.String(name)); err != nil {
		return err
	}
	return out.value(v)
}

// members writes object members, given as alternating names and values.
func (out *writer) members(pairs ...any) error {
	for p := range slices.Chunk(pairs, 2) {
		if err := out.member(p[0].(string), p[1]); err != nil {
			return err
		}
	}
	return nil
}

// array writes a member whose value is an array. It calls fn to write the
// elements.
func (out *writer) array(name string, fn func() error) error {
	if err := out.enc.WriteToken(jsontext.String(name)); err != nil {
		return err
	}
	if err := out.enc.WriteToken(jsontext.BeginArray); err != nil {
		return err
	}
	if err := fn(); err != nil {
		return err
	}
	return out.enc.WriteToken(jsontext.EndArray)
}

func (out *writer) workspace(in board.Workspace) error {
	if err := out.enc.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	if err := out.members("format", WorkspaceFormat, "exportedAt", out.v.Now(), "workspace", userRecord{in.ID, in.Name}); err != nil {
		return err
	}
	var total countsRecord
	err := out.array("boards", func() error {
		return pages(func(after string) ([]string, error) {
			return out.v.WorkspaceBoards(out.ctx, in.ID, after, pageSize)
		}, func(id string) (string, error) {
			// If the reader is slow, release the snapshot between boards.
			paused, err := op.Yield(out.ctx, out.v, out.w)
			if err == nil && paused {
				_, err = out.v.Workspace(out.ctx, in.ID, board.ViewWorkspace)
			}
			if err != nil {
				return "", err
			}
			b, err := out.v.Board(out.ctx, id, board.View)
			if board.IsCode(err, board.CodeNotFound) {
				return id, nil
			} else if err != nil {
				return "", err
			}
			if b.Visibility == board.Confidential { // changed since the page of boards was read
				return id, nil
			}
			n, err := out.board(b, false)
			n.Boards = 1
			total.add(n)
			return id, err
		})
	})
	if err != nil {
		return err
	}
	if err := out.savedFilters(in.ID, "", &total); err != nil {
		return err
	}
	if err := out.members("counts", total, "complete", true); err != nil {
		return err
	}
	return out.enc.WriteToken(jsontext.EndObject)
}

// pages reads a list page by page and calls each for every row. The function read
// returns the rows after the given key, or none at the end of the list. The
// function each returns the key of its row.
func pages[T, K any](read func(after K) ([]T, error), each func(T) (K, error)) error {
	var after K
	for {
		page, err := read(after)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, row := range page {
			if after, err = each(row); err != nil {
				return err
			}
		}
	}
}

// board writes a board as one document. If filters is true, the document includes
// the saved filters that refer to the board. A workspace document has all filters
// at its end instead.
func (out *writer) board(b board.Board, filters bool) (n countsRecord, err error) {
	a := out.v.On(b.ID)
	reduced, err := out.v.ReducedTo(out.ctx, b.ID)
	if err != nil {
		return n, err
	}
	users, err := out.users(b.ID)
	if err != nil {
		return n, err
	}
	var background *pictureRecord
	if b.Background != nil {
		p, err := out.v.Background(out.ctx, b.ID, *b.Background)
		if err != nil {
			return n, err
		}
		background = &pictureRecord{p.MediaType, p.Content}
	}
	if err := out.enc.WriteToken(jsontext.BeginObject); err != nil {
		return n, err
	}
	n.Users = len(users)
	if err := out.members("format", Format, "exportedAt", out.v.Now(), "boardVersion", b.Version, "board", boardRecord{
		ID: b.ID, Name: b.Name, Description: b.Description, Color: b.Color, Background: background,
		Visibility: b.Visibility, Features: b.Features, NextNumber: a.NextNumber, ReducedTo: reduced,
		Cards: a.AllCards, ArchivedAt: b.ArchivedAt, CreatedBy: b.CreatedBy, CreatedAt: b.CreatedAt, UpdatedAt: b.UpdatedAt,
	}, "users", users); err != nil {
		return n, err
	}
	if err := out.array("labels", func() error { return out.labels(b.ID, &n) }); err != nil {
		return n, err
	}
	if err := out.array("lists", func() error { return out.lists(b.ID, &n) }); err != nil {
		return n, err
	}
	if err := out.array("cards", func() error { return out.cards(b.ID, &n) }); err != nil {
		return n, err
	}
	if err := out.statusUpdates(b.ID, &n); err != nil {
		return n, err
	}
	if filters {
		if err := out.savedFilters(a.WorkspaceID, b.ID, &n); err != nil {
			return n, err
		}
	}
	if err := out.array("activity", func() error { return out.activity(b.ID, &n) }); err != nil {
		return n, err
	}
	if err := out.members("counts", n, "complete", true); err != nil {
		return n, err
	}
	return n, out.enc.WriteToken(jsontext.EndObject)
}

// users returns all people that the board's records or changes refer to, sorted
// by name.
func (out *writer) users(boardID string) ([]userRecord, error) {
	ids, err := out.v.UsersOn(out.ctx, boardID)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, id := range ids {
		known[id] = true
	}
	err = out.v.ChangesContaining(out.ctx, boardID, "usr_", func(text []byte) error {
		var c board.Changes
		if err := json.Unmarshal(text, &c); err != nil {
			return fmt.Errorf("decode changes to board %s: %w", boardID, err)
		}
		mapIDs(c, func(id string) string {
			if id[:4] == "usr_" && !known[id] {
				known[id] = true
				ids = append(ids, id)
			}
			return id
		})
		return nil
	})
	if err != nil {
		return nil, err
	}
	refs, err := out.v.UserNames(out.ctx, ids)
	slices.SortFunc(refs, func(a, b board.UserRef) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID)) })
	users := make([]userRecord, len(refs))
	for i, u := range refs {
		users[i] = userRecord(u)
	}
	return users, err
}

func (out *writer) labels(boardID string, n *countsRecord) error {
	type key struct{ name, id string }
	return pages(func(k key) ([]board.Label, error) {
		return out.v.Labels(out.ctx, boardID, k.name, k.id, pageSize)
	}, func(l board.Label) (key, error) {
		n.Labels++
		return key{l.Name, l.ID}, out.value(labelRecord{ID: l.ID, Name: l.Name, Color: l.Color, CreatedAt: l.CreatedAt, UpdatedAt: l.UpdatedAt})
	})
}

func (out *writer) eachList(boardID string, fn func(board.List) error) error {
	return pages(func(rank string) ([]board.List, error) {
		return out.v.Lists(out.ctx, boardID, true, rank, pageSize)
	}, func(l board.List) (string, error) { return l.Rank, fn(l) })
}

func (out *writer) lists(boardID string, n *countsRecord) error {
	return out.eachList(boardID, func(l board.List) error {
		n.Lists++
		return out.value(listRecord{ID: l.ID, Name: l.Name, WIPLimit: l.WIPLimit, WIPMode: l.WIPMode,
			ArchivedAt: l.ArchivedAt, CreatedAt: l.CreatedAt, UpdatedAt: l.UpdatedAt})
	})
}

func (out *writer) activity(boardID string, n *countsRecord) error {
	return pages(func(version int64) ([]board.Entry, error) {
		if err := out.ctx.Err(); err != nil {
			return nil, err
		}
		return out.v.RecordedChanges(out.ctx, boardID, version, pageSize)
	}, func(e board.Entry) (int64, error) {
		n.Activity++
		return e.BoardVersion, out.value(entryRecord{ID: e.ID, Type: e.Type, At: e.At, Actor: e.Actor, ListID: e.ListID, CardID: e.CardID,
			Changes: e.Changes, BoardVersion: e.BoardVersion})
	})
}
