package ical_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	ics "github.com/arran4/golang-ical"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/ical"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type fields = apptest.Fields

// read parses a calendar by the rules of RFC 5545, and returns violations. Lines
// must end in CRLF, have at most 75 octets and be valid UTF-8.
func read(text string) (events []map[string]string, wrong []string) {
	if !strings.HasSuffix(text, "END:VCALENDAR\r\n") || !strings.HasPrefix(text, "BEGIN:VCALENDAR\r\n") {
		wrong = append(wrong, "it is no calendar")
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\r\n"), "\r\n") {
		if len(line) > 75 || strings.ContainsAny(line, "\r\n") || !utf8.ValidString(line) || line == "" {
			wrong = append(wrong, fmt.Sprintf("the line %q", line))
		}
	}
	var at map[string]string
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\r\n ", ""), "\r\n") {
		name, value, _ := strings.Cut(line, ":")
		if parameters := strings.Split(name, ";")[1:]; len(slices.Compact(slices.Sorted(slices.Values(parameters)))) < len(parameters) {
			wrong = append(wrong, "a parameter twice in "+name)
		}
		switch {
		case line == "BEGIN:VEVENT":
			at = map[string]string{}
		case line == "END:VEVENT":
			events = append(events, at)
			at = nil
		case at != nil:
			if _, twice := at[name]; twice {
				wrong = append(wrong, "twice "+name)
			}
			at[name] = value
		}
	}
	for _, e := range events {
		for _, name := range []string{"UID", "DTSTAMP", "SUMMARY", "SEQUENCE", "LAST-MODIFIED"} {
			if e[name] == "" {
				wrong = append(wrong, "an event without "+name)
			}
		}
		if !regexp.MustCompile(`^\d{8}T\d{6}Z$`).MatchString(e["DTSTAMP"]) {
			wrong = append(wrong, "the stamp "+e["DTSTAMP"])
		}
	}
	return events, wrong
}

// text removes the escaping of RFC 5545, 3.3.11.
func text(s string) string {
	return strings.NewReplacer(`\\`, `\`, `\;`, ";", `\,`, ",", `\n`, "\n", `\N`, "\n").Replace(s)
}

func get(s *apptest.Service, address string, headers ...string) *http.Response {
	s.T.Helper()
	u, err := url.Parse(address)
	if err != nil {
		s.T.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodGet, u.Path, http.NoBody)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.Handler.ServeHTTP(w, r)
	return w.Result()
}

func body(s *apptest.Service, r *http.Response) string {
	s.T.Helper()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		s.T.Fatal(err)
	}
	return string(b)
}

func summaries(s *apptest.Service, address string) (out []string) {
	s.T.Helper()
	r := get(s, address)
	if r.StatusCode != http.StatusOK {
		s.T.Fatalf("the calendar: %s", r.Status)
	}
	events, wrong := read(body(s, r))
	if len(wrong) > 0 {
		s.T.Errorf("the calendar breaks rules: %v", wrong)
	}
	for _, e := range events {
		out = append(out, text(e["SUMMARY"]))
	}
	slices.Sort(out)
	return out
}

func TestCalendarFeed(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		s.Clock.Stop() // the date must not change during the test
		ada, bob := s.Person("Ada"), s.Person("Bob")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		bob.Joins(workspace, board.WorkspaceMember)
		b := ada.Must("create_board", fields{"workspaceId": workspace, "name": "Launch"}).ID()
		list := ada.Must("create_list", fields{"boardId": b, "name": "To do"}).ID()
		day := func(after int) string { return s.Clock.Now().UTC().AddDate(0, 0, after).Format(board.DateLayout) }
		card := func(title, on string, in fields, more ...string) string {
			for i := 0; i < len(more); i += 2 {
				in[more[i]] = more[i+1]
			}
			return ada.Must("create_card", fields{"listId": on, "title": title, "due": in, "assignees": []string{bob.ID},
				"description": "Line one\nline; two, with a \\ and more"}).ID()
		}
		mine := card("Whole day; with, care", list, fields{"dueDate": day(3)})
		card("At five", list, fields{"dueDate": day(3), "dueTime": "17:00", "timeZone": "America/New_York"})
		ada.Must("create_card", fields{"listId": list, "title": "Ada's", "due": fields{"dueDate": day(4)}})
		ada.Must("create_card", fields{"listId": list, "title": "Undated", "assignees": []string{bob.ID}})
		ada.Must("update_card", fields{"cardId": card("Done", list, fields{"dueDate": day(3)}), "done": true})
		ada.Must("archive_card", fields{"cardId": card("Archived", list, fields{"dueDate": day(3)})})
		for _, hidden := range []fields{{"visibility": "confidential"}, {"features": fields{"calendar": false}}, {"visibility": "private"}} {
			other := ada.Must("create_board", fields{"workspaceId": workspace, "name": "Hidden"}).ID()
			card("Hidden", ada.Must("create_list", fields{"boardId": other, "name": "To do"}).ID(), fields{"dueDate": day(3)})
			if hidden["visibility"] != "private" {
				ada.Must("share_board", fields{"boardId": other, "userId": bob.ID, "role": "editor"})
			}
			in := fields{"boardId": other}
			for k, v := range hidden {
				in[k] = v
			}
			ada.Must("update_board", in)
			if a := bob.Call("create_calendar_feed", fields{"boardIds": []string{other}}); a.Status/100 == 2 {
				t.Errorf("a feed of the invisible board %v was created", hidden)
			}
		}

		made := bob.Must("create_calendar_feed", nil)
		address := made.Text("address")
		if strings.Contains(fmt.Sprint(bob.Must("get_calendar_feed", nil).Data), "/ical/") ||
			len(s.Column("SELECT user_id FROM calendar_feeds WHERE boards LIKE '%ical%'")) > 0 {
			t.Error("the database contains the address of the feed")
		}
		want := []string{"At five", "Whole day; with, care"}
		if got := summaries(s, address); !slices.Equal(got, want) {
			t.Errorf("assigned to Bob: %q, want %q", got, want)
		}

		first := get(s, address)
		whole := body(s, first)
		parsed, err := ics.ParseCalendar(strings.NewReader(whole))
		if err != nil || len(parsed.Events()) != 2 {
			t.Fatalf("parsed back: %v", err)
		}
		for _, e := range parsed.Events() {
			start, err := e.GetStartAt()
			switch title := e.GetProperty(ics.ComponentPropertySummary).Value; {
			case err != nil:
				t.Errorf("%s: %v", title, err)
			case title == "At five" && (start.Location() != time.UTC || e.GetProperty(ics.ComponentPropertyDtEnd) != nil):
				t.Errorf("a timed event: %v", start)
			case title != "At five":
				if e.Id() != mine+"@cardwall.example.com" || start.Format(board.DateLayout) != day(3) ||
					!strings.Contains(whole, "DTSTART;VALUE=DATE:") {
					t.Errorf("a whole day: %s at %v", e.Id(), start)
				}
				if d := e.GetProperty(ics.ComponentPropertyDescription).Value; !strings.Contains(d, "Line one\nline; two, with a \\ and more") {
					t.Errorf("the description is %q", d)
				}
			}
		}
		if first.Header.Get("Content-Type") != "text/calendar; charset=utf-8" ||
			!strings.HasPrefix(first.Header.Get("Cache-Control"), "private") {
			t.Errorf("the header: %v", first.Header)
		}
		if got, want := first.Header.Get("Content-Disposition"), `inline; filename="Cardwall due dates `+day(0)+`.ics"`; got != want {
			t.Errorf("Content-Disposition is %s, want %s", got, want)
		}
		tag := first.Header.Get("ETag")
		if again := get(s, address, "If-None-Match", `"other", W/`+tag); again.StatusCode != http.StatusNotModified ||
			body(s, again) != "" || again.Header.Get("ETag") != tag {
			t.Errorf("second request: %s", again.Status)
		}
		events, _ := read(whole)
		s.Clock.Advance(time.Minute)
		ada.Must("set_card_due", fields{"cardId": mine, "dueDate": day(5)})
		changed := get(s, address, "If-None-Match", tag)
		after, _ := read(body(s, changed))
		byID := func(es []map[string]string) map[string]string {
			for _, e := range es {
				if strings.HasPrefix(e["UID"], mine) {
					return e
				}
			}
			return nil
		}
		if old, now := byID(events), byID(after); changed.StatusCode != http.StatusOK || old["UID"] != now["UID"] ||
			old["SEQUENCE"] >= now["SEQUENCE"] && len(old["SEQUENCE"]) >= len(now["SEQUENCE"]) || old["DTSTAMP"] == now["DTSTAMP"] {
			t.Errorf("another date: %v, then %v", old, now)
		}

		bob.Must("update_calendar_feed", fields{"boardIds": []string{b}})
		if got := summaries(s, address); !slices.Equal(got, []string{"Ada's", "At five", "Whole day; with, care"}) {
			t.Errorf("of the board: %q", got)
		}
		ada.Must("update_board", fields{"boardId": b, "visibility": "private"})
		if got := summaries(s, address); len(got) > 0 {
			t.Errorf("a board that its owner cannot see: %q", got)
		}
		if got := bob.Must("get_calendar_feed", nil); fmt.Sprint(got.Get("boardIds")) != "[]" {
			t.Errorf("the feed names a board that its owner cannot see: %s", got.Raw)
		}
		ada.Must("update_board", fields{"boardId": b, "visibility": "workspace"})

		renewed := bob.Must("create_calendar_feed", nil).Text("address")
		if r := get(s, address); r.StatusCode != http.StatusNotFound {
			t.Errorf("the old address: %s", r.Status)
		}
		if r := get(s, renewed); r.StatusCode != http.StatusOK {
			t.Errorf("the new address: %s", r.Status)
		}
		bob.Must("delete_calendar_feed", nil)
		bob.Must("delete_calendar_feed", nil)
		unknown, never := get(s, renewed), get(s, apptest.BaseURL+"/ical/"+board.NewSecret()+".ics")
		if a, b := body(s, unknown), body(s, never); unknown.StatusCode != http.StatusNotFound ||
			never.StatusCode != http.StatusNotFound || a != b {
			t.Errorf("a deleted feed: %s %q, a feed that never existed: %s %q", unknown.Status, a, never.Status, b)
		}
		bob.Refused(board.CodeNotFound, "update_calendar_feed", fields{"boardIds": []string{b}})
	})
}

func TestCalendarFeedIsLimited(t *testing.T) {
	t.Parallel()
	apptest.BothWith(t, apptest.Options{RateLimits: true}, func(t *testing.T, s *apptest.Service) {
		address := s.Person("Ada").Must("create_calendar_feed", nil).Text("address")
		last := 0
		for range 80 {
			r := get(s, address)
			if last = r.StatusCode; last != http.StatusOK {
				if r.Header.Get("Retry-After") == "" {
					t.Error("the refusal has no Retry-After")
				}
				break
			}
		}
		if last != http.StatusTooManyRequests {
			t.Errorf("the last of eighty requests: %d", last)
		}
	})
}

// For any title, the calendar is valid and contains the title unchanged.
func TestCalendarOfAnything(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		day := "2031-03-09"
		title := "x" + rapid.String().Draw(r, "title") // not blank
		c := board.FeedCard{ID: "crd_x", Title: title, Description: rapid.String().Draw(r, "description"),
			Board: rapid.String().Draw(r, "board"), List: "List", Due: board.Due{DueDate: &day}, CreatedAt: 1000, UpdatedAt: 61_000}
		written := ical.Write([]board.FeedCard{c}, "example.com", "https://example.com/cards/")
		events, wrong := read(written)
		if len(wrong) > 0 || len(events) != 1 {
			r.Fatalf("%v\n%s", wrong, written)
		}
		if written != ical.Write([]board.FeedCard{c}, "example.com", "https://example.com/cards/") {
			r.Fatal("two calendars of the same cards differ")
		}
	})
	if _, wrong := read(ical.Write(nil, "example.com", "https://example.com/cards/")); len(wrong) > 0 {
		t.Errorf("an empty calendar: %v", wrong)
	}
}

func TestLongLinesAreFolded(t *testing.T) {
	t.Parallel()
	day := "2031-03-09"
	long := strings.Repeat("Straßenbahnhaltestelle und ", 30) + strings.Repeat("日本語", 60)
	c := board.FeedCard{ID: "crd_x", Title: long, Due: board.Due{DueDate: &day}, CreatedAt: 1000, UpdatedAt: 61_000}
	events, wrong := read(ical.Write([]board.FeedCard{c}, "example.com", "https://example.com/cards/"))
	if len(wrong) > 0 || len(events) != 1 || text(events[0]["SUMMARY"]) != long {
		t.Errorf("folded: %v\n%q", wrong, events)
	}
}
