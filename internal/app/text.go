package app

import "cardwall/internal/board"

// title validates a name or title with board.Line.
func title(field, s string) (string, error) { return board.Line(field, s) }

// Title is title for other packages.
func Title(field, s string) (string, error) { return title(field, s) }
