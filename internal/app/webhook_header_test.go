package app_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

// header returns a header for the input of create_webhook and update_webhook.
func header(name, value string) fields { return fields{"name": name, "value": value} }

// The values of headers appear in no response, no audit entry and no export, and the database
// has them only sealed. The names appear.
func TestWebhookHeaderValuesAreNeverReturned(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		const value = "Bearer 3f9c8d7e6a5b4c"
		a := w.owner.Keyed("key", "create_webhook", with(w.newWebhook(), "headers", []fields{header("Authorization", value)}))
		id := fields{"webhookId": a.ID()}
		if a.Status != 201 || !slices.Equal(texts(a.Get("headerNames")), []string{"Authorization"}) {
			t.Fatalf("create_webhook: got status %d, body %s; want 201 with the name", a.Status, a.Raw)
		}
		changed := w.owner.Must("update_webhook",
			with(id, "headers", []fields{header("authorization", value+"2"), header("X-Team", "two words")}))
		audit := w.owner.Must("list_audit_entries", fields{"workspaceId": w.workspace, "limit": 5})
		for _, r := range []apptest.Response{a, changed, audit, w.owner.Must("get_webhook", id),
			w.owner.Must("list_webhooks", fields{"workspaceId": w.workspace}), w.owner.Must("pause_webhook", id)} {
			if strings.Contains(string(r.Raw), value) || strings.Contains(string(r.Raw), "two words") {
				t.Errorf("a response contains a value: %s", r.Raw)
			}
			if !strings.Contains(string(r.Raw), "uthorization") {
				t.Errorf("a response lacks the name: %s", r.Raw)
			}
		}
		if !strings.Contains(string(audit.Raw), `"newHeaderValues":{"from":null,"to":["authorization","X-Team"]}`) {
			t.Errorf("the audit log is %s, want the names of the headers with new values", audit.Raw)
		}
		for column, values := range s.AllValues() {
			if text := strings.Join(values, "\n"); strings.Contains(text, "3f9c8d7e6a5b4c") || strings.Contains(text, "two words") {
				t.Errorf("%s contains a value: %s", column, text)
			}
		}
	})
}

func TestUpdateWebhookHeaders(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		id := fields{"webhookId": w.make("create_webhook", with(w.newWebhook(), "headers",
			[]fields{header("Authorization", "a"), header("X-Team", "b")}))}
		moved := "https://93.184.215.14/hook"
		same := "HTTPS://" + strings.ToUpper(apptest.Receivers) + ":443/another"
		for _, step := range []struct {
			name string
			in   fields
			want string // the names of the headers afterwards
			fail string // the start of the error message
		}{
			{"absent", fields{"name": "Renamed"}, "Authorization X-Team", ""},
			{"another path", fields{"url": receiver + "/other"}, "Authorization X-Team", ""},
			{"the same origin, written differently", fields{"url": same}, "Authorization X-Team", ""},
			{"another host", fields{"url": moved}, "Authorization X-Team", "headers is required with this url"},
			{"another host, without the value", fields{"url": moved, "headers": []fields{{"name": "Authorization"}}},
				"Authorization X-Team", "headers[0].value is required. A value can be left out only"},
			{"keep one value", fields{"headers": []fields{{"name": "AUTHORIZATION"}}}, "AUTHORIZATION", ""},
			{"keep a value that is gone", fields{"headers": []fields{{"name": "X-Team"}}}, "AUTHORIZATION", "headers[0].value is required"},
			{"add one", fields{"headers": []fields{{"name": "Authorization"}, header("X-Team", "c")}}, "Authorization X-Team", ""},
			{"another host with values", fields{"url": moved, "headers": []fields{header("Authorization", "d")}}, "Authorization", ""},
			{"back without headers", fields{"url": receiver, "headers": []fields{}}, "", ""},
			{"another host for a webhook without headers", fields{"url": moved}, "", ""},
		} {
			a := w.owner.Call("update_webhook", with(step.in, "webhookId", id["webhookId"]))
			refused := a.Code == board.CodeInvalidRequest && strings.HasPrefix(a.Message, step.fail)
			if (a.Status == 200) != (step.fail == "") || a.Status != 200 && !refused {
				t.Errorf("%s: got status %d, body %s; want an error that begins with %q, or none", step.name, a.Status, a.Raw, step.fail)
			}
			if got := strings.Join(texts(w.owner.Must("get_webhook", id).Get("headerNames")), " "); got != step.want {
				t.Errorf("%s: got the headers %q, want %q", step.name, got, step.want)
			}
		}
	})
}

func TestWebhookHeaderIsInvalid(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, t.TempDir()+"/cardwall.db", apptest.Options{})
	w := newWorld(s)
	six := []fields{}
	for i := range 6 {
		six = append(six, header(fmt.Sprint("X-", i), "v"))
	}
	for name, c := range map[string]struct {
		headers []fields
		field   string
	}{
		"six":                  {six, "headers"},
		"no value":             {[]fields{{"name": "X-Team"}}, "headers[0].value"},
		"an empty value":       {[]fields{header("X-Team", "")}, "headers[0].value"},
		"a line break":         {[]fields{header("X-Team", "secret\r\nHost: x")}, "headers[0].value"},
		"a tab":                {[]fields{header("X-Team", "a\tsecret")}, "headers[0].value"},
		"a space at the end":   {[]fields{header("X-Team", "secret ")}, "headers[0].value"},
		"a space at the start": {[]fields{header("X-Team", " secret")}, "headers[0].value"},
		"not ASCII":            {[]fields{header("X-Team", "sécret")}, "headers[0].value"},
		"a long value":         {[]fields{header("X-Team", strings.Repeat("v", 1025))}, "headers[0].value"},
		"an empty name":        {[]fields{header("", "v")}, "headers[0].name"},
		"a long name":          {[]fields{header(strings.Repeat("n", 65), "v")}, "headers[0].name"},
		"no token":             {[]fields{header("X Team", "v")}, "headers[0].name"},
		"a colon":              {[]fields{header("X:Team", "v")}, "headers[0].name"},
		"twice":                {[]fields{header("X-Team", "v"), header("x-team", "v")}, "headers[1].name"},
		"reserved":             {[]fields{header("X-Team", "v"), header("CONTENT-Type", "v")}, "headers[1].name"},
		"reserved, ours":       {[]fields{header("Webhook-Id", "v")}, "headers[0].name"},
		"reserved, connection": {[]fields{header("Connection", "v")}, "headers[0].name"},
		"another field":        {[]fields{{"name": "X-Team", "values": "secret"}}, "headers[0].values"},
		"an array as value":    {[]fields{{"name": "X-Team", "value": []string{"secret"}}}, "headers[0].value"},
	} {
		a := w.owner.Refused(board.CodeInvalidRequest, "create_webhook", with(w.newWebhook(), "headers", c.headers))
		if !strings.Contains(string(a.Raw), `"field":"`+c.field+`"`) || strings.Contains(string(a.Raw), "secret") {
			t.Errorf("%s: got %s, want an error about %s without the value", name, a.Raw, c.field)
		}
	}
	// The longest values are accepted.
	longest := header(strings.Repeat("n", 64), strings.Repeat("v", 1024))
	if a := w.owner.Call("create_webhook", with(w.newWebhook(), "headers", append(six[:4:4], longest))); a.Status != 201 {
		t.Errorf("five headers: got status %d, body %s; want 201", a.Status, a.Raw)
	}
}

// The guide lists the names that are not allowed.
func TestGuideListsReservedHeaders(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/webhooks.md")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(string(page)), " ")
	if want := "`" + strings.Join(board.ReservedHeaders(), "`, `") + "`"; !strings.Contains(text, want) {
		t.Errorf("the guide lacks %s", want)
	}
}
