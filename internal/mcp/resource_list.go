package mcp

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxListed is the maximum number of boards in the list of resources.
const maxListed = 20

// homeBoard has the fields of a board in the result of get_home that the list of resources
// needs.
type homeBoard struct {
	ID         string  `json:"id"`
	Name       string  `json:"name"`
	ArchivedAt *string `json:"archivedAt"`
	Starred    bool    `json:"starred"`
	LastSeenAt string  `json:"lastSeenAt"` // "" for null

	workspace string // name
}

// listedBoards returns the caller's starred boards as resources, and then the boards that
// the caller opened last.
func (e *Endpoint) listedBoards(ctx context.Context) ([]*sdk.Resource, error) {
	home, _, err := queryAs[struct {
		Workspaces []struct {
			Name   string      `json:"name"`
			Boards []homeBoard `json:"boards"`
		} `json:"workspaces"`
	}](ctx, e, "get_home", jsonObject{})
	if err != nil {
		return nil, e.protocolError(ctx, "the list of resources", err)
	}
	var starred, recent []homeBoard
	for _, w := range home.Workspaces {
		for _, b := range w.Boards {
			b.workspace = w.Name
			switch {
			case b.ArchivedAt != nil:
			case b.Starred:
				starred = append(starred, b)
			case b.LastSeenAt != "":
				recent = append(recent, b)
			}
		}
	}
	byLastSeen := func(a, b homeBoard) int { return cmp.Compare(b.LastSeenAt, a.LastSeenAt) }
	slices.SortStableFunc(starred, byLastSeen)
	slices.SortStableFunc(recent, byLastSeen)
	boards := append(starred, recent...)
	var out []*sdk.Resource
	for i, b := range boards[:min(len(boards), maxListed)] {
		reason := "Recently opened"
		if b.Starred {
			reason = "Starred"
		}
		more := ""
		if rest := len(boards) - maxListed; i == maxListed-1 && rest > 0 {
			more = fmt.Sprintf(". %d more boards are not listed; list_boards returns all", rest)
		}
		out = append(out, &sdk.Resource{
			Name: b.Name, Title: b.Name, URI: boardURI + b.ID, MIMEType: "application/json",
			Description: reason + ". Workspace: " + b.workspace + more,
		})
	}
	return out, nil
}
