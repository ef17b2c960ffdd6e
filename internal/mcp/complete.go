package mcp

import (
	"context"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"cardwall/internal/board"
)

const (
	maxCompletions = 100  // limit of the protocol
	maxScanned     = 1000 // records
)

// complete returns ids that begin with the typed text, and ids of records whose
// name contains it. It only considers what the caller can see.
func (e *Endpoint) complete(ctx context.Context, r *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
	typed := strings.ToLower(r.Params.Argument.Value)
	var (
		list string
		in   = map[string]any{"limit": 200}
	)
	switch r.Params.Argument.Name {
	case "workspaceId":
		list = "list_workspaces"
	case "boardId":
		list = "list_boards"
	case "cardId":
		given := r.Params.Context
		if given == nil || given.Arguments["boardId"] == "" {
			break // cards are completed only within a board
		}
		list, in["boardId"] = "list_cards", given.Arguments["boardId"]
	}
	found := sdk.CompletionResultDetails{Values: []string{}}
	for seen := 0; list != ""; {
		data, cursor, err := e.query(ctx, list, in)
		if board.IsCode(err, board.CodeNotFound) {
			break // no completions
		}
		if err != nil {
			return nil, e.protocolError(ctx, "completion", err)
		}
		var page []struct {
			ID    string `json:"id"`
			Name  string `json:"name"`
			Title string `json:"title"`
		}
		if err := json.Unmarshal(data, &page); err != nil {
			return nil, fmt.Errorf("decode the response of %s: %w", list, err)
		}
		for _, record := range page {
			if !strings.HasPrefix(record.ID, typed) && !strings.Contains(strings.ToLower(record.Name+record.Title), typed) {
				continue
			}
			if found.Total++; len(found.Values) < maxCompletions {
				found.Values = append(found.Values, record.ID)
			}
		}
		seen += len(page)
		if cursor == "" {
			break
		}
		if in["cursor"] = cursor; seen >= maxScanned {
			found.Total, found.HasMore = 0, true // the total is unknown
			break
		}
	}
	found.HasMore = found.HasMore || found.Total > len(found.Values)
	return &sdk.CompleteResult{Completion: found}, nil
}
