package mcp

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/store"
)

// A text that is too long for a result is sent in parts. A part has another name than the whole
// text, and tools that replace a whole text do not take a part of it, so that a model that read
// only a part does not delete the rest.

// textFromField is the argument that leaves out the beginning of texts.
const textFromField = "textFrom"

// textTools are the tools that take textFromField: those that return long texts.
var textTools = []string{"get_card", "get_board", "list_comments", reading}

// partName returns the name of a part of the text with a name.
func partName(name string) string { return strings.TrimSuffix(name, "Part") + "Part" }

// view is how an assistant wants to see a result.
type view struct {
	columns  []string // of a table of cards; nil for records
	textFrom int      // the number of characters that are left out at the beginning of texts
}

// view returns the view that the arguments of a call select. It also returns the arguments for
// the operation.
func (t *tool) view(object []byte) (v view, rest []byte, err error) {
	switch {
	case slices.Contains(changing, t.Name):
		return view{columns: changedColumns}, object, nil
	case t.hasTable():
		v.columns, rest, err = t.columns(object)
		return v, rest, err
	}
	given := map[string]jsontext.Value{}
	if !slices.Contains(textTools, t.Name) || json.Unmarshal(object, &given) != nil || given[textFromField] == nil {
		return v, object, nil
	}
	if from := given[textFromField]; !isNull(from) {
		if v.textFrom, err = strconv.Atoi(string(from)); err != nil || v.textFrom < 0 {
			return v, nil, board.Invalid("%s must be a number of characters.", textFromField).In(textFromField, board.RuleValue)
		}
	}
	delete(given, textFromField)
	rest, err = json.Marshal(given, json.Deterministic(true))
	return v, rest, err
}

// textsFrom returns the body of a response with the long texts from a character on.
func textsFrom(body []byte, from int) ([]byte, error) {
	var response any
	if err := json.Unmarshal(body, &response); err != nil {
		return nil, fmt.Errorf("decode texts: %w", err)
	}
	return json.Marshal(partsFrom(response, from), json.Deterministic(true))
}

func partsFrom(v any, from int) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = partsFrom(v[i], from)
		}
	case map[string]any:
		for _, name := range []string{"description", "text"} {
			if text, ok := v[name].(string); ok {
				delete(v, name)
				all := []rune(text)
				v[partName(name)] = string(all[min(from, len(all)):])
			}
		}
		for name := range v {
			v[name] = partsFrom(v[name], from)
		}
	}
	return v
}

// wholeTexts are the fields that replace a whole text, and the ids of its record, by tool.
var wholeTexts = map[string]struct{ field, id string }{
	"update_card": {"description", "cardId"}, "update_board": {"description", "boardId"}, "edit_comment": {"text", "commentId"},
}

// refusePart returns a fault if a call would replace a text with a part of it as it is sent to
// assistants. A text that only looks like a part is refused as well.
func (e *Endpoint) refusePart(ctx context.Context, t *tool, call op.Call) error {
	replaced, ok := wholeTexts[t.Name]
	var body map[string]jsontext.Value
	var text string
	if !ok || call.Arguments.Path == nil || json.Unmarshal(call.Arguments.Body, &body) != nil ||
		body[replaced.field] == nil || json.Unmarshal(body[replaced.field], &text) != nil {
		return nil // the operation explains wrong types
	}
	part := []rune(strings.TrimSuffix(strings.TrimSuffix(text, "…"), "..."))
	if len(part) < textStep {
		return nil
	}
	in, err := json.Marshal(textInput{t.Name, call.Arguments.Path(replaced.id)})
	if err != nil {
		return fmt.Errorf("encode the id of a text: %w", err)
	}
	result, err := e.Engine.Do(ctx, op.Call{Operation: e.wholeText, Caller: call.Caller, Arguments: op.Arguments{Body: in}})
	if err != nil {
		return nil // the operation fails for the same reason
	}
	var current struct {
		Data textOutput `json:"data"`
	}
	if err := json.Unmarshal(stripHiddenJSON(result.Body), &current); err != nil {
		return fmt.Errorf("decode a text: %w", err)
	}
	all := []rune(current.Data.Text)
	if !isPart(part, all) {
		return nil
	}
	return board.Invalid("%s is a part of the present text, which has %d characters. Write the whole text; %s returns the other parts. "+
		"If the text should be shortened to this part, change something else in it as well.", replaced.field, len(all), textFromField).
		In(replaced.field, board.RuleValue)
}

// isPart reports whether an assistant may have read part as a part of a text. Parts begin after a
// multiple of textStep characters. They are as long as such a multiple, or end with the text.
func isPart(part, all []rune) bool {
	for from := 0; from+len(part) <= len(all); from += textStep {
		end := from + len(part)
		if slices.Equal(part, all[from:end]) && (end == len(all) || len(part)%textStep == 0) {
			return len(part) < len(all)
		}
	}
	return false
}

// textInput identifies a text that a tool replaces.
type textInput struct {
	Tool string `json:"tool"`
	ID   string `json:"id"`
}

type textOutput struct {
	Text string `json:"text"`
}

func wholeText(ctx context.Context, v *store.View, in textInput) (textOutput, error) {
	switch in.Tool {
	case "update_board":
		b, err := v.Board(ctx, in.ID, board.View)
		return textOutput{b.Description}, err
	case "edit_comment":
		text, err := v.CommentText(ctx, in.ID)
		return textOutput{text}, err
	}
	c, err := v.Card(ctx, in.ID, board.View)
	if err != nil || c.Description == nil {
		return textOutput{}, err
	}
	return textOutput{*c.Description}, nil
}
