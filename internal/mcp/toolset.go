package mcp

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"cardwall/internal/board"
	"cardwall/internal/op"
)

// A client selects a toolset with the tools parameter of its address, such as
// /mcp?tools=core. The list of tools then contains only the tools of the toolset, and
// otherTools, which names the rest. Calls are not restricted.

// The names of toolsets. The others are areas of operations.
const (
	coreTools = "core"
	readTools = "read"
)

// core are the tools that suit most conversations. Models choose worse among more than
// about 30 tools.
var core = []string{
	"get_me", "get_my_overview", "list_my_cards", "search_cards", "list_workspaces", "list_workspace_members",
	"list_boards", "get_board", "create_board", "get_board_digest", "list_board_activity", "create_list",
	"list_cards", "get_card", "create_cards", "update_card", "update_cards", "move_card",
	"add_checklist", "update_checklist_item", "list_comments", "add_comment", "undo_changes",
}

// otherTools is the name of a tool that only toolsets contain.
const otherTools = "list_other_tools"

// areaOf returns the name of a tool's area in addresses, which is the first word of its
// title.
func areaOf(o *op.Operation) string {
	area, _, _ := strings.Cut(strings.ToLower(o.Area), " ")
	return area
}

// toolsets are all toolsets of an endpoint.
type toolsets struct {
	areas  []string                   // the names of the areas, in the order of the operations
	byName map[string]map[string]bool // the names of the tools in each toolset
}

func newToolsets(tools []*tool) toolsets {
	sets := toolsets{byName: map[string]map[string]bool{}}
	add := func(name, tool string) {
		if sets.byName[name] == nil {
			sets.byName[name] = map[string]bool{}
		}
		sets.byName[name][tool] = true
	}
	for _, t := range tools {
		area := areaOf(t.Operation)
		if !slices.Contains(sets.areas, area) {
			sets.areas = append(sets.areas, area)
		}
		add(area, t.Name)
		if t.ReadOnly {
			add(readTools, t.Name)
		}
		if slices.Contains(core, t.Name) {
			add(coreTools, t.Name)
		}
	}
	return sets
}

// selection are the toolsets that an address selects. nil selects all tools.
type selection []map[string]bool

// has reports whether a selection contains a tool.
func (s selection) has(t *tool) bool {
	return s == nil || slices.ContainsFunc(s, func(set map[string]bool) bool { return set[t.Name] })
}

// selectedBy returns the toolsets that the query of an address selects.
func (sets toolsets) selectedBy(query url.Values) (selection, error) {
	if !query.Has("tools") {
		return nil, nil
	}
	selected := selection{}
	for name := range strings.SplitSeq(query.Get("tools"), ",") {
		set := sets.byName[name]
		if set == nil {
			return nil, board.Invalid("tools must be %s, %s or areas, separated by commas. The areas are %s.",
				coreTools, readTools, strings.Join(sets.areas, ", ")).In("tools", board.RuleValue)
		}
		selected = append(selected, set)
	}
	return selected, nil
}

// addOtherTools adds the tool that names the tools outside of a toolset.
func (e *Endpoint) addOtherTools(s *sdk.Server) {
	s.AddTool(&sdk.Tool{
		Name: otherTools, Title: titleOf(otherTools),
		Description: "List the tools that this connection does not show, by area, and the address that shows them.",
		InputSchema: jsonObject{"type": "object", "additionalProperties": false}, OutputSchema: resultSchema,
		Annotations: &sdk.ToolAnnotations{
			ReadOnlyHint: true, DestructiveHint: new(false), OpenWorldHint: new(false), IdempotentHint: true,
		},
	}, e.listOtherTools)
}

// areaTools are the tools of an area that a connection does not show.
type areaTools struct {
	Area    string            `json:"area"`
	Address string            `json:"address"` // of a connection that shows the tools of the area
	Tools   map[string]string `json:"tools"`   // summaries by name
}

func (e *Endpoint) listOtherTools(ctx context.Context, _ *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	req := requestOf(ctx)
	areas := []areaTools{}
	for _, area := range e.toolsets.areas {
		tools := map[string]string{}
		for name := range e.toolsets.byName[area] {
			if t := e.tools[name]; !req.selected.has(t) && req.caller.Has(t.Scope) {
				tools[name] = t.Summary
			}
		}
		if len(tools) > 0 {
			areas = append(areas, areaTools{area, e.BaseURL + board.MCPPath + "?tools=" + area, tools})
		}
	}
	body, err := json.Marshal(jsonObject{
		"data": areas,
		"next": "Ask the person to add an area to the address of this connection, such as ?tools=core,labels, " +
			"or to use the address without ?tools, which shows all tools.",
	}, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("encode the other tools: %w", err)
	}
	return success(body).result(req.stateless), nil
}
