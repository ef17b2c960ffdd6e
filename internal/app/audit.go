package app

import (
	"context"
	"encoding/csv"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/query"
	"cardwall/internal/store"
)

// AuditInput selects entries of a workspace's audit log.
type AuditInput struct {
	WorkspaceInput
	Actor     string `json:"actor,omitempty" maxLength:"64" doc:"Only actions by this actor: a user id, automation, guest or system." example:"usr_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Operation string `json:"operation,omitempty" maxLength:"64" doc:"Only calls of this operation." example:"change_member"`
	BoardID   string `json:"boardId,omitempty" maxLength:"64" doc:"Only actions on the board with this id." example:"brd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	TokenID   string `json:"tokenId,omitempty" maxLength:"64" doc:"Only actions performed with the API token with this id." example:"tok_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	From      string `json:"from,omitempty" doc:"The first day of the range, YYYY-MM-DD." example:"2026-03-01"`
	To        string `json:"to,omitempty" doc:"The last day of the range, YYYY-MM-DD." example:"2026-03-31"`
	TimeZone  string `json:"timeZone,omitempty" doc:"The time zone of the days, as an IANA name such as Europe/Zurich. Defaults to the caller's time zone." example:"Europe/Zurich"`
}

// filter returns the input as a filter for the store, with its days resolved to instants.
func (in AuditInput) filter(ctx context.Context, v *store.View) (store.AuditFilter, error) {
	f := store.AuditFilter{Actor: in.Actor, Operation: in.Operation, BoardID: in.BoardID, TokenID: in.TokenID, Until: math.MaxInt64}
	if in.From == "" && in.To == "" {
		return f, nil
	}
	days, err := reportDays(ctx, v, in.TimeZone)
	if err != nil {
		return f, err
	}
	if in.From != "" {
		first, err := board.ParseDate("from", in.From)
		if err != nil {
			return f, err
		}
		f.From = query.DayEdge(first, days.zone).At
	}
	if in.To != "" {
		last, err := board.ParseDate("to", in.To)
		if err != nil {
			return f, err
		}
		f.Until = query.DayEdge(last.AddDate(0, 0, 1), days.zone).At
	}
	if f.Until <= f.From {
		return f, board.Invalid("to must not be before from.").In("to", board.RuleValue)
	}
	return f, nil
}

// ListAuditEntriesInput is the input of ListAuditEntries.
type ListAuditEntriesInput struct {
	AuditInput
	op.Paging
}

// ListAuditEntries returns the audit log of a workspace and its boards, newest
// first. The caller must be an owner or admin of the workspace. For boards that
// the caller cannot see, it omits the changed values and the names of the board
// and the subject.
func ListAuditEntries(ctx context.Context, v *store.View, in ListAuditEntriesInput) (op.Page[board.AuditEntry], error) {
	var before string
	if err := in.After(&before); err != nil {
		return op.Page[board.AuditEntry]{}, err
	}
	w, err := v.Workspace(ctx, in.WorkspaceID, board.ManageMembers)
	if err != nil {
		return op.Page[board.AuditEntry]{}, err
	}
	f, err := in.filter(ctx, v)
	if err != nil {
		return op.Page[board.AuditEntry]{}, err
	}
	all, err := v.AuditEntries(ctx, w, f, before, in.Size()+1)
	return op.Cut(all, in.Size(), func(e board.AuditEntry) any { return e.ID }), err
}

// ExportAuditCSV writes the entries as comma-separated values (RFC 4180) with a
// header line. Changes are written as JSON.
func ExportAuditCSV(ctx context.Context, v *store.View, in AuditInput, file io.Writer) error {
	out := csv.NewWriter(file)
	out.UseCRLF = true
	names := []string{
		"id", "at", "operation", "actorType", "actorId", "actorName", "tokenId", "tokenName",
		"boardId", "boardName", "boardVersion", "subject", "subjectName", "changes", "requestId",
	}
	if err := out.Write(names); err != nil {
		return err
	}
	return eachAuditPage(ctx, v, in, file, "csv", func(page []board.AuditEntry) error {
		for _, e := range page {
			changes, err := json.Marshal(e.Changes, json.Deterministic(true))
			if err != nil {
				return err
			}
			version := ""
			if e.BoardVersion != nil {
				version = strconv.FormatInt(*e.BoardVersion, 10)
			}
			row := []string{
				e.ID, e.At.String(), e.Operation, string(e.Actor.Type), cell(e.Actor.ID), cell(e.ActorName), cell(e.TokenID), cell(e.TokenName),
				cell(e.BoardID), cell(e.BoardName), version, cell(e.Subject), cell(e.SubjectName), string(changes), cell(e.RequestID),
			}
			if err := out.Write(row); err != nil {
				return err
			}
		}
		out.Flush()
		return out.Error()
	})
}

// cell returns a string as a table cell, or "" for nil. It puts an apostrophe before
// text that a spreadsheet would treat as a formula.
func cell(s *string) string {
	switch {
	case s == nil:
		return ""
	case *s != "" && strings.ContainsRune("=+-@\t\r", rune((*s)[0])):
		return "'" + *s
	}
	return *s
}

// ExportAuditNDJSON writes each entry as a line of JSON.
func ExportAuditNDJSON(ctx context.Context, v *store.View, in AuditInput, file io.Writer) error {
	return eachAuditPage(ctx, v, in, file, "ndjson", func(page []board.AuditEntry) error {
		var lines []byte
		for _, e := range page {
			line, err := json.Marshal(e, json.Deterministic(true))
			if err != nil {
				return err
			}
			lines = append(append(lines, line...), '\n')
		}
		_, err := file.Write(lines)
		return err
	})
}

// auditPage is the maximum number of entries that an export reads into memory at a
// time.
const auditPage = 200

// eachAuditPage names the file and calls write with successive pages of entries,
// newest first. It calls write at least once; the last page may be empty. After a pause
// for a slow reader, it checks the caller's permission again.
func eachAuditPage(
	ctx context.Context, v *store.View, in AuditInput, file io.Writer, extension string, write func([]board.AuditEntry) error,
) error {
	w, err := v.Workspace(ctx, in.WorkspaceID, board.ManageMembers)
	if err != nil {
		return err
	}
	f, err := in.filter(ctx, v)
	if err != nil {
		return err
	}
	op.NameDocument(file, w.Name+" audit log", v.Time(), extension)
	for before := ""; ; {
		page, err := v.AuditEntries(ctx, w, f, before, auditPage)
		if err == nil {
			err = write(page)
		}
		paused := false
		if err == nil {
			paused, err = op.Yield(ctx, v, file)
		}
		if err == nil && paused {
			w, err = v.Workspace(ctx, in.WorkspaceID, board.ManageMembers)
		}
		if err != nil || len(page) < auditPage {
			return err
		}
		before = page[len(page)-1].ID
	}
}
