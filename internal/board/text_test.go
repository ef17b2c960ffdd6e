package board

import (
	"strings"
	"testing"
)

func TestLineRejectsMisleadingCharacters(t *testing.T) {
	t.Parallel()
	for _, r := range "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff" {
		for _, s := range []string{string(r) + "Launch", "Lau" + string(r) + "nch", "Launch" + string(r), string(r)} {
			if got, err := Line("name", s); err == nil || !strings.Contains(err.Error(), "name must not contain the character U+") ||
				!strings.Contains(err.Error(), "(") {
				t.Errorf("%+q: got %+q (%v), want an error that names the character", s, got, err)
			}
		}
		if got := CleanLine("Lau" + string(r) + "nch"); got != "Launch" {
			t.Errorf("%U: got %+q, want %q", r, got, "Launch")
		}
	}
	for _, s := range []string{"one\u2028two", "one\u2029two", "one\ntwo", "one\u0085two", "a\x07b"} {
		if got, err := Line("title", s); err == nil || !strings.Contains(err.Error(), "title must be one line") {
			t.Errorf("%+q: got %+q (%v), want an error about more than one line", s, got, err)
		}
		if got := CleanLine(s); strings.ContainsAny(got, "\u2028\u2029\n\u0085\x07") {
			t.Errorf("CleanLine(%+q) = %+q, want one line without control characters", s, got)
		}
	}
	for _, s := range []string{"", " ", "\u3164", "\u200b", "\u2800\u2800", "\u00ad \u2060", "\u115f\uffa0", "\ufe0f",
		"\U000e0061", "\u200d\u200c"} {
		if got, err := Line("title", s); err == nil || !strings.Contains(err.Error(), "title must not be empty") {
			t.Errorf("%+q: got %+q (%v), want an error about an empty title", s, got, err)
		}
		if got := CleanLine(s); got != "" {
			t.Errorf("CleanLine(%+q) = %+q, want an empty string", s, got)
		}
	}
}

func TestLineKeepsWritingOfAllScripts(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"Launch", "שלום עולם", "مرحبا بالعالم", "می\u200cخواهم", "👩\u200d🚀 " +
			"✈\ufe0f", "क्\u200dष", "ไทย\u200bภาษา", "한국어\u3164", "co\u00adoperate", "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
	} {
		if got, err := Line("name", " "+s+"\u00a0\n"); err != nil || got != s {
			t.Errorf("%+q: got %+q (%v), want it unchanged", s, got, err)
		}
		if got := CleanLine(s); got != s {
			t.Errorf("CleanLine(%+q) = %+q, want it unchanged", s, got)
		}
	}
}
