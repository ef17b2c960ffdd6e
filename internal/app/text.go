package app

import "cardwall/internal/board"

// title validates and trims a name or title with board.Line.
func title(field, s string) (string, error) { return board.Line(field, s) }

// Title validates and trims a name or title for other packages.
func Title(field, s string) (string, error) { return title(field, s) }
