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
	maxCompletions = 100  // the protocol's limit
	maxScanned     = 1000 // maximum number of records read for one completion
)

// complete returns the ids that begin with the typed text, and the ids of records
// whose name or title contains it. It considers only records that the caller can see.
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
		context := r.Params.Context
		if context == nil || context.Arguments["boardId"] == "" {
			break // cards are completed only within a board
		}
		list, in["boardId"] = "list_cards", context.Arguments["boardId"]
	}
	completion := sdk.CompletionResultDetails{Values: []string{}}
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
			if completion.Total++; len(completion.Values) < maxCompletions {
				completion.Values = append(completion.Values, record.ID)
			}
		}
		seen += len(page)
		if cursor == "" {
			break
		}
		if in["cursor"] = cursor; seen >= maxScanned {
			completion.Total, completion.HasMore = 0, true // the total is unknown
			break
		}
	}
	completion.HasMore = completion.HasMore || completion.Total > len(completion.Values)
	return &sdk.CompleteResult{Completion: completion}, nil
}
