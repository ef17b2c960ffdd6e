package transfer

import (
	"context"
	"io"

	"cardwall/internal/op"
	"cardwall/internal/store"
)

// BoardInput identifies the board to export.
type BoardInput struct {
	BoardID string `json:"boardId" maxLength:"64" doc:"The id of the board." example:"brd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
}

// WorkspaceInput identifies the workspace to export.
type WorkspaceInput struct {
	WorkspaceID string `json:"workspaceId" maxLength:"64" doc:"The id of the workspace." example:"wsp_01jb2m3n4p5q6r7s8t9v0w1x2y"`
}

// AddOperations registers the exports.
func AddOperations(r *op.Registry) *op.Registry {
	r.In("Exports", "Boards as streamed documents.")
	op.Stream(r, "export_board", "GET /boards/{boardId}/export",
		"Export a board as one streamed document. A complete document ends with counts and "+
			"\"complete\": true. To import it, run the command: cardwall import cardwall.",
		func(ctx context.Context, v *store.View, in BoardInput, w io.Writer) error {
			return Export(ctx, v, in.BoardID, w)
		}, op.Writes[boardExport]())
	op.Stream(r, "export_workspace", "GET /workspaces/{workspaceId}/export",
		"Export, as one streamed document, the boards of a workspace that the caller can see. Confidential "+
			"boards are omitted.",
		func(ctx context.Context, v *store.View, in WorkspaceInput, w io.Writer) error {
			return ExportWorkspace(ctx, v, in.WorkspaceID, w)
		}, op.Writes[workspaceExport]())
	return r
}
