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

// parse parses a calendar and returns violations of RFC 5545. Lines must end in CRLF,
// have at most 75 octets and be valid UTF-8.
func parse(text string) (events []map[string]string, violations []string) {
	if !strings.HasSuffix(text, "END:VCALENDAR\r\n") || !strings.HasPrefix(text, "BEGIN:VCALENDAR\r\n") {
		violations = append(violations, "not a VCALENDAR")
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\r\n"), "\r\n") {
		if len(line) > 75 || strings.ContainsAny(line, "\r\n") || !utf8.ValidString(line) || line == "" {
			violations = append(violations, fmt.Sprintf("invalid line %q", line))
		}
	}
	var event map[string]string // the current event; nil between events
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\r\n ", ""), "\r\n") {
		name, value, _ := strings.Cut(line, ":")
		if parameters := strings.Split(name, ";")[1:]; len(slices.Compact(slices.Sorted(slices.Values(parameters)))) < len(parameters) {
			violations = append(violations, "repeated parameter in "+name)
		}
		switch {
		case line == "BEGIN:VEVENT":
			event = map[string]string{}
		case line == "END:VEVENT":
			events = append(events, event)
			event = nil
		case event != nil:
			if _, repeated := event[name]; repeated {
				violations = append(violations, "repeated "+name)
			}
			event[name] = value
		}
	}
	for _, e := range events {
		for _, name := range []string{"UID", "DTSTAMP", "SUMMARY", "SEQUENCE", "LAST-MODIFIED"} {
			if e[name] == "" {
				violations = append(violations, "event without "+name)
			}
		}
		if !regexp.MustCompile(`^\d{8}T\d{6}Z$`).MatchString(e["DTSTAMP"]) {
			violations = append(violations, "invalid DTSTAMP "+e["DTSTAMP"])
		}
	}
	return events, violations
}

// unescape removes the escaping of RFC 5545, 3.3.11.
func unescape(s string) string {
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

// summaries returns the sorted titles of the events of a calendar, which must be valid.
func summaries(s *apptest.Service, address string) (out []string) {
	s.T.Helper()
	r := get(s, address)
	if r.StatusCode != http.StatusOK {
		s.T.Fatalf("got status %s, want 200", r.Status)
	}
	events, violations := parse(body(s, r))
	if len(violations) > 0 {
		s.T.Errorf("got violations %v, want none", violations)
	}
	for _, e := range events {
		out = append(out, unescape(e["SUMMARY"]))
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
		allDay := card("Whole day; with, care", list, fields{"dueDate": day(3)})
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
				t.Errorf("a feed of the board %v: got status %d, want an error", hidden, a.Status)
			}
		}

		address := bob.Must("create_calendar_feed", nil).Text("address")
		if strings.Contains(fmt.Sprint(bob.Must("get_calendar_feed", nil).Data), "/ical/") ||
			len(s.Column("SELECT user_id FROM calendar_feeds WHERE boards LIKE '%ical%'")) > 0 {
			t.Error("get_calendar_feed or the database contains the URL of the feed")
		}
		want := []string{"At five", "Whole day; with, care"}
		if got := summaries(s, address); !slices.Equal(got, want) {
			t.Errorf("cards assigned to Bob: got %q, want %q", got, want)
		}

		first := get(s, address)
		content := body(s, first)
		checkEvents(t, content, allDay, day(3))
		if first.Header.Get("Content-Type") != "text/calendar; charset=utf-8" ||
			!strings.HasPrefix(first.Header.Get("Cache-Control"), "private") {
			t.Errorf("got headers %v, want a private calendar in UTF-8", first.Header)
		}
		if got, want := first.Header.Get("Content-Disposition"), `inline; filename="Cardwall due dates `+day(0)+`.ics"`; got != want {
			t.Errorf("got Content-Disposition %s, want %s", got, want)
		}
		tag := first.Header.Get("ETag")
		if again := get(s, address, "If-None-Match", `"other", W/`+tag); again.StatusCode != http.StatusNotModified ||
			body(s, again) != "" || again.Header.Get("ETag") != tag {
			t.Errorf("conditional request: got status %s, want 304", again.Status)
		}
		events, _ := parse(content)
		s.Clock.Advance(time.Minute)
		ada.Must("set_card_due", fields{"cardId": allDay, "dueDate": day(5)})
		changed := get(s, address, "If-None-Match", tag)
		after, _ := parse(body(s, changed))
		byID := func(es []map[string]string) map[string]string {
			for _, e := range es {
				if strings.HasPrefix(e["UID"], allDay) {
					return e
				}
			}
			return nil
		}
		if old, now := byID(events), byID(after); changed.StatusCode != http.StatusOK || old["UID"] != now["UID"] ||
			old["SEQUENCE"] >= now["SEQUENCE"] && len(old["SEQUENCE"]) >= len(now["SEQUENCE"]) || old["DTSTAMP"] == now["DTSTAMP"] {
			t.Errorf("after a change to the date: got %v after %v, want the same UID and a higher SEQUENCE", now, old)
		}

		bob.Must("update_calendar_feed", fields{"boardIds": []string{b}})
		if got := summaries(s, address); !slices.Equal(got, []string{"Ada's", "At five", "Whole day; with, care"}) {
			t.Errorf("cards of the board: got %q, want the three open cards with a due date", got)
		}
		ada.Must("update_board", fields{"boardId": b, "visibility": "private"})
		if got := summaries(s, address); len(got) > 0 {
			t.Errorf("a board that Bob cannot see: got cards %q, want none", got)
		}
		if got := bob.Must("get_calendar_feed", nil); fmt.Sprint(got.Get("boardIds")) != "[]" {
			t.Errorf("get_calendar_feed returned %s, want no board that Bob cannot see", got.Raw)
		}
		ada.Must("update_board", fields{"boardId": b, "visibility": "workspace"})

		checkRenewal(t, s, bob, address)
		bob.Refused(board.CodeNotFound, "update_calendar_feed", fields{"boardIds": []string{b}})
	})
}

// checkEvents checks the two events of a calendar: one at a time, and one on a whole day, for the card allDay.
func checkEvents(t *testing.T, content, allDay, day string) {
	t.Helper()
	parsed, err := ics.ParseCalendar(strings.NewReader(content))
	if err != nil || len(parsed.Events()) != 2 {
		t.Fatalf("parse the calendar: got %d events, error %v; want 2", strings.Count(content, "BEGIN:VEVENT"), err)
	}
	for _, e := range parsed.Events() {
		start, err := e.GetStartAt()
		switch title := e.GetProperty(ics.ComponentPropertySummary).Value; {
		case err != nil:
			t.Errorf("%s: %v", title, err)
		case title == "At five" && (start.Location() != time.UTC || e.GetProperty(ics.ComponentPropertyDtEnd) != nil):
			t.Errorf("timed event: got start %v, want UTC without an end", start)
		case title != "At five":
			if e.Id() != allDay+"@cardwall.example.com" || start.Format(board.DateLayout) != day ||
				!strings.Contains(content, "DTSTART;VALUE=DATE:") {
				t.Errorf("all-day event: got %s at %v, want %s on %s", e.Id(), start, allDay, day)
			}
			if d := e.GetProperty(ics.ComponentPropertyDescription).Value; !strings.Contains(d, "Line one\nline; two, with a \\ and more") {
				t.Errorf("all-day event: got description %q, want the description of the card in it", d)
			}
		}
	}
}

// checkRenewal checks that the URL of a feed stops working when the feed gets a new one, and when it is deleted.
func checkRenewal(t *testing.T, s *apptest.Service, bob *apptest.Person, address string) {
	t.Helper()
	renewed := bob.Must("create_calendar_feed", nil).Text("address")
	if r := get(s, address); r.StatusCode != http.StatusNotFound {
		t.Errorf("the old URL: got status %s, want 404", r.Status)
	}
	if r := get(s, renewed); r.StatusCode != http.StatusOK {
		t.Errorf("the new URL: got status %s, want 200", r.Status)
	}
	bob.Must("delete_calendar_feed", nil)
	bob.Must("delete_calendar_feed", nil)
	deleted, unknown := get(s, renewed), get(s, apptest.BaseURL+"/ical/"+board.NewSecret()+".ics")
	if a, b := body(s, deleted), body(s, unknown); deleted.StatusCode != http.StatusNotFound ||
		unknown.StatusCode != http.StatusNotFound || a != b {
		t.Errorf("got %s %q for a deleted feed and %s %q for an unknown one, want the same 404", deleted.Status, a,
			unknown.Status, b)
	}
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
					t.Error("got an error without a Retry-After header, want one")
				}
				break
			}
		}
		if last != http.StatusTooManyRequests {
			t.Errorf("got status %d after 80 requests, want 429", last)
		}
	})
}

// The calendar is valid for all strings. The same cards produce the same calendar.
func TestCalendarOfAnyTextIsValid(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		day := "2031-03-09"
		title := "x" + rapid.String().Draw(r, "title") // not blank
		c := board.FeedCard{ID: "crd_x", Title: title, Description: rapid.String().Draw(r, "description"),
			Board: rapid.String().Draw(r, "board"), List: "List", Due: board.Due{DueDate: &day}, CreatedAt: 1000, UpdatedAt: 61_000}
		written := ical.Write([]board.FeedCard{c}, "example.com", "https://example.com/cards/")
		events, violations := parse(written)
		if len(violations) > 0 || len(events) != 1 {
			r.Fatalf("got violations %v in\n%s", violations, written)
		}
		if written != ical.Write([]board.FeedCard{c}, "example.com", "https://example.com/cards/") {
			r.Fatal("two calendars of the same cards differ")
		}
	})
	if _, violations := parse(ical.Write(nil, "example.com", "https://example.com/cards/")); len(violations) > 0 {
		t.Errorf("an empty calendar: got violations %v, want none", violations)
	}
}

func TestLongLinesAreFolded(t *testing.T) {
	t.Parallel()
	day := "2031-03-09"
	long := strings.Repeat("Straßenbahnhaltestelle und ", 30) + strings.Repeat("日本語", 60)
	c := board.FeedCard{ID: "crd_x", Title: long, Due: board.Due{DueDate: &day}, CreatedAt: 1000, UpdatedAt: 61_000}
	events, violations := parse(ical.Write([]board.FeedCard{c}, "example.com", "https://example.com/cards/"))
	if len(violations) > 0 || len(events) != 1 || unescape(events[0]["SUMMARY"]) != long {
		t.Errorf("got violations %v and events\n%q\nwant one event with the long title", violations, events)
	}
}
