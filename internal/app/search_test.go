package app_test

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"cardwall/internal/app"
	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/op"
)

// search calls search_cards. It returns the titles of the cards, the next cursor and the query as
// echoed in the response.
func search(t *testing.T, p *apptest.Person, q string, more ...string) (titles []string, next, text string, err error) {
	t.Helper()
	r := op.NewRegistry()
	r.In("Search", "Finding cards.")
	op.Query(r, "search_cards", "GET /search", "Search.", app.SearchCards, op.Search, op.Echoes[app.SearchedQuery]())
	in := url.Values{"q": {q}}
	for i := 0; i < len(more); i += 2 {
		in.Set(more[i], more[i+1])
	}
	response, err := op.NewEngine(p.DB, op.Options{}).Do(context.Background(),
		op.Call{Operation: r.Named("search_cards"), Caller: board.Person(p.ID, board.ScopeRead),
			Arguments: op.Arguments{Query: in}})
	if err != nil {
		return nil, "", "", err
	}
	var env struct {
		Data       []struct{ Title string }
		NextCursor string
		Query      struct{ Text string }
	}
	if err := json.Unmarshal(response.Body, &env, json.MatchCaseInsensitiveNames(true)); err != nil {
		t.Fatal(err)
	}
	titles = []string{}
	for _, c := range env.Data {
		titles = append(titles, c.Title)
	}
	return titles, env.NextCursor, env.Query.Text, nil
}

// corpus creates a board with cards to search for. Each title begins with a different letter.
func corpus(t *testing.T, s *apptest.Service) (ada, bob *apptest.Person, boardID string) {
	ada, bob = s.Person("Ada"), s.Person("Bob")
	workspace := ada.Workspace("Engines", board.PlanTeam)
	bob.Joins(workspace, board.WorkspaceMember)
	b := ada.Must("create_board", apptest.Fields{"workspaceId": workspace, "name": "Prüfstand"})
	list := ada.Must("create_list", apptest.Fields{"boardId": b.ID(), "name": "To do"}).ID()
	other := ada.Must("create_list", apptest.Fields{"boardId": b.ID(), "name": "Done, later"}).ID()
	bug := ada.Must("create_label", apptest.Fields{"boardId": b.ID(), "name": "Bug", "color": "red"}).ID()
	idea := ada.Must("create_label", apptest.Fields{"boardId": b.ID(), "name": "New idea", "color": "red"}).ID()
	card := func(title, description string, more apptest.Fields) string {
		in := apptest.Fields{"listId": list, "title": title, "description": description}
		for k, v := range more {
			in[k] = v
		}
		return ada.Must("create_card", in).ID()
	}
	card("A Café in the STRASSE", "", apptest.Fields{"labels": []string{bug}})
	card("B cafe, Straße!", "İzmir ışık", apptest.Fields{"labels": []string{idea, bug}, "assignees": []string{ada.ID}})
	card("C 日本語の本", "東京. 주간회의는 월요일에, PR을 백업을", nil)
	d := card("D 🎉 rocket", "one-two three_four", apptest.Fields{"assignees": []string{ada.ID, bob.ID}})
	ada.Must("add_comment", apptest.Fields{"cardId": d, "text": "The printer wants: it (by Friday)."})
	bob.Must("add_comment", apptest.Fields{"cardId": d, "text": "O'Brien said \"AND\" & NOT near | foo:bar <-> baz\\qux"})
	e := card("E NOT OR AND NEAR", "x* ^y : & | ! <-> '' \"\" \\ -- ; % _ DROP TABLE texts",
		apptest.Fields{"listId": other})
	ada.Must("add_checklist",
		apptest.Fields{"cardId": e, "title": "Before launch", "items": []string{"Check names", "call Zoë"}})
	item := ada.Must("add_checklist",
		apptest.Fields{"cardId": d, "title": "All", "items": []string{"done thing"}}).Text("items.0.id")
	ada.Must("update_checklist_item", apptest.Fields{"itemId": item, "done": true})
	f := bob.Must("create_card", apptest.Fields{"listId": list, "title": "F finished rocketry",
		"due": apptest.Fields{"dueDate": "2026-04-24"}}).ID()
	ada.Must("update_card", apptest.Fields{"cardId": f, "done": true})
	// In Cairo, 24 April 2026 begins at 01:00 (22:00 UTC on the 23rd), because the clocks change.
	card("G before the change", "",
		apptest.Fields{"due": apptest.Fields{"dueDate": "2026-04-23", "dueTime": "23:59", "timeZone": "Africa/Cairo"}})
	card("H after the change", "", apptest.Fields{"due": apptest.Fields{"dueDate": "2026-04-24", "dueTime": "01:00",
		"timeZone": "Africa/Cairo", "startDate": "2026-04-20"}})
	i := card("I put away rocket", "", nil)
	ada.Must("archive_card", apptest.Fields{"cardId": i})
	card("J "+strings.Repeat("long ", 20)+strings.Repeat("w", 70), strings.Repeat("filler\u00a0", 2000)+"tail", nil)
	return ada, bob, b.ID()
}

func TestSearchOperators(t *testing.T) {
	t.Parallel()
	const all = "ABCDEFGHJ"
	without := func(letters string) string {
		return strings.Map(func(r rune) rune {
			if strings.ContainsRune(letters, r) {
				return -1
			}
			return r
		}, all)
	}
	table := []struct{ q, want, zone string }{
		{q: "cafe", want: "AB"}, {q: "CAFÉ", want: "AB"}, {q: "strasse", want: "AB"}, {q: "straße", want: "AB"},
		{q: "STRAẞE", want: "AB"},
		{q: "izmir", want: "B"}, {q: "ISIK", want: "B"}, {q: "ışık", want: "B"},
		{q: "日本", want: "C"}, {q: "本", want: "C"}, {q: "本日", want: ""}, {q: "東京", want: "C"}, {q: "京*", want: "C"},
		{q: "회의", want: "C"}, {q: "월요일", want: "C"}, {q: "백업", want: "C"}, {q: "주간 회의*", want: "C"}, {q: "PR", want: "C"},
		{q: "업백", want: ""}, {q: "description:회의", want: "C"}, {q: "-백업", want: without("C")},
		{q: "🎉", want: ""}, {q: "🎉 rocket", want: "D"}, {q: "-🎉 rocket", want: "D"},
		{q: "rocket", want: "D"}, {q: "rocket*", want: "DF"}, {q: "rock*", want: "DF"}, {q: "r*", want: "DF"},
		{q: "rock", want: ""}, {q: "ocket", want: ""},
		{q: `"two three"`, want: "D"}, {q: `"one two"`, want: "D"}, {q: `"one three"`, want: ""},
		{q: "four three", want: "D"}, {q: `"it by friday"`, want: "D"},
		{q: `"rocket one"`, want: ""}, {q: "rocket printer thing", want: "D"},
		{q: "-rocket", want: without("D")}, {q: "-cafe -rocket*", want: without("ABDF")},
		{q: "title:cafe,rocket", want: "ABD"}, {q: "-title:cafe,rocket", want: without("ABD")},
		{q: "title:rocket", want: "D"}, {q: "description:rocket", want: ""}, {q: "comment:printer", want: "D"},
		{q: "title:printer", want: ""},
		{q: "checklist:names", want: "E"}, {q: "checklist:launch", want: "E"}, {q: `checklist:"before launch"`, want: "E"},
		{q: "checklist:zoe", want: "E"}, {q: "comment:names", want: ""},
		{q: "is:open", want: without("F")}, {q: "is:done", want: "F"}, {q: "is:archived", want: "I"},
		{q: "is:archived rocket", want: "I"}, {q: "is:open,done,archived rocket", want: "DI"},
		{q: "is:overdue", want: "-"}, {q: "is:assigned", want: "BD"}, {q: "is:unassigned", want: without("BD")},
		{q: "is:checked", want: "D"}, {q: "is:unchecked", want: "E"},
		{q: "has:description", want: "BCDEJ"}, {q: "has:checklist", want: "DE"}, {q: "has:comment", want: "D"},
		{q: "has:due", want: "FGH"}, {q: "has:start", want: "H"}, {q: "has:label", want: "AB"},
		{q: "no:description", want: without("BCDEJ")}, {q: "no:due,label", want: all}, {q: "-has:due,label", want: "CDEJ"},
		{q: "board:prüfstand", want: all}, {q: "board:PRÜFSTAND rocket", want: "D"}, {q: "board:prufstand", want: ""},
		{q: "board:other", want: ""},
		{q: `list:"to do"`, want: without("E")}, {q: `list:"done, LATER"`, want: "E"}, {q: "-list:\"to  do\"", want: "E"},
		{q: "label:bug", want: "AB"}, {q: "#BUG", want: "AB"}, {q: `label:"new idea"`, want: "B"},
		{q: "label:none", want: without("AB")}, {q: "label:any", want: "AB"}, {q: `label:"none"`, want: ""},
		{q: "-label:\"new idea\" label:bug", want: "A"},
		{q: "@ada", want: "BD"}, {q: "member:BOB", want: "D"}, {q: "member:me -member:bob", want: "B"},
		{q: "member:bob@example.com", want: "D"}, {q: "member:none", want: without("BD")},
		{q: "creator:bob", want: "F"}, {q: "creator:me", want: without("F")}, {q: "creator:bob@example.com", want: "F"},
		{q: "commenter:bob", want: "D"}, {q: "-commenter:ada", want: without("D")},
		{q: "due:2026-04-24", want: "F", zone: "UTC"}, {q: "due:2026-04-23", want: "GH", zone: "UTC"},
		{q: "due:2026-04-24", want: "FH", zone: "Africa/Cairo"}, {q: "due:2026-04-23", want: "G", zone: "Africa/Cairo"},
		{q: "due:2026-04-23..2026-04-24", want: "FGH", zone: "Africa/Cairo"},
		{q: "due:>2026-04-23", want: "FH", zone: "Africa/Cairo"}, {q: "due:*..2026-04-23", want: "GH", zone: "UTC"},
		{q: "due:none", want: without("FGH")}, {q: "start:2026-04-20", want: "H"},
		{q: "created:1", want: all}, {q: "updated:1", want: all}, {q: "created:<2020-01-01", want: ""},
		{q: "completed:1", want: "F"}, {q: "-completed:1", want: without("F")},
		{q: "status:on_track", want: ""}, {q: "-status:on_track", want: all},
		{q: "foo:bar", want: "D"}, {q: "AND", want: "DE"}, {q: "NOT OR", want: "E"}, {q: "near", want: "DE"},
		{q: "cafe OR rocket", want: ""}, {q: "NEAR(not or)", want: ""}, {q: "AND(near)", want: "E"},
		{q: `"o'brien"`, want: "D"}, {q: "o'brien", want: "D"}, {q: `baz\qux`, want: "D"}, {q: "x*", want: "E"},
		{q: "^y", want: "E"}, {q: "drop table texts", want: "E"}, {q: "'; DROP TABLE texts; --", want: "E"},
		{q: "%", want: ""}, {q: "_", want: ""}, {q: "caf%", want: ""}, {q: "caf_", want: ""}, {q: "<-> & | !", want: ""},
		{q: `"a" & "b"`, want: ""}, {q: "three_four", want: "D"}, {q: ":*", want: ""}, {q: "rocket:*", want: "DF"},
		{q: "cafe:A", want: ""},
		{q: "*", want: ""}, {q: "**rocket**", want: "DF"}, {q: "(rocket)", want: "D"}, {q: "words:rocket", want: ""},
		{q: "{rocket}", want: "D"}, {q: "+rocket", want: "D"}, {q: "place:title", want: ""},
		{q: strings.Repeat("w", 70), want: "J"}, {q: strings.Repeat("w", 64), want: "J"},
		{q: strings.Repeat("w", 63), want: ""}, {q: strings.Repeat("w", 40) + "*", want: "J"}, {q: "filler tail", want: "J"},
		{q: `"filler tail"`, want: "J"}, {q: `"tail filler"`, want: ""},
		{q: `"` + strings.Repeat("long ", 19) + "long\"", want: "J"},
		{q: `"` + strings.Repeat("long ", 20) + "long\"", want: ""},
		{q: "- " + strings.Repeat("'\"*", 5400), want: ""},
	}
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada, bob, boardID := corpus(t, s)
		for _, c := range table {
			zone := c.zone
			if zone == "" {
				zone = "UTC"
			}
			label := c.q
			if len(label) > 60 {
				label = label[:60]
			}
			if c.want == "-" {
				continue // depends on today
			}
			got, _, _, err := search(t, ada, c.q, "timeZone", zone)
			if err != nil {
				t.Errorf("search_cards %s: got error %v, want none", label, err)
				continue
			}
			if letters := firstLetters(got); letters != c.want {
				t.Errorf("search_cards %s in %s: got %q, want %q", label, zone, letters, c.want)
			}
			found := ada.Must("list_cards", apptest.Fields{"boardId": boardID, "q": c.q, "timeZone": zone}).Each("title")
			if letters := firstLetters(found); letters != c.want {
				t.Errorf("list_cards %s in %s: got %q, want %q", label, zone, letters, c.want)
			}
		}
		// Only owners and admins may search by the email addresses of other people.
		for q, want := range map[string]string{"member:bob@example.com": "D", "member:bob": "D",
			"-member:bob@example.com rocket": ""} {
			if got, _, _, err := search(t, bob, q); err != nil || firstLetters(got) != want {
				t.Errorf("search for %s by a member: got %v, error %v; want %q", q, got, err, want)
			}
		}
		if _, _, _, err := search(t, bob, "creator:ada@example.com"); !board.IsCode(err, board.CodeInvalidRequest) {
			t.Errorf("search by another person's address: got error %v, want code %s", err, board.CodeInvalidRequest)
		}
		for _, q := range []string{"member:carol", "due:never", "is:gone", strings.Repeat("a ", 8200), "sort:due,start",
			"status:fine"} {
			if _, _, _, err := search(t, ada, q); !board.IsCode(err, board.CodeInvalidRequest) {
				t.Errorf("%.20s: got error %v, want code %s", q, err, board.CodeInvalidRequest)
			}
		}
	})
}

// firstLetters returns the first letters of the titles, sorted.
func firstLetters(titles []string) string {
	var letters []string
	for _, title := range titles {
		letters = append(letters, title[:1])
	}
	slices.Sort(letters)
	return strings.Join(letters, "")
}

func TestSearchRespectsVisibility(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada, bob, eve := s.Person("Ada"), s.Person("Bob"), s.Person("Eve")
		mine, other := ada.Workspace("Mine", board.PlanTeam), bob.Workspace("Other", board.PlanTeam)
		bob.Joins(mine, board.WorkspaceMember)
		eve.Joins(mine, board.WorkspaceGuest)
		make := func(p *apptest.Person, workspace, name, visibility string) (id, list string) {
			b := p.Must("create_board", apptest.Fields{"workspaceId": workspace, "name": name, "visibility": visibility})
			list = p.Must("create_list", apptest.Fields{"boardId": b.ID(), "name": "To do"}).ID()
			p.Must("create_card", apptest.Fields{"listId": list, "title": name + " word"})
			return b.ID(), list
		}
		open, _ := make(ada, mine, "open", "workspace")
		secret, _ := make(ada, mine, "secret", "confidential")
		make(bob, mine, "private", "private")
		make(bob, other, "other", "workspace")
		archived, _ := make(ada, mine, "archived", "workspace")
		trash, _ := make(ada, mine, "trash", "workspace")
		ada.Must("archive_board", apptest.Fields{"boardId": archived})
		ada.Must("trash_board", apptest.Fields{"boardId": trash})
		closed := ada.Must("create_list", apptest.Fields{"boardId": open, "name": "Closed"}).ID()
		ada.Must("create_card", apptest.Fields{"listId": closed, "title": "closed word"})
		ada.Must("archive_list", apptest.Fields{"listId": closed})
		check := func(p *apptest.Person, q, want string, more ...string) {
			t.Helper()
			for _, q := range []string{q, strings.ReplaceAll(q, "word", "w*"), strings.ReplaceAll(q, "word", "-nowhere")} {
				got, _, _, err := search(t, p, q, more...)
				slices.Sort(got)
				if text := strings.ReplaceAll(strings.Join(got, ","), " word", ""); err != nil || text != want {
					t.Errorf("search for %[2]s by %[1]s: got %[3]s, error %[4]v; want %[5]s", p.Name, q, text, err, want)
				}
			}
		}
		check(ada, "word", "open,secret")
		check(bob, "word", "open,other,private")
		check(bob, "word", "open,private", "workspaceId", mine)
		check(eve, "word", "")
		check(ada, "is:open,done,archived word", "archived,closed,open,secret")
		check(ada, "board:secret word", "secret")
		check(bob, "board:secret word", "")
		ada.Must("share_board", apptest.Fields{"boardId": secret, "userId": eve.ID, "role": "viewer"})
		check(eve, "word", "secret")
		if _, _, _, err := search(t, eve, "word", "workspaceId", other); err == nil {
			t.Error("search in another person's workspace: got no error, want one")
		}
	})
}

func TestSearchPages(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		b := ada.Must("create_board", apptest.Fields{"workspaceId": ada.Workspace("Mine", board.PlanTeam), "name": "Wall"})
		list := ada.Must("create_list", apptest.Fields{"boardId": b.ID(), "name": "To do"}).ID()
		var want []string
		for i := range 25 {
			title := fmt.Sprintf("word %02d", i)
			ada.Must("create_card", apptest.Fields{"listId": list, "title": title})
			want = append(want, title)
		}
		slices.Reverse(want)
		for _, q := range []string{"word", "-nowhere", "sort:-title word", "sort:-updated", "sort:-created w*"} {
			var got []string
			more := []string{"limit", "7"}
			for {
				titles, next, text, err := search(t, ada, q, more...)
				if err != nil {
					t.Fatal(err)
				}
				if text != q {
					t.Errorf("got query %q in the response, want %q", text, q)
				}
				got = append(got, titles...)
				if next == "" {
					break
				}
				more = []string{"limit", "7", "cursor", next}
			}
			if !slices.Equal(got, want) {
				t.Errorf("pages of %s: got %v, want %v", q, got, want)
			}
		}
	})
}

// In order of relevance, the cards whose titles alone match come first. Equally relevant cards are in
// the order in which they last changed. Pages continue each other across both groups.
func TestSearchByRelevance(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		b := ada.Must("create_board", apptest.Fields{"workspaceId": ada.Workspace("Mine", board.PlanTeam), "name": "Wall"})
		list := ada.Must("create_list", apptest.Fields{"boardId": b.ID(), "name": "To do"}).ID()
		for _, c := range []struct{ title, description string }{
			{"A printer is broken", ""}, {"B hall", "The printer is broken."}, {"C broken printer", "Third floor."},
			{"D printer", "It is broken."}, {"E other", ""}, {"F paper", "printer, not broken"}, {"G broken printers", "printer"},
			{"H Printer broken", "printer"}, {"I window", "broken"},
		} {
			ada.Must("create_card", apptest.Fields{"listId": list, "title": c.title, "description": c.description})
		}
		for q, want := range map[string]string{
			"sort:relevance printer broken":      "HCAGFDB",
			"sort:-relevance broken printer*":    "HGCAFDB",
			"sort:relevance printer -title:hall": "HDCAGF",
			"sort:relevance -printer":            "IE",
			"sort:relevance title:printer":       "HDCA",
			"sort:relevance":                     "IHGFEDCBA",
		} {
			for _, limit := range []string{"1", "3", "4", "50"} {
				got, more := "", []string{"limit", limit}
				for {
					titles, next, _, err := search(t, ada, q, more...)
					if err != nil {
						t.Fatal(err)
					}
					for _, title := range titles {
						got += title[:1]
					}
					if next == "" {
						break
					}
					more = []string{"limit", limit, "cursor", next}
				}
				if got != want {
					t.Errorf("%s in pages of %s: got %s, want %s", q, limit, got, want)
				}
			}
		}
	})
}

// The search accepts every form that the description of search_cards names.
func TestSearchAcceptsItsDescribedGrammar(t *testing.T) {
	t.Parallel()
	w := newWorld(apptest.New(t, t.TempDir()+"/cardwall.db", apptest.Options{}))
	w.make("create_label", fields{"boardId": w.board, "name": "On hold", "color": "gray"})
	description := w.Registry.Named("search_cards").Description
	_, example, _ := strings.Cut(description, "For example: ")
	forms := []string{strings.TrimSuffix(example, "."), "plan*", `"a phrase"`, "-word"}
	for _, key := range []string{"is", "has", "no", "sort"} {
		_, values, _ := strings.Cut(description, key+": ")
		values, _, _ = strings.Cut(values, ". ")
		values, _, _ = strings.Cut(values, ", with")
		for _, value := range strings.Split(strings.ReplaceAll(values, " or ", ", "), ", ") {
			if strings.Contains(value, ":") {
				continue // another key with the same values
			}
			forms = append(forms, key+":"+value)
		}
	}
	for _, key := range []string{"due", "start", "created", "updated", "completed"} {
		values := []string{"2026-03-01", ">2026-03-01", "2026-03-01..2026-04-01", "today", "7"}
		if key == "due" || key == "start" {
			values = append(values, "week", "month", "overdue", "none")
		}
		for _, value := range values {
			forms = append(forms, key+":"+value)
		}
	}
	for _, key := range []string{"title", "description", "comment", "checklist", "attachment"} {
		forms = append(forms, key+":word", key+`:"a phrase"`)
	}
	for _, key := range []string{"member", "creator", "commenter"} {
		forms = append(forms, key+":me", key+":ada@example.com", key+":"+w.owner.ID)
	}
	forms = append(forms, "board:Launch", `label:"On hold"`, "list:"+w.list, "sort:-updated")
	for _, form := range forms {
		key, value, _ := strings.Cut(form, ":")
		if !strings.Contains(description, key+":") && value != "" {
			t.Errorf("%s: the description does not name the key %s", form, key)
		}
		a := w.owner.Must("search_cards", fields{"q": form})
		if value != "" && bytes.Contains(a.Raw, []byte(`"key":"text"`)) || bytes.Contains(a.Raw, []byte(`"ignored":true`)) {
			t.Errorf("%s: got %s, want a term with a key", form, a.Raw)
		}
	}
	if len(forms) < 80 {
		t.Errorf("got %d forms, want at least 80: %q", len(forms), forms)
	}
}
