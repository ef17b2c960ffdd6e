package digest

import (
	"context"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/store"
)

// AddOperations registers the operations that return digests.
func AddOperations(r *op.Registry) *op.Registry {
	r.In("Digests", "What happened in a period.")
	op.Query(r, "get_board_digest", "GET /boards/{boardId}/digest",
		"Get what happened on a board in a period, grouped by kind of change.", getBoardDigest)
	op.Query(r, "get_workspace_digest", "GET /workspaces/{workspaceId}/digest",
		"Get what happened on the boards of a workspace in a period, grouped.", getWorkspaceDigest, op.Report)
	return r
}

const (
	defaultPeriod = 7 * 24 * time.Hour
	maxPeriod     = 92 * 24 * time.Hour

	// maxChanges is the maximum number of changes that one call reads.
	maxChanges = 20_000
)

// periodInput selects a period.
type periodInput struct {
	Since *board.Instant `json:"since,omitempty" format:"date-time" doc:"Defaults to seven days before until." example:"2026-03-02T09:00:00.000Z"`
	Until *board.Instant `json:"until,omitempty" format:"date-time" doc:"Defaults to now. At most 92 days after since." example:"2026-03-09T09:00:00.000Z"`
}

// period returns the selected period.
func (in periodInput) period(now board.Instant) (store.Period, error) {
	p := store.Period{Until: now}
	if in.Until != nil {
		p.Until = *in.Until
	}
	p.Since = p.Until - board.Instant(defaultPeriod.Milliseconds())
	if in.Since != nil {
		p.Since = *in.Since
	}
	switch {
	case p.Since >= p.Until:
		return p, board.Invalid("since must be before until, which is %s.", p.Until).In("since", board.RuleValue)
	case p.Until-p.Since > board.Instant(maxPeriod.Milliseconds()):
		return p, board.Invalid("since must be at most 92 days before until, which is %s.", p.Until).In("since", board.RuleValue)
	}
	return p, nil
}

// getBoardDigestInput is the input of get_board_digest.
type getBoardDigestInput struct {
	BoardID string `json:"boardId" maxLength:"64" doc:"The id of the board." example:"brd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	periodInput
}

func getBoardDigest(ctx context.Context, v *store.View, in getBoardDigestInput) (BoardDigest, error) {
	p, err := in.period(v.Now())
	if err != nil {
		return BoardDigest{}, err
	}
	b, err := v.Board(ctx, in.BoardID, board.View)
	if err != nil {
		return BoardDigest{}, err
	}
	n, err := v.CountChanges(ctx, b.ID, p)
	if err != nil {
		return BoardDigest{}, err
	}
	s, err := collect(ctx, v, store.ActiveBoard{ID: b.ID, Name: b.Name, Changes: n}, p, maxChanges)
	if err != nil {
		return BoardDigest{}, err
	}
	w := whole([]*section{s}, nil)
	w.Since, w.Until = p.Since, p.Until
	part := w.Boards[0]
	return BoardDigest{BoardID: b.ID, BoardName: part.BoardName, Digest: w.Digest, Extent: part.Extent, Groups: part.Groups}, nil
}

// getWorkspaceDigestInput is the input of get_workspace_digest.
type getWorkspaceDigestInput struct {
	WorkspaceID string `json:"workspaceId" maxLength:"64" doc:"The id of the workspace." example:"wsp_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	periodInput
}

// maxBoards is the maximum number of boards with groups in the digest of a workspace.
const maxBoards = 12

func getWorkspaceDigest(ctx context.Context, v *store.View, in getWorkspaceDigestInput) (WorkspaceDigest, error) {
	p, err := in.period(v.Now())
	if err != nil {
		return WorkspaceDigest{}, err
	}
	if _, err := v.Workspace(ctx, in.WorkspaceID, board.ViewWorkspace); err != nil {
		return WorkspaceDigest{}, err
	}
	boards, err := v.ActiveBoards(ctx, in.WorkspaceID, p)
	if err != nil {
		return WorkspaceDigest{}, err
	}
	limits := fairShares(boards[:min(len(boards), maxBoards)], maxChanges)
	var sections []*section
	for i, limit := range limits {
		if _, err := v.Board(ctx, boards[i].ID, board.View); err != nil {
			return WorkspaceDigest{}, err
		}
		s, err := collect(ctx, v, boards[i], p, limit)
		if err != nil {
			return WorkspaceDigest{}, err
		}
		sections = append(sections, s)
	}
	w := whole(sections, boards[len(sections):])
	w.WorkspaceID, w.Since, w.Until = in.WorkspaceID, p.Since, p.Until
	return w, nil
}

// fairShares divides a number of changes to read among boards that are ordered by their number
// of changes, with the most active first. A board that needs less than its share leaves the rest
// to the others.
func fairShares(boards []store.ActiveBoard, changes int) []int {
	out := make([]int, len(boards))
	for i := len(boards) - 1; i >= 0; i-- {
		out[i] = min(boards[i].Changes, changes/(i+1))
		changes -= out[i]
	}
	return out
}
