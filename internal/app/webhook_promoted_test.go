package app_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/rest"
)

// Some operations were part of the internal API at first. Programs that followed the guide, and pages of the
// version before, still use their earlier paths, which respond like the public ones and name them.
func TestPromotedOperationsKeepTheirEarlierPaths(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		var promoted []string
		since := func(name string) (deprecation, sunset string) {
			if strings.HasSuffix(name, "template") {
				return "@1795910400", "Mon, 29 Nov 2027 00:00:00 GMT"
			}
			return "@1795824000", "Sun, 28 Nov 2027 00:00:00 GMT"
		}
		for _, o := range s.Registry.All() {
			if o.Promoted.IsZero() {
				continue
			}
			promoted = append(promoted, o.Name)
			for _, earlier := range []bool{false, true} {
				r := w.owner.Request(o, w.sample(t, o))
				public := r.URL.EscapedPath()
				if earlier {
					r.URL.Path = strings.Replace(r.URL.Path, rest.Prefix, rest.ApplicationPrefix, 1)
				}
				a := w.owner.Do(r)
				deprecation, sunset, link := a.Header.Get("Deprecation"), a.Header.Get("Sunset"), a.Header.Get("Link")
				wantDeprecation, wantSunset := since(o.Name)
				switch {
				case a.Status != http.StatusOK:
					t.Errorf("%s %s: got status %d, body %s; want 200", r.Method, r.URL.Path, a.Status, a.Raw)
				case earlier && (deprecation != wantDeprecation || sunset != wantSunset || link != "<"+public+`>; rel="successor-version"`):
					t.Errorf("%s: got Deprecation %q, Sunset %q and Link %q, want %s, %s and %s", r.URL.Path, deprecation, sunset, link,
						wantDeprecation, wantSunset, public)
				case !earlier && deprecation+sunset+link != "":
					t.Errorf("%s: got Deprecation %q, Sunset %q and Link %q, want none", r.URL.Path, deprecation, sunset, link)
				}
			}
		}
		slices.Sort(promoted)
		want := []string{
			"delete_board_template", "enable_webhook", "get_board_template",
			"get_delivery", "get_delivery_quota", "get_webhook", "list_deliveries", "pause_webhook",
			"redeliver", "redeliver_many", "rotate_webhook_secret", "test_webhook", "update_webhook",
		}
		if !slices.Equal(promoted, want) {
			t.Errorf("promoted operations are %v, want %v", promoted, want)
		}
		// Errors name the public path, too.
		r := w.owner.Request(s.Registry.Named("get_webhook"), fields{"webhookId": "whk_none"})
		r.URL.Path = rest.ApplicationPrefix + "/webhooks/whk_none"
		if a := w.owner.Do(r); a.Status != http.StatusNotFound || a.Header.Get("Link") == "" {
			t.Errorf("an unknown webhook: got status %d with Link %q, want 404 with a link", a.Status, a.Header.Get("Link"))
		}
		r = w.owner.Request(s.Registry.Named("pause_webhook"), onWebhook(nil)(w))
		r.Method, r.URL.Path = http.MethodPut, strings.Replace(r.URL.Path, rest.Prefix, rest.ApplicationPrefix, 1)
		if a := w.owner.Do(r); a.Status != http.StatusMethodNotAllowed || a.Header.Get("Allow") != "POST" {
			t.Errorf("another method: got status %d with Allow %q, want 405 with POST", a.Status, a.Header.Get("Allow"))
		}
	})
}

// /webhooks/samples/{event} and /webhooks/{webhookId}/deliveries both match some addresses, so a
// more general pattern matches the first.
func TestPathsBesideTheSamplesOfWebhooks(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, t.TempDir()+"/cardwall.db", apptest.Options{})
	w := newWorld(s)
	hook := w.webhook()
	for address, want := range map[string]struct {
		status int
		allow  string
	}{
		"GET /webhooks/samples/card.moved":        {http.StatusOK, ""},
		"GET /webhooks/samples/card.eaten":        {http.StatusBadRequest, ""},
		"PUT /webhooks/samples/card.moved":        {http.StatusMethodNotAllowed, "GET, HEAD"},
		"GET /webhooks/samples/deliveries":        {http.StatusNotFound, ""}, // of a webhook with the id samples
		"GET /webhooks/" + hook + "/deliveries":   {http.StatusOK, ""},
		"GET /webhooks/" + hook + "/pause":        {http.StatusMethodNotAllowed, "POST"},
		"GET /webhooks/" + hook + "/card.moved":   {http.StatusNotFound, ""},
		"PATCH /webhooks/" + hook + "/card.moved": {http.StatusNotFound, ""},
	} {
		method, path, _ := strings.Cut(address, " ")
		a := w.owner.Do(httptest.NewRequest(method, rest.Prefix+path, http.NoBody))
		if a.Status != want.status || a.Header.Get("Allow") != want.allow {
			t.Errorf("%s: got status %d with Allow %q, want %d with %q", address, a.Status, a.Header.Get("Allow"), want.status, want.allow)
		}
	}
}
