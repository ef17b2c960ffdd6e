package connect

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/session"
	"cardwall/internal/store"
)

// deviceResponse is a device authorization response (RFC 8628, 3.2).
type deviceResponse struct {
	DeviceCode string `json:"device_code"`
	UserCode   string `json:"user_code"`
	URI        string `json:"verification_uri"`
	Complete   string `json:"verification_uri_complete"`
	ExpiresIn  int64  `json:"expires_in"`
	Interval   int64  `json:"interval"`
}

// pollSlack is how much too early a device may poll, because network latency varies
// between requests.
const pollSlack = time.Second

// deviceAuthorization is the device authorization endpoint (RFC 8628, 3.1).
func (d *endpoints) deviceAuthorization(ctx context.Context, w http.ResponseWriter, r *http.Request, network string) error {
	form, err := formOf(w, r)
	if err != nil {
		return err
	}
	c, err := d.client(ctx, d.db, form.Get("client_id"), network)
	if err != nil {
		return err
	}
	if !c.May(board.GrantDevice) {
		return newError(unauthorizedClient, "The client registered without the "+board.GrantDevice+" grant type.")
	}
	requested, err := parseScope(form.Get("scope"))
	if err != nil {
		return err
	}
	resource, err := d.resourceOf(form["resource"])
	if err != nil {
		return err
	}
	if err := d.attempts.Spend(d.db, session.Subject{Limit: deviceRequests, Of: network}); err != nil {
		return err
	}
	device := board.Device{Consent: board.Consent{
		ClientID: c.ID, ClientName: nameOf(c, ""), Resource: resource,
		Scopes: requested, Refreshes: c.May(board.GrantRefresh),
	}}
	if u, err := url.Parse(c.ID); isDocument(c.ID) && err == nil {
		device.Host, device.ClientName = u.Host, nameOf(c, u.Host)
	}
	code, userCode := board.NewSecret(), ""
	if err := d.db.Write(ctx, board.Nobody(), func(tx *store.Tx) error {
		for { // until the user code is unique
			userCode = board.NewUserCode()
			device.ID = tx.NewID("dev_")
			hash, _ := board.UserCodeHash(userCode)
			unique, err := tx.InsertDevice(ctx, device, board.SecretHash(code), hash)
			if err != nil || unique {
				return err
			}
		}
	}); err != nil {
		return err
	}
	page := d.base + "/oauth/device"
	writeJSON(w, http.StatusOK, deviceResponse{
		DeviceCode: code, UserCode: userCode, URI: page, Complete: page + "?user_code=" + userCode,
		ExpiresIn: int64(board.DeviceLifetime / time.Second), Interval: int64(board.DevicePause / time.Second),
	})
	return nil
}

// nameOf returns the name of a client to show to a person: its own name or, if it has
// none, the host.
func nameOf(c board.Client, host string) string {
	switch {
	case c.Name != "":
		return c.Name
	case host != "":
		return host
	}
	return "Unnamed app"
}

// redeemDevice returns tokens if a person has approved the request. Otherwise it returns
// the state of the request as an error (RFC 8628, 3.5).
func (d *endpoints) redeemDevice(ctx context.Context, form url.Values) (out tokens, err error) {
	if form.Get("device_code") == "" {
		return out, newError(invalidRequest, "device_code is missing.")
	}
	resource, err := d.resourceOf(form["resource"])
	if err != nil {
		return out, err
	}
	var (
		replayed string
		pending  *oauthError // an error response that must not roll back the transaction
	)
	err = d.db.Write(ctx, board.Nobody(), func(tx *store.Tx) error {
		replayed, pending = "", nil
		q, err := tx.Device(ctx, board.SecretHash(form.Get("device_code")))
		switch {
		case board.IsCode(err, board.CodeNotFound):
			return newError(invalidGrant, "The device_code is unknown or was deleted after it expired.")
		case err != nil:
			return err
		case q.ClientID != form.Get("client_id"):
			return newError(invalidGrant, "The device_code was issued to another client.")
		case q.TokenID != "":
			replayed = q.TokenID
			return d.endReplayed(ctx, tx, q.UserID, q.TokenID)
		case q.Expired:
			return newError(expiredToken, "The device_code has expired. Start again.")
		case resource != "" && q.Resource != "" && resource != q.Resource:
			return newError(invalidTarget, "resource differs from the device authorization request.")
		case q.State == board.DeviceDenied:
			return newError(accessDenied, "The person denied the request.")
		case q.State == board.DevicePending:
			pending, err = d.poll(ctx, tx, q)
			return err
		}
		var tokenID string
		if out, tokenID, err = d.issue(ctx, tx, q.Consent); err != nil {
			return err
		}
		return tx.UseDevice(ctx, q.ID, tokenID)
	})
	if err == nil && pending != nil {
		err = pending
	}
	return out, d.replay(err, "device code", replayed)
}

// poll returns the error that tells a device to continue polling. If the device
// polls too often, its interval grows by five seconds permanently (RFC 8628, 3.5).
func (d *endpoints) poll(ctx context.Context, tx *store.Tx, q board.Device) (*oauthError, error) {
	response := newError(authorizationPending, "The person has not decided yet.")
	if since := tx.Time().Sub(q.PolledAt.Time()); since < q.Pause-pollSlack {
		q.Pause += board.DevicePause
		response = newError(slowDown, "Increase the polling interval by five seconds.")
	}
	return response, tx.RecordDevicePoll(ctx, q.ID, q.Pause)
}
