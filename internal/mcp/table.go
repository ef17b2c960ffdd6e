package mcp

import "cardwall/internal/board"

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

// withoutNullsAtEnd returns a row without the nulls at its end.
func withoutNullsAtEnd(row []any) []any {
	for len(row) > 0 && row[len(row)-1] == nil {
		row = row[:len(row)-1]
	}
	return row
}

func labelName(l board.LabelRef) string {
	if l.Name == "" {
		return string(l.Color)
	}
	return l.Name
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

func trueOrNull(v bool) any {
	if !v {
		return nil
	}
	return v
}
