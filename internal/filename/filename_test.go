package filename_test

import (
	"mime"
	"strings"
	"testing"
	"time"

	"cardwall/internal/filename"
)

var day = time.Date(2026, 11, 23, 23, 30, 0, 0, time.UTC)

func TestDownloadsAreNamedAfterTheirContent(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]string{
		"Launch of the new site":      "Launch of the new site",
		"Büro – план 計画":              "Büro – план 計画",
		`../../etc/passwd`:            "-..-etc-passwd",
		`a\b:c*d?e"f<g>h|i`:           "a-b-c-d-e-f-g-h-i",
		"in\u202evoice\x00\r\n  gpj.": "invoice gpj",
		" . ":                         "Untitled",
		"\u200b":                      "Untitled",
		strings.Repeat("ü", 200):      strings.Repeat("ü", 80),
		"50 % \U0001F389; filename=x": "50 % \U0001F389; filename=x",
	} {
		if got := filename.Of(title, day, "json"); got != want+" 2026-11-23.json" {
			t.Errorf("Of(%q) = %q, want %q", title, got, want+" 2026-11-23.json")
		}
	}
}

func TestDispositionIsReadBackByAParser(t *testing.T) {
	t.Parallel()
	for _, title := range []string{"Plan", "Büro – план", "50 %; filename=x", "it's (here)", "\U0001F389"} {
		name := filename.Of(title, day, "csv")
		header := filename.Disposition("attachment", name)
		if strings.ContainsFunc(header, func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Errorf("got the header %q, want printable ASCII", header)
		}
		// If there are both parameters, parse only filename*, which browsers prefer.
		if i := strings.Index(header, "; filename*="); i >= 0 {
			header = "attachment" + header[i:]
		}
		kind, params, err := mime.ParseMediaType(header)
		if err != nil || kind != "attachment" || params["filename"] != name {
			t.Errorf("parse %q: got %q, %v, %v; want the file name %q", header, kind, params, err, name)
		}
	}
	if got, want := filename.Disposition("inline", "a é.ics"), `inline; filename="a _.ics"; filename*=utf-8''a%20%C3%A9.ics`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
