package query_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"cardwall/internal/board"
	"cardwall/internal/query"
)

// What dates in words mean. The web application tests its parser with the same file.
func TestDatesInWords(t *testing.T) {
	text, err := os.ReadFile("testdata/words.json")
	if err != nil {
		t.Fatal(err)
	}
	var table struct {
		Times []struct {
			Now                              time.Time
			Zone                             string
			Both, Server, Past, Since, Until map[string]string
			Unclear, UnclearInThePast        []string
		}
	}
	if err := json.Unmarshal(text, &table); err != nil {
		t.Fatal(err)
	}
	for _, c := range table.Times {
		env := query.Env{Now: c.Now, Zone: zone(t, c.Zone)}
		day := func(past bool) func(string) string {
			return func(text string) string {
				day, ok := env.DayInWords(text, past)
				return either(ok, day.Format(board.DateLayout))
			}
		}
		instant := func(end bool) func(string) string {
			return func(text string) string {
				at, ok := env.InstantInWords(text, end)
				return either(ok, at.String())
			}
		}
		check := func(what string, parse func(string) string, want map[string]string) {
			for text, want := range want {
				if got := parse(text); got != want {
					t.Errorf("%s %q in %s at %s: got %s, want %s", what, text, c.Zone, c.Now, got, want)
				}
			}
		}
		check("day", day(false), c.Both)
		check("day", day(false), c.Server)
		check("past day", day(true), c.Past)
		check("since", instant(false), c.Since)
		check("until", instant(true), c.Until)
		check("day", day(false), unclear(c.Unclear))
		for _, texts := range [][]string{c.Unclear, c.UnclearInThePast} {
			check("past day", day(true), unclear(texts))
			check("since", instant(false), unclear(texts))
		}
	}
}

func either(ok bool, text string) string {
	if !ok {
		return "unclear"
	}
	return text
}

func unclear(texts []string) map[string]string {
	all := map[string]string{}
	for _, text := range texts {
		all[text] = "unclear"
	}
	return all
}

// Text of any kind is parsed without a panic, and every day is a valid date. A day starts where
// the search grammar lets it start.
func TestDatesInWordsOfAnyKind(t *testing.T) {
	words := strings.Fields("in 3 a ago days weeks month next week friday on , 29 feb 2028 of end start the now today 31st")
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(words), rapid.String()), 0, 5).Draw(t, "words"), " ")
		env := query.Env{Now: time.UnixMilli(rapid.Int64Range(0, 4e12).Draw(t, "now")), Zone: time.FixedZone("", -3600)}
		past := rapid.Bool().Draw(t, "past")
		day, ok := env.DayInWords(text, past)
		if !ok {
			return
		}
		date := day.Format(board.DateLayout)
		if _, err := board.ParseDate("", date); err != nil {
			t.Errorf("%q: got %s, want a valid date", text, date)
		}
		if at, _ := env.InstantInWords(text, false); past && at != query.DayEdge(day, env.Zone).At {
			t.Errorf("%q: got %s, want the start of %s", text, at, date)
		}
	})
}
