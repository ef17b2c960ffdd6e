package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/store"
)

// Tools that list cards return a table by default, because a model reads all of it: the columns
// are named once, and rows name lists, labels and people instead of their ids. Names and card
// numbers are valid as input.

// cardTable is the data of a page of cards. A row has a value for each column; null and false
// are left out at its end.
type cardTable struct {
	Columns []string         `json:"columns"`
	Rows    []jsontext.Value `json:"rows"`
}

// card is the part of a card that tables and board resources contain.
type card struct {
	ID             string           `json:"id"`
	BoardID        string           `json:"boardId"`
	ListID         string           `json:"listId"`
	Number         int              `json:"number"`
	Title          string           `json:"title"`
	Description    string           `json:"description"`
	Done           bool             `json:"done"`
	DoneAt         *string          `json:"doneAt"`
	ArchivedAt     *string          `json:"archivedAt"`
	Labels         []board.LabelRef `json:"labels"`
	Assignees      []board.UserRef  `json:"assignees"`
	DueDate        *string          `json:"dueDate"`
	DueAt          *string          `json:"dueAt"`
	StartDate      *string          `json:"startDate"`
	StartAt        *string          `json:"startAt"`
	ChecklistItems struct {
		Done  int `json:"done"`
		Total int `json:"total"`
	} `json:"checklistItems"`
	Comments    int     `json:"comments"`
	Attachments int     `json:"attachments"`
	CreatedAt   *string `json:"createdAt"`
	UpdatedAt   *string `json:"updatedAt"`
	URL         string  `json:"url"`
}

// cardColumns are the columns that a table can have. The functions return their values.
var cardColumns = map[string]func(c card, names store.NamedList) any{
	"board":       func(_ card, names store.NamedList) any { return textOrNull(names.Board) },
	"number":      func(c card, _ store.NamedList) any { return c.Number },
	"title":       func(c card, _ store.NamedList) any { return c.Title },
	"list":        func(_ card, names store.NamedList) any { return textOrNull(names.Name) },
	"labels":      func(c card, _ store.NamedList) any { return oneOrAll(labelNames(c.Labels)) },
	"assignees":   func(c card, _ store.NamedList) any { return oneOrAll(personNames(c.Assignees)) },
	"due":         func(c card, _ store.NamedList) any { return dateOrInstant(c.DueDate, c.DueAt) },
	"done":        func(c card, _ store.NamedList) any { return trueOrNull(c.Done) },
	"id":          func(c card, _ store.NamedList) any { return c.ID },
	"boardId":     func(c card, _ store.NamedList) any { return c.BoardID },
	"listId":      func(c card, _ store.NamedList) any { return c.ListID },
	"description": func(c card, _ store.NamedList) any { return textOrNull(c.Description) },
	"start":       func(c card, _ store.NamedList) any { return dateOrInstant(c.StartDate, c.StartAt) },
	"doneAt":      func(c card, _ store.NamedList) any { return dateOrInstant(nil, c.DoneAt) },
	"archivedAt":  func(c card, _ store.NamedList) any { return dateOrInstant(nil, c.ArchivedAt) },
	"createdAt":   func(c card, _ store.NamedList) any { return dateOrInstant(nil, c.CreatedAt) },
	"updatedAt":   func(c card, _ store.NamedList) any { return dateOrInstant(nil, c.UpdatedAt) },
	"checklist": func(c card, _ store.NamedList) any {
		if c.ChecklistItems.Total == 0 {
			return nil
		}
		return fmt.Sprintf("%d/%d", c.ChecklistItems.Done, c.ChecklistItems.Total)
	},
	"comments":    func(c card, _ store.NamedList) any { return countOrNull(c.Comments) },
	"attachments": func(c card, _ store.NamedList) any { return countOrNull(c.Attachments) },
	"url":         func(c card, _ store.NamedList) any { return c.URL },
}

// columnNames are the columns in the order in which errors list them. The first ones are the
// default of tools that list the cards of several boards; the cards of one board need no column
// for it.
var columnNames = []string{
	"board", "number", "title", "list", "labels", "assignees", "due", "done",
	"id", "boardId", "listId", "description", "start", "doneAt", "archivedAt", "createdAt", "updatedAt", "checklist", "comments",
	"attachments", "url",
}

const defaultColumns = 8

// changing are the tools that return the cards that they create or change. Their results have the
// default columns, and say which cards are archived.
var changing = []string{"create_cards", "update_cards"}

var changedColumns = append(slices.Clone(columnNames[1:defaultColumns]), "archivedAt")

// columnsField is the argument that selects the columns.
const columnsField = "fields"

// hasTable reports whether a tool returns a table by default.
func (t *tool) hasTable() bool {
	return t.Paged && slices.ContainsFunc(t.Input.Fields, func(f op.Field) bool { return f.Name == "view" })
}

// columns returns the columns that the arguments of a call select, or nil if the result is not
// a table. It also returns the arguments for the operation.
func (t *tool) columns(object []byte) ([]string, []byte, error) {
	given := map[string]jsontext.Value{}
	if len(object) > 0 && json.Unmarshal(object, &given) != nil {
		return nil, object, nil // the operation explains it
	}
	selected := given[columnsField]
	names, err := t.selectedColumns(selected, !isNull(given["view"]))
	if err != nil || selected == nil {
		return names, object, err
	}
	delete(given, columnsField)
	if slices.Contains(names, "description") {
		given["view"] = jsontext.Value(`"full"`)
	}
	object, err = json.Marshal(given, json.Deterministic(true))
	return names, object, err
}

func (t *tool) selectedColumns(selected jsontext.Value, hasView bool) (names []string, err error) {
	switch {
	case isNull(selected) && hasView:
		return nil, nil
	case isNull(selected) && t.Name == filtered:
		return columnNames[1:defaultColumns], nil
	case isNull(selected):
		return columnNames[:defaultColumns], nil
	case hasView:
		return nil, board.Invalid("%s selects columns of the table; leave out view, which returns records.", columnsField).
			In(columnsField, board.RuleValue)
	}
	for _, text := range textsIn(selected) {
		for name := range strings.SplitSeq(text, ",") {
			names = append(names, strings.TrimSpace(name))
		}
	}
	unknown := slices.ContainsFunc(names, func(name string) bool { return cardColumns[name] == nil })
	if unknown || len(names) == 0 || len(names) > len(columnNames) {
		return nil, board.Invalid("%s must be names of columns separated by commas: %s.", columnsField, strings.Join(columnNames, ", ")).
			In(columnsField, board.RuleValue)
	}
	return names, nil
}

func isNull(v jsontext.Value) bool { return v == nil || v.Kind() == 'n' }

// inTable returns the body of a response with its cards as a table.
func (e *Endpoint) inTable(ctx context.Context, columns []string, body []byte) ([]byte, error) {
	var (
		response map[string]jsontext.Value
		cards    []card
	)
	err := json.Unmarshal(body, &response)
	if err == nil {
		cards, err = cardsIn(response["data"])
	}
	if err != nil {
		return nil, fmt.Errorf("decode cards: %w", err)
	}
	names, err := e.namesOfLists(ctx, columns, cards)
	if err != nil {
		return nil, err
	}
	table := cardTable{Columns: columns, Rows: []jsontext.Value{}}
	for _, c := range cards {
		row := make([]any, len(columns))
		for i, name := range columns {
			row[i] = cardColumns[name](c, names[c.ListID])
		}
		text, err := encodeContent(withoutNullsAtEnd(row))
		if err != nil {
			return nil, err
		}
		table.Rows = append(table.Rows, text)
	}
	if response["data"], err = encodeContent(table); err != nil {
		return nil, err
	}
	return json.Marshal(response, json.Deterministic(true))
}

// cardsIn returns the cards of a page or of a change of several cards.
func cardsIn(data jsontext.Value) ([]card, error) {
	var page struct {
		Cards []card `json:"cards"`
	}
	if data.Kind() == '{' {
		err := json.Unmarshal(data, &page)
		return page.Cards, err
	}
	err := json.Unmarshal(data, &page.Cards)
	return page.Cards, err
}

// namesOfLists returns the names of the lists and boards of cards, by the id of the list.
func (e *Endpoint) namesOfLists(ctx context.Context, columns []string, cards []card) (map[string]store.NamedList, error) {
	if len(cards) == 0 || !slices.Contains(columns, "list") && !slices.Contains(columns, "board") {
		return nil, nil
	}
	var in listsInput
	for _, c := range cards {
		if !slices.Contains(in.ListIDs, c.ListID) {
			in.ListIDs = append(in.ListIDs, c.ListID)
		}
	}
	body, err := json.Marshal(in)
	if err != nil {
		return nil, fmt.Errorf("encode the ids of lists: %w", err)
	}
	result, err := e.Engine.Do(ctx, op.Call{Operation: e.listNames, Caller: requestOf(ctx).caller, Arguments: op.Arguments{Body: body}})
	if err != nil {
		return nil, err
	}
	var found struct {
		Data map[string]store.NamedList `json:"data"`
	}
	if err := json.Unmarshal(stripHiddenJSON(result.Body), &found); err != nil {
		return nil, fmt.Errorf("decode the names of lists: %w", err)
	}
	return found.Data, nil
}

// listsInput is the input of the operation that returns the names of lists.
type listsInput struct {
	ListIDs []string `json:"listIds"`
}

func namesOfLists(ctx context.Context, v *store.View, in listsInput) (map[string]store.NamedList, error) {
	return v.NamesOfLists(ctx, in.ListIDs)
}

// withoutNullsAtEnd returns a row without the nulls at its end.
func withoutNullsAtEnd(row []any) []any {
	for len(row) > 0 && row[len(row)-1] == nil {
		row = row[:len(row)-1]
	}
	return row
}

// labelNames returns the names of labels. A label without a name is called by its color.
func labelNames(labels []board.LabelRef) (names []string) {
	for _, l := range labels {
		names = append(names, labelName(l))
	}
	return names
}

func labelName(l board.LabelRef) string {
	if l.Name == "" {
		return string(l.Color)
	}
	return l.Name
}

func personNames(people []board.UserRef) (names []string) {
	for _, u := range people {
		names = append(names, u.Name)
	}
	return names
}

func oneOrAll(names []string) any {
	switch len(names) {
	case 0:
		return nil
	case 1:
		return names[0]
	}
	return names
}

// dateOrInstant returns a date or, if there is a time of day, the instant to the minute.
func dateOrInstant(date, instant *string) any {
	switch {
	case instant != nil && len(*instant) == len("2026-03-02T09:00:00.000Z"):
		return (*instant)[:len("2026-03-02T09:00")] + "Z"
	case date != nil:
		return *date
	}
	return nil
}

func textOrNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

func trueOrNull(v bool) any {
	if !v {
		return nil
	}
	return v
}

func countOrNull(n int) any {
	if n == 0 {
		return nil
	}
	return n
}
