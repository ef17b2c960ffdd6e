package app

import "cardwall/internal/board"

// title checks a name or title, as board.Line.
func title(field, s string) (string, error) { return board.Line(field, s) }

// Title is title for names that other packages take.
func Title(field, s string) (string, error) { return title(field, s) }
