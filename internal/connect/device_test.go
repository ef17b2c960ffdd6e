package connect_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

func (p program) question() reply {
	p.T.Helper()
	return p.must("/oauth/device_authorization",
		values("client_id", p.id, "scope", "read write", "resource", apptest.BaseURL+"/mcp"))
}

func (p program) poll(deviceCode string, pairs ...string) url.Values {
	return changed(values("grant_type", deviceIs, "client_id", p.id, "device_code", deviceCode), pairs...)
}

func TestDevice(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		s.Clock.Stop() // the server measures the seconds between two polls
		ada := s.Person("Ada")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		p, eve := newProgram(s), newProgram(s)
		q := p.question()
		code := q.text("user_code")
		if !regexp.MustCompile(`^[BCDFGHJ-NP-TV-XZ]{4}-[BCDFGHJ-NP-TV-XZ]{4}$`).MatchString(code) ||
			q.text("verification_uri") != apptest.BaseURL+"/oauth/device" ||
			q.text("verification_uri_complete") != apptest.BaseURL+"/oauth/device?user_code="+code ||
			q.body["interval"] != 5.0 || q.body["expires_in"] != 900.0 {
			t.Errorf("the device authorization response is %s", q.raw)
		}
		ask := func() reply { return post(s, "/oauth/token", p.poll(q.text("device_code"))) }
		refused(t, "asked at once", ask(), "authorization_pending")
		refused(t, "asked again at once", ask(), "slow_down")
		s.Clock.Advance(6 * time.Second)
		refused(t, "polled as soon as before", ask(), "slow_down") // the interval is ten seconds now
		s.Clock.Advance(15 * time.Second)
		refused(t, "asked slowly", ask(), "authorization_pending")

		look := ada.Must("look_at_device", fields{"userCode": " " + strings.ToLower(strings.ReplaceAll(code, "-", "")) + " "})
		if look.Text("name") != "Example Assistant" || look.Text("denyTo") != "" || look.Text("place") != "device" ||
			len(look.Get("scopes").([]any)) != 2 {
			t.Errorf("the consent page shows %s", look.Raw)
		}
		ada.Refused(board.CodeInvalidRequest, "allow_device", fields{"userCode": code, "scopes": []string{"admin"}})
		ada.Must("allow_device", fields{"userCode": code, "scopes": []string{"write"}, "workspaceId": workspace})
		for _, name := range []string{"look_at_device", "deny_device"} {
			ada.Refused(board.CodeInvalidRequest, name, fields{"userCode": code}) // the code was already answered
		}
		ada.Refused(board.CodeInvalidRequest, "allow_device", fields{"userCode": code, "scopes": []string{"read"}})
		refused(t, "another client", post(s, "/oauth/token", p.poll(q.text("device_code"), "client_id", eve.id)),
			"invalid_grant")
		refused(t, "another resource", post(s, "/oauth/token", p.poll(q.text("device_code"), "resource", apptest.BaseURL)),
			"invalid_target")
		refused(t, "no code", post(s, "/oauth/token", p.poll("")), "invalid_request")
		refused(t, "the user code as device code", post(s, "/oauth/token", p.poll(code)), "invalid_grant")
		got := ask()
		if got.status != http.StatusOK || got.text("scope") != "read write" || !works(s, got.text("access_token")) {
			t.Fatalf("the tokens are %d %s", got.status, got.raw)
		}
		if app := ada.Must("list_connected_apps", nil); app.Text("0.workspaceId") != workspace || app.Text("0.host") != "" {
			t.Errorf("the connected apps are %s", app.Raw)
		}
		again := p.must("/oauth/token", p.renewal(got.text("refresh_token")))
		refused(t, "a device code that was already used", ask(), "invalid_grant")
		if works(s, again.text("access_token")) {
			t.Error("the token still works after its device code was used twice")
		}

		denied := p.question()
		ada.Must("deny_device", fields{"userCode": denied.text("user_code")})
		for range 2 {
			refused(t, "denied", post(s, "/oauth/token", p.poll(denied.text("device_code"))), "access_denied")
		}
		late := p.question()
		s.Clock.Advance(board.DeviceLifetime + time.Second)
		refused(t, "too late", post(s, "/oauth/token", p.poll(late.text("device_code"))), "expired_token")
		ada.Refused(board.CodeInvalidRequest, "look_at_device", fields{"userCode": late.text("user_code")})
		allowed := p.question()
		ada.Must("allow_device", fields{"userCode": allowed.text("user_code"), "scopes": []string{"read"}})
		s.Clock.Advance(board.DeviceLifetime + time.Second)
		refused(t, "allowed, but fetched too late", post(s, "/oauth/token", p.poll(allowed.text("device_code"))),
			"expired_token")
		for _, bad := range []string{"", "WDJB", "WDJB-MJHA", "WDJB-MJH1", "WDJB-MJHTX", "ВDJB-MJHT"} {
			if a := ada.Call("look_at_device", fields{"userCode": bad}); a.Code != board.CodeInvalidRequest {
				t.Errorf("the code %q: got status %d, body %s", bad, a.Status, a.Raw)
			}
		}
	})
}

// Guesses at device codes are limited, even with a correct code in between and from several
// networks.
func TestGuessesAtDeviceCodesAreLimited(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, t.TempDir()+"/cardwall.db", apptest.Options{RateLimits: true})
	p, ada, bob := newProgram(s), s.Person("Ada"), s.Person("Bob")
	good := p.question().text("user_code")
	for i := range 20 {
		in := fields{"userCode": "BBBB-BBBB"}
		if i == 10 {
			ada.Must("look_at_device", fields{"userCode": good})
			continue
		}
		ada.Refused(board.CodeInvalidRequest, "look_at_device", in)
	}
	for _, name := range []string{"look_at_device", "deny_device"} {
		ada.Refused(board.CodeRateLimited, name, fields{"userCode": good})
	}
	ada.Refused(board.CodeRateLimited, "allow_device", fields{"userCode": good, "scopes": []string{"read"}})
	bob.Must("look_at_device", fields{"userCode": good})
	s.Clock.Advance(16 * time.Minute)
	// The limit no longer applies, and the code has expired.
	ada.Refused(board.CodeInvalidRequest, "look_at_device", fields{"userCode": good})
}
