package app_test

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

// notForPeople matches text that must not appear in a message: a Go slice or struct printed
// by fmt, and typical wording of library errors.
var notForPeople = regexp.MustCompile(`\[\w[^\]"]* [^\]"]*\]|\{\w+:|invalid syntax|expected |matched none|unmarshal`)

// An error message names the invalid field and lists its allowed values.
func TestRefusalsListAllowedValues(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		for _, c := range []struct {
			operation string
			in        fields
			want      string
		}{
			{"create_card", fields{"listId": w.list, "title": "x", "due": fields{"date": "2026-03-01"}},
				"due.date is not a field of due. Allowed fields are dueDate, dueTime, startDate, startTime, timeZone."},
			{"create_card", fields{"listId": w.list, "titel": "x"},
				"titel is not a field of create_card. Allowed fields are listId, title, description, labels, assignees, due, " +
					"position. title is required."},
			{"move_card", fields{"cardId": w.card, "listId": w.list, "position": "middle"},
				`position must be "top", "bottom", {"before": string} or {"after": string}.`},
			{"update_list", fields{"listId": w.list, "wipLimit": 1.5},
				"wipLimit must be a whole number from 1 to 200000, or null, but is a fraction."},
			{"update_list", fields{"listId": w.list, "wipLimit": 0},
				"wipLimit must be a whole number from 1 to 200000, or null."},
			{"update_list", fields{"listId": w.list, "wipLimit": 1e300},
				"wipLimit must be a whole number from 1 to 200000, or null."},
			{"update_list", fields{"listId": w.list, "wipMode": "x"}, "wipMode must be one of soft, hard."},
			{"update_card", fields{"cardId": w.card, "done": "yes"}, "done must be true or false, but is a string."},
			{"update_card", fields{"cardId": w.card, "done": nil}, "done must not be null. Leave it out instead."},
			{"create_card", fields{"listId": w.list, "title": nil}, "title is required and must not be null."},
			{"update_card", fields{"cardId": w.card, "title": strings.Repeat("x", 513)},
				"title must be a string of at most 512 characters."},
			{"set_card_labels", fields{"cardId": w.card, "add": []any{1}}, "add[0] must be a string that is not empty, but is a number."},
			{"get_board", fields{"boardId": strings.Repeat("x", 65)}, "boardId must be a string of at most 64 characters."},
		} {
			a := w.owner.Refused(board.CodeInvalidRequest, c.operation, c.in)
			if a.Message != c.want {
				t.Errorf("%s with %v: got\n%s\nwant\n%s", c.operation, c.in, a.Message, c.want)
			}
		}
	})
}

// The details of an invalid_request error name the field and the rule, whether the schema or the
// operation rejects the input. The response to a repeated request has the same details.
func TestRefusalsHaveDetails(t *testing.T) {
	t.Parallel()
	const position = `[{"field":"position","rule":"value","allowed":"\"top\", \"bottom\", {\"before\": string} or {\"after\": string}"}]`
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		for n, c := range []struct{ method, path, body, want string }{
			{"POST", "/cards", `{"listId":"` + w.list + `","title":"x","due":{"date":"2026-03-01"}}`,
				`[{"field":"due.date","rule":"unknown","allowed":"dueDate, dueTime, startDate, startTime, timeZone"}]`},
			{"POST", "/cards", `{"listId":"` + w.list + `","title":"x","due":{"dueDate":"soon"}}`,
				`[{"field":"due.dueDate","rule":"value","allowed":"a date in the form YYYY-MM-DD between the years 1900 and 2999"}]`},
			{"PUT", "/cards/" + w.card + "/due", `{"dueDate":"2026-03-01","dueTime":"9","timeZone":"UTC"}`,
				`[{"field":"dueTime","rule":"value","allowed":"a time of day in the form HH:MM, from 00:00 to 23:59"}]`},
			{"PUT", "/cards/" + w.card + "/due", `{"dueDate":"2026-03-01","timeZone":"Mars"}`,
				`[{"field":"timeZone","rule":"value","allowed":"an IANA time zone name such as Europe/Berlin or UTC"}]`},
			{"POST", "/cards", `{"listId":"` + w.list + `","title":"x","position":"middle"}`, position},
			{"POST", "/cards", `{"listId":"` + w.list + `","title":"x","position":{"before":""}}`, position},
			{"GET", "/me/cards?limit=0", "", `[{"field":"limit","rule":"value","allowed":"a whole number from 1 to 200"}]`},
			{"GET", "/me/cards?limit=ten", "", `[{"field":"limit","rule":"value","allowed":"a whole number from 1 to 200"}]`},
			{"GET", "/me/cards?done=yes", "", `[{"field":"done","rule":"value","allowed":"true or false"}]`},
			{"POST", "/cards", `{"listId":"` + w.list + `"}`, `[{"field":"title","rule":"required"}]`},
			{"PATCH", "/lists/" + w.list, `{"wipLimit":0,"wipMode":"x"}`,
				`[{"field":"wipLimit","rule":"value","allowed":"a whole number from 1 to 200000, or null"},` +
					`{"field":"wipMode","rule":"value","allowed":"one of soft, hard"}]`},
			{"POST", "/cards/" + w.card + "/comments", `{"text":" "}`, `[{"field":"text","rule":"empty"}]`},
			{"PATCH", "/cards/" + w.card + "/labels", `{"add":["lbl_0"]}`, `[{"field":"add","rule":"value"}]`},
			{"PATCH", "/cards/" + w.card + "/assignees", `{"add":["usr_0"],"remove":["usr_0"]}`, `[{"field":"add","rule":"value"}]`},
			{"POST", "/cards", `{"listId":"` + w.list + `","title":"x","labels":["lbl_0"]}`, `[{"field":"labels","rule":"value"}]`},
			{"PATCH", "/boards/" + w.board + "/cards", `{"cardIds":["` + w.card + `"],"addAssignees":["usr_0"]}`,
				`[{"field":"addAssignees","rule":"value"}]`},
			{"PATCH", "/boards/" + w.board + "/cards", `{"changes":[{"cardIds":["` + w.card + `"],"addLabels":["lbl_0"]}]}`,
				`[{"field":"changes[0].addLabels","rule":"value"}]`},
			{"GET", "/boards/" + w.board + "/activity?limt=1", "",
				`[{"field":"limt","rule":"unknown","allowed":"cardId, type, actor, from, until, limit, cursor"}]`},
			{"POST", "/cards", "[]", ""},
		} {
			for range 2 { // for commands, the second response is the stored one
				a := w.owner.Send(c.method, c.path, c.body, "Idempotency-Key", strconv.Itoa(n))
				var got struct {
					Error struct {
						Code    board.Code
						Details json.RawMessage
					}
				}
				if err := json.Unmarshal(a.Raw, &got); err != nil {
					t.Fatal(err)
				}
				if a.Status != 400 || got.Error.Code != board.CodeInvalidRequest || string(got.Error.Details) != c.want {
					t.Errorf("%s %s %s: got status %d, body %s\nwant details %s", c.method, c.path, c.body, a.Status, a.Raw, c.want)
				}
			}
		}
	})
}

// JSON does not distinguish integers from other numbers, so 5.0 and 5e0 are accepted as 5.
func TestWholeNumbersInAnyNotation(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		for _, text := range []string{"5.0", "5e0", "50E-1", "5"} {
			a := w.owner.Send("PATCH", "/lists/"+w.list, `{"wipLimit":`+text+`}`)
			if a.Status != 200 || a.Data.(map[string]any)["wipLimit"] != 5.0 {
				t.Errorf("wipLimit %s: got status %d, body %s; want 200 and 5", text, a.Status, a.Raw)
			}
		}
	})
}

// Tools accept whole numbers in any notation too, and null for optional arguments, because some
// clients fill in all of them. A value of another kind is refused with its kind.
func TestToolsAcceptEveryNotation(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		number := func(text string) json.RawMessage { return json.RawMessage(text) }
		for _, text := range []string{"10.0", "1e1", "100E-1", "10", "null"} {
			if a := w.owner.Tool("list_my_cards", fields{"limit": number(text)}); a.Failed {
				t.Errorf("limit %s: got %s, want success", text, a.Text)
			}
		}
		filled := fields{"listId": w.list, "title": "Filled", "description": nil, "labels": nil, "assignees": nil, "position": nil,
			"due": fields{"dueDate": "2026-03-01", "dueTime": nil, "startDate": nil, "timeZone": nil}, "idempotencyKey": nil}
		if a := w.owner.Tool("create_card", filled); a.Failed {
			t.Errorf("nulls: got %s, want success", a.Text)
		}
		for _, c := range []struct {
			in   fields
			want string
		}{
			{fields{"limit": 10.5}, "limit must be a whole number from 1 to 200, but is a fraction."},
			{fields{"limit": true}, "limit must be a whole number from 1 to 200, but is a boolean."},
			{fields{"limit": []int{1}}, "limit must be a whole number from 1 to 200, but is an array."},
			{fields{"limit": number("1e300")}, "limit must be a whole number from 1 to 200, but is a number."},
			{fields{"cursor": fields{}}, "cursor must be a string, but is an object."},
		} {
			if a := w.owner.Tool("list_my_cards", c.in); a.Code != board.CodeInvalidRequest || a.Message != c.want {
				t.Errorf("%v: got %s, want %s", c.in, a.Text, c.want)
			}
		}
	})
}

// Two requests with the same key count as the same request even if the field order, the white space
// or the escape sequences in their bodies differ.
func TestKeyIgnoresTheFormatOfTheBody(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		send := func(body string) apptest.Response {
			return w.owner.Send("POST", "/cards", body, "Idempotency-Key", "order")
		}
		first := send(`{"listId":"` + w.list + `","title":"Ä","due":{"dueDate":"2026-03-01","timeZone":"UTC"}}`)
		if first.Status != 201 {
			t.Fatalf("first request: got status %d, body %s; want 201", first.Status, first.Raw)
		}
		again := send("{ \"due\": {\"timeZone\":\"UTC\", \"dueDate\":\"2026-03-01\"},\n\"title\":\"\\u00c4\", \"listId\":\"" +
			w.list + "\"}")
		if again.Status != 201 || again.Header.Get("Idempotent-Replayed") != "true" ||
			string(again.Raw) != string(first.Raw) {
			t.Errorf("same fields in another order: got status %d, body %s; want the stored response", again.Status, again.Raw)
		}
		for _, other := range []string{
			`{"listId":"` + w.list + `","title":"Ö","due":{"dueDate":"2026-03-01","timeZone":"UTC"}}`,
			`{"listId":"` + w.list + `","title":"Ä"}`,
			`{"listId":"` + w.list + `","title":"Ä","title":"Ä"}`,
		} {
			if a := send(other); a.Status != 400 {
				t.Errorf("%s with the same key: got status %d, body %s; want 400", other, a.Status, a.Raw)
			}
		}
	})
}
