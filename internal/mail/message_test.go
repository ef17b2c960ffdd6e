package mail

import (
	"strings"
	"testing"
)

func TestGreeting(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]string{
		"cards.example.com": "cards.example.com", "localhost": "localhost", "": "localhost", "192.0.2.1": "[192.0.2.1]",
		"2001:db8::1": "[IPv6:2001:db8::1]",
	} {
		if got := greeting(host); got != want {
			t.Errorf("greeting(%q) = %q, want %q", host, got, want)
		}
	}
}

func TestWrap(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("wörter ", 300)
	for text, want := range map[string]string{
		"":                                    "",
		"one\n\ntwo\n":                        "one\r\n\r\ntwo\r\n",
		"no end":                              "no end\r\n",
		long + "\n":                           "",
		"https://" + strings.Repeat("x", 950): "https://" + strings.Repeat("x", 950) + "\r\n",
	} {
		got := wrap(text)
		if want != "" && got != want {
			t.Errorf("wrap(%q) = %q, want %q", text, got, want)
		}
		if strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(text), " ") {
			t.Errorf("wrap(%.40q) changed the words", text)
		}
		for line := range strings.SplitSeq(got, "\r\n") {
			if len(line) > 998 || strings.Contains(line, "\n") {
				t.Errorf("wrap(%.40q): got a line of %d bytes, want at most 998", text, len(line))
			}
		}
	}
}
