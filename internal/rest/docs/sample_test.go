package docs

import (
	"reflect"

	"github.com/danielgtaylor/huma/v2"
)

const hostile = "Text with <script>alert(1)</script> and <img src=x onerror=alert(2)> and [a link](javascript:alert(3))."

type registry map[string]*huma.Schema

func (r registry) Map() map[string]*huma.Schema                         { return r }
func (r registry) Schema(reflect.Type, bool, string) *huma.Schema       { return nil }
func (r registry) SchemaFromRef(string) *huma.Schema                    { return nil }
func (r registry) TypeFromRef(string) reflect.Type                      { return nil }
func (r registry) RegisterTypeAlias(t reflect.Type, alias reflect.Type) {}

func ref(name string) *huma.Schema { return &huma.Schema{Ref: "#/components/schemas/" + name} }

func str(description string, examples ...any) *huma.Schema {
	return &huma.Schema{Type: "string", Description: description, Examples: examples}
}

func object(required []string, props map[string]*huma.Schema) *huma.Schema {
	return &huma.Schema{Type: "object", Required: required, Properties: props, AdditionalProperties: false}
}

func ptr[T any](v T) *T { return &v }

func content(s *huma.Schema) map[string]*huma.MediaType {
	return map[string]*huma.MediaType{"application/json": {Schema: s}}
}

func schemas() registry {
	title := str("Title of the card.", "Send the invoices")
	title.MaxLength = ptr(512)
	card := object([]string{"id", "boardId", "listId", "title", "done", "labels"}, map[string]*huma.Schema{
		"id": str("", "crd_01jq"), "boardId": str("", "brd_01jp"), "listId": str("The list that contains the card.", "lst_01jr"),
		"title":       title,
		"description": {Type: "string", Nullable: true, Description: "Markdown. " + hostile},
		"done":        {Type: "boolean"}, "dueAt": {Type: "string", Format: "date-time", Nullable: true},
		"labels": {Type: "array", Items: ref("Label")},
		"checklistItems": object([]string{"done", "total"},
			map[string]*huma.Schema{"done": {Type: "integer"}, "total": {Type: "integer"}}),
	})
	card.Description = "A card is in one list of one board."
	return registry{
		"Card": card,
		"Label": object([]string{"id", "name"}, map[string]*huma.Schema{"id": str("", "lbl_01js"),
			"name": str("", "Finance"), "color": {Type: "string", Enum: []any{"red", "green", "blue"}}}),
		"Position": {Description: "Position in the list.", Default: "bottom",
			OneOf: []*huma.Schema{{Type: "string", Enum: []any{"top", "bottom"}},
				object([]string{"before"}, map[string]*huma.Schema{"before": str("The next card.")}),
				object([]string{"after"}, map[string]*huma.Schema{"after": str("The previous card.")})}},
		"Node": object(nil, map[string]*huma.Schema{"name": str(""), "children": {Type: "array", Items: ref("Node")}}),
		"Merged": {AllOf: []*huma.Schema{ref("Card"),
			object([]string{"extra"}, map[string]*huma.Schema{"extra": str("An additional field.")})}},
		"Loop": {AllOf: []*huma.Schema{ref("Loop")}},
		"Odd": object(nil, map[string]*huma.Schema{
			"several": {Extensions: map[string]any{"type": []string{"string", "integer", "null"}}},
			"union":   {OneOf: []*huma.Schema{ref("Card"), ref("Node"), {Type: "null"}}},
			"maybe":   {AnyOf: []*huma.Schema{ref("Node"), {Type: "null"}}},
			"byName":  {Type: "object", AdditionalProperties: ref("Card")},
			"at":      {Type: "string", Format: "date-time"}, "gone": ref("Missing"),
			"const": {Extensions: map[string]any{"const": "fixed"}}, "anything": {},
			"choice": {Enum: []any{"yes", "", nil}},
		}),
	}
}

func responseOf(data *huma.Schema, more map[string]*huma.Schema) *huma.Response {
	props := map[string]*huma.Schema{"data": data}
	for name, s := range more {
		props[name] = s
	}
	integer := &huma.Schema{Type: "integer"}
	return &huma.Response{Description: "Done.", Content: content(object([]string{"data"}, props)),
		Headers: map[string]*huma.Param{
			"X-RateLimit-Limit":     {Description: "Requests allowed in a minute.", Schema: integer},
			"X-RateLimit-Remaining": {Description: "Remaining requests.", Schema: integer},
		}}
}

// sampleDocument returns a small document with the constructs that the tests check, and with
// hostile text in summaries and descriptions.
func sampleDocument() *huma.OpenAPI {
	version := map[string]*huma.Schema{"boardVersion": {Type: "integer",
		Description: "The board's version after the change.", Examples: []any{412}}}
	next := map[string]*huma.Schema{"nextCursor": str("Cursor of the next page.", "c2VlIHlvdQ")}
	cardID := &huma.Param{Name: "cardId", In: "path", Required: true, Description: "The card.",
		Schema: str("", "crd_01jq")}
	boardID := &huma.Param{Name: "boardId", In: "path", Required: true, Description: "The board.", Schema: str("")}
	failures := func(r *huma.Response, codes ...string) map[string]*huma.Response {
		out := map[string]*huma.Response{"200": r}
		out["404"] = &huma.Response{Description: "Absent, or not visible to the token.",
			Extensions: map[string]any{"x-codes": []string{"not_found"}}}
		if len(codes) > 0 {
			out["409"] = &huma.Response{Description: "The state of the board forbids it.",
				Extensions: map[string]any{"x-codes": codes}}
		}
		return out
	}
	scope := func(s string) map[string]any { return map[string]any{"x-scope": s} }
	note := str("A note for the activity. " + hostile)
	note.MaxLength = ptr(512)
	doc := &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{Title: "Cardwall REST API", Version: "1.0.0",
			Description: "Boards, lists and cards over HTTP. The web app and the MCP endpoint use the same operations.\n\n" +
				"### First steps\n\n- Create a token.\n- Call `get_card`.\n\n" + hostile},
		Servers: []*huma.Server{{URL: "/api/public/v1"}},
		Tags: []*huma.Tag{{Name: "Cards", Description: "What people work on. " + hostile},
			{Name: "Labels", Description: "Colors and names on cards."}, {Name: "Unused"}},
		Components: &huma.Components{Schemas: schemas(), SecuritySchemes: map[string]*huma.SecurityScheme{
			"token": {Type: "http", Scheme: "bearer", Description: "A personal API token, `cwl_…`."}}},
		Security: []map[string][]string{{"token": {}}},
		Extensions: map[string]any{"x-errors": []map[string]any{
			{"code": "invalid_request", "status": "400",
				"when": "A field, parameter or header is missing, unknown or out of range. The message names it."},
			{"code": "not_found", "status": 404, "when": "The object does not exist, or the token cannot see it."},
			{"code": "capacity_full", "status": 409, "when": "The list's hard limit is reached."},
			{"code": "board_archived", "status": 409, "when": "The board is archived; restore it first."},
			{"code": "rate_limited", "status": 429, "when": "Wait for the time given in `Retry-After`."},
		}},
	}
	add := func(method, path, id, tag, scopeName, summary string, responses map[string]*huma.Response, body *huma.Schema,
		params ...*huma.Param) {
		op := &huma.Operation{Method: method, Path: path, OperationID: id, Tags: []string{tag}, Summary: summary,
			Extensions: scope(scopeName), Responses: responses, Parameters: params}
		if body != nil {
			op.RequestBody = &huma.RequestBody{Required: true, Content: content(body)}
		}
		doc.AddOperation(op)
	}
	add("GET", "/cards/{cardId}", "get_card", "Cards", "read", "Get a card with its checklists.",
		failures(responseOf(ref("Card"), nil)), nil, cardID)
	add("PATCH", "/cards/{cardId}", "update_card", "Cards", "write", "Change a card. "+hostile,
		failures(responseOf(ref("Card"), version), "board_archived"),
		object(nil, map[string]*huma.Schema{"title": str("", "Send the invoices"), "description": str(""),
			"done": {Type: "boolean"}}), cardID)
	add("POST", "/cards/{cardId}/move", "move_card", "Cards", "write", "Move a card within its board.",
		failures(responseOf(ref("Card"), version), "capacity_full", "board_archived"),
		object([]string{"listId"}, map[string]*huma.Schema{"listId": str("A list of the same board.", "lst_01jr"),
			"position": ref("Position"), "note": note}), cardID,
		&huma.Param{Name: "Idempotency-Key", In: "header", Description: "Makes the request safe to repeat for 24 hours.",
			Schema: &huma.Schema{Type: "string", MaxLength: ptr(255)}})
	add("GET", "/boards/{boardId}/cards", "list_cards", "Cards", "read", "List the cards of a board.",
		failures(responseOf(&huma.Schema{Type: "array", Items: ref("Card")}, next)), nil, boardID,
		&huma.Param{Name: "limit", In: "query", Description: "Maximum number of records.",
			Schema: &huma.Schema{Type: "integer", Minimum: ptr(1.0), Maximum: ptr(200.0), Default: 50}},
		&huma.Param{Name: "due", In: "query", Description: "Due dates to include.",
			Schema: &huma.Schema{Type: "array",
				Items: &huma.Schema{Type: "string", Enum: []any{"overdue", "today", "week", "none"}}}},
		&huma.Param{Name: "cursor", In: "query", Description: "`nextCursor` of the previous page.", Schema: str("")})
	add("PUT", "/cards/{cardId}/due", "set_card_due", "Cards", "write", "Set when a card is due.",
		failures(responseOf(ref("Card"), version)), object([]string{"dueDate"},
			map[string]*huma.Schema{"dueDate": {Type: "string", Format: "date"},
				"timeZone": str("An IANA name.", "Europe/Vienna")}), cardID)
	add("DELETE", "/labels/{labelId}", "delete_label", "Labels", "admin", "Delete a label from its board.",
		failures(responseOf(object([]string{"id"}, map[string]*huma.Schema{"id": str("", "lbl_01js")}), version)), nil,
		&huma.Param{Name: "labelId", In: "path", Required: true, Schema: str("", "lbl_01js")})
	add("POST", "/nodes", "create_node", "Oddities", "write", "Create a node, whose schema contains itself.",
		failures(responseOf(ref("Node"), nil)), ref("Node"))
	add("GET", "/odd", "get_odd", "Oddities", "read", "Return every schema construct.",
		map[string]*huma.Response{"200": responseOf(ref("Odd"), nil), "204": {Description: "No content."}}, nil)
	return doc
}

func operationIDs(doc *huma.OpenAPI) []string {
	var out []string
	for _, item := range doc.Paths {
		for _, op := range []*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete} {
			if op != nil {
				out = append(out, op.OperationID)
			}
		}
	}
	return out
}
