package digest

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/tiktoken-go/tokenizer"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

func tokensOf(t *testing.T, v any) int {
	t.Helper()
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	n, err := codec.Count(string(text) + ",")
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// The estimates of records are not below their true sizes.
func TestEstimates(t *testing.T) {
	const id = "brd_06h206w0tg77sb5q9xk3mz8vjn"
	require := func(what string, v any, estimate int) {
		t.Helper()
		n := tokensOf(t, v)
		t.Logf("%s: %d tokens, estimate %d", what, n, estimate/token)
		if n*token > estimate {
			t.Errorf("%s: got %d tokens of %+v, want at most the estimate %d", what, n, v, estimate/token)
		}
	}
	sum := BoardChanges{id, "Launch", 123_456}
	require("board", DigestBoard{sum, Extent{20_000, true}, []DigestGroup{}}, boardCost+cost("Launch"))
	require("other board", sum, sumCost+cost("Launch"))
	for _, name := range groupNames {
		require("group "+string(name), DigestGroup{name, 12_345, 12_300, []DigestItem{}}, groupCost)
	}
	for _, kind := range []board.ActorType{board.ActorPerson, board.ActorAutomation, board.ActorGuest, board.ActorSystem} {
		user, client := id, "Claude"
		p := DigestActor{"Ada via Claude", board.EntryActor{Actor: board.Actor{Type: kind, ID: &user}, Client: &client}, 12_345}
		require("person "+string(kind), p, personCost+cost(p.Name)+cost(client))
	}
	d := WorkspaceDigest{WorkspaceID: id, MoreBoards: 1234,
		Digest: Digest{Since: 1795835123456, Until: 1795835123456, Changes: 1_234_567, MorePeople: 1234, Shortened: new(leftOut)}}
	require("digest", struct {
		Data    WorkspaceDigest `json:"data"`
		Version int             `json:"boardVersion"`
	}{d, 12345}, digestCost)
	list, due := "lst_06h206w0tg77sb5q9xk3mz8vjn", "2026-12-01"
	for _, name := range groupNames {
		it := &item{id: id, changes: 1, card: store.NamedCard{Number: 1_234_567, Title: "Write the press release", List: "Doing"},
			title: "Done", text: strings.Repeat("a\n", 100), from: &list, to: &list, people: []*person{{}, {}, {}}}
		if name == dueDates {
			it.from, it.to = &due, &due
		}
		for _, k := range board.ActivityKinds() {
			it.kinds = append(it.kinds, k)
			it.changes *= 2
			f := &filler{limits: tight, names: map[actorKey]string{{}: "Ada via Claude"}}
			out, size := f.item(turn{section: &section{lists: map[string]string{list: "Doing"}}, name: name, items: []*item{it}})
			if !out.Partial {
				t.Errorf("got %+v, want a partial text", out)
			}
			if n := tokensOf(t, out); n*token > size {
				t.Errorf("%s: got %d tokens of %+v, want at most the estimate %d", name, n, out, size/token)
			}
			if len(it.kinds) == 1 || k == board.KindRuleSwitchedOff {
				require("item "+string(name), out, size)
			}
			it.changes = min(it.changes, 500_000)
		}
	}
}

// A text is cut between characters that people see, and the cut is marked.
func TestCut(t *testing.T) {
	for _, c := range []struct {
		text  string
		limit int // tokens
		want  string
	}{
		{"Doing", 10, "Doing"}, {" Two \n\n words ", 10, "Two words"}, {"", 0, ""}, {"Write the press release", 10, "Write the pre…"},
		{"x\u0301\u0302\u0303y\u0301z", 11, "x\u0301\u0302\u0303…"}, {"安全检查", 9, "安全…"}, {"👩\u200d👧👩\u200d👧", 17, "👩\u200d👧…"},
		{"🇨🇭🇩🇪🇫🇷", 12, "🇨🇭…"}, {"👍🏽👍🏽👍🏽", 12, "👍🏽…"}, {"👨\u200d👩\u200d👧", 8, "…"}, {"aaaaaaaa\xff", 3, "aa…"},
	} {
		got, partial := cut(c.text, c.limit*token)
		if got != c.want || partial != strings.HasSuffix(got, "…") || !utf8.ValidString(got) {
			t.Errorf("%q with %d tokens: got %q and %v, want %q", c.text, c.limit, got, partial, c.want)
		}
		if got != "…" && cost(got) > c.limit*token {
			t.Errorf("%q: got the cost %d, want at most %d", got, cost(got), c.limit*token)
		}
	}
}
