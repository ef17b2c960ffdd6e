package board_test

import (
	"strings"
	"testing"

	"cardwall/internal/board"
)

// The name of a file has at most 255 characters. A long one keeps its extension.
func TestNamesOfFiles(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ü", 300)
	for given, want := range map[string]string{
		"plan.pdf":                           "plan.pdf",
		`C:\plans\plan.tar.gz`:               "plan.tar.gz",
		"../../.env":                         ".env",
		" \u202egnp.exe ":                    "gnp.exe",
		"..":                                 "File",
		"":                                   "File",
		long:                                 long[:2*255],
		long + ".pdf":                        long[:2*251] + ".pdf",
		"." + long:                           "." + long[:2*254],
		"a." + strings.Repeat("x", 300):      "a." + strings.Repeat("x", 253),
		long + "." + strings.Repeat("x", 15): long[:2*239] + "." + strings.Repeat("x", 15),
	} {
		if got := board.FileName(given); got != want {
			t.Errorf("%.40q…: got %q, want %q", given, got, want)
		}
	}
}
