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

// authorizeDevice requests a device code and a user code.
func (p oauthClient) authorizeDevice() reply {
	p.T.Helper()
	return p.must("/oauth/device_authorization",
		values("client_id", p.id, "scope", "read write", "resource", apptest.BaseURL+"/mcp"))
}

// poll returns the form with which a device polls.
func (p oauthClient) poll(deviceCode string, pairs ...string) url.Values {
	return with(values("grant_type", deviceGrant, "client_id", p.id, "device_code", deviceCode), pairs...)
}

func TestDevice(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		s.Clock.Stop() // the server measures the time between two polls
		ada := s.Person("Ada")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		p, eve := newClient(s), newClient(s)
		q := p.authorizeDevice()
		code := q.text("user_code")
		if !regexp.MustCompile(`^[BCDFGHJ-NP-TV-XZ]{4}-[BCDFGHJ-NP-TV-XZ]{4}$`).MatchString(code) ||
			q.text("verification_uri") != apptest.BaseURL+"/oauth/device" ||
			q.text("verification_uri_complete") != apptest.BaseURL+"/oauth/device?user_code="+code ||
			q.body["interval"] != 5.0 || q.body["expires_in"] != 900.0 {
			t.Errorf("got device authorization response %s, want codes for %s/oauth/device, valid for 900 s, with an interval of 5 s", q.raw,
				apptest.BaseURL)
		}
		poll := func() reply { return post(s, "/oauth/token", p.poll(q.text("device_code"))) }
		wantError(t, "the first poll", poll(), "authorization_pending")
		wantError(t, "a second poll immediately after the first", poll(), "slow_down")
		s.Clock.Advance(6 * time.Second)
		wantError(t, "a poll after six seconds", poll(), "slow_down") // the interval is ten seconds now
		s.Clock.Advance(15 * time.Second)
		wantError(t, "a poll after 15 seconds", poll(), "authorization_pending")

		details := ada.Must("get_device_request",
			fields{"userCode": " " + strings.ToLower(strings.ReplaceAll(code, "-", "")) + " "})
		if details.Text("name") != "Example Assistant" || details.Text("denyTo") != "" || details.Text("place") != "device" ||
			len(details.Get("scopes").([]any)) != 2 {
			t.Errorf("got request details %s, want those of Example Assistant on a device, with two scopes", details.Raw)
		}
		ada.Refused(board.CodeInvalidRequest, "allow_device", fields{"userCode": code, "scopes": []string{"admin"}})
		ada.Must("allow_device", fields{"userCode": code, "scopes": []string{"write"}, "workspaceId": workspace})
		for _, name := range []string{"get_device_request", "deny_device"} {
			ada.Refused(board.CodeInvalidRequest, name, fields{"userCode": code}) // the request was already approved
		}
		ada.Refused(board.CodeInvalidRequest, "allow_device", fields{"userCode": code, "scopes": []string{"read"}})
		wantError(t, "another client", post(s, "/oauth/token", p.poll(q.text("device_code"), "client_id", eve.id)),
			"invalid_grant")
		wantError(t, "another resource", post(s, "/oauth/token", p.poll(q.text("device_code"), "resource", apptest.BaseURL)),
			"invalid_target")
		wantError(t, "no code", post(s, "/oauth/token", p.poll("")), "invalid_request")
		wantError(t, "the user code as the device code", post(s, "/oauth/token", p.poll(code)), "invalid_grant")
		got := poll()
		if got.status != http.StatusOK || got.text("scope") != "read write" || !works(s, got.text("access_token")) {
			t.Fatalf("got status %d, body %s; want working tokens", got.status, got.raw)
		}
		if app := ada.Must("list_connected_apps", nil); app.Text("0.workspaceId") != workspace || app.Text("0.host") != "" {
			t.Errorf("got connected apps %s, want one in workspace %s without a host", app.Raw, workspace)
		}
		again := p.must("/oauth/token", p.refresh(got.text("refresh_token")))
		wantError(t, "a device code that was already used", poll(), "invalid_grant")
		if works(s, again.text("access_token")) {
			t.Error("the token still works after its device code was used twice")
		}

		denied := p.authorizeDevice()
		ada.Must("deny_device", fields{"userCode": denied.text("user_code")})
		for range 2 {
			wantError(t, "denied", post(s, "/oauth/token", p.poll(denied.text("device_code"))), "access_denied")
		}
		expired := p.authorizeDevice()
		s.Clock.Advance(board.DeviceLifetime + time.Second)
		wantError(t, "expired", post(s, "/oauth/token", p.poll(expired.text("device_code"))), "expired_token")
		ada.Refused(board.CodeInvalidRequest, "get_device_request", fields{"userCode": expired.text("user_code")})
		approved := p.authorizeDevice()
		ada.Must("allow_device", fields{"userCode": approved.text("user_code"), "scopes": []string{"read"}})
		s.Clock.Advance(board.DeviceLifetime + time.Second)
		wantError(t, "approved, but expired", post(s, "/oauth/token", p.poll(approved.text("device_code"))),
			"expired_token")
		for _, bad := range []string{"", "WDJB", "WDJB-MJHA", "WDJB-MJH1", "WDJB-MJHTX", "ВDJB-MJHT"} {
			if a := ada.Call("get_device_request", fields{"userCode": bad}); a.Code != board.CodeInvalidRequest {
				t.Errorf("user code %q: got status %d, body %s; want invalid_request", bad, a.Status, a.Raw)
			}
		}
	})
}

// Attempts to guess user codes are limited, even if one of them is correct.
func TestUserCodeGuessesAreLimited(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, t.TempDir()+"/cardwall.db", apptest.Options{RateLimits: true})
	p, ada, bob := newClient(s), s.Person("Ada"), s.Person("Bob")
	good := p.authorizeDevice().text("user_code")
	for i := range 20 {
		if i == 10 {
			ada.Must("get_device_request", fields{"userCode": good})
			continue
		}
		ada.Refused(board.CodeInvalidRequest, "get_device_request", fields{"userCode": "BBBB-BBBB"})
	}
	for _, name := range []string{"get_device_request", "deny_device"} {
		ada.Refused(board.CodeRateLimited, name, fields{"userCode": good})
	}
	ada.Refused(board.CodeRateLimited, "allow_device", fields{"userCode": good, "scopes": []string{"read"}})
	bob.Must("get_device_request", fields{"userCode": good})
	s.Clock.Advance(16 * time.Minute)
	// The limit no longer applies, and the code has expired.
	ada.Refused(board.CodeInvalidRequest, "get_device_request", fields{"userCode": good})
}
