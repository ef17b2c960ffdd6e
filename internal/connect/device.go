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

// deviceQuestion is the answer of RFC 8628, 3.2.
type deviceQuestion struct {
	DeviceCode string `json:"device_code"`
	UserCode   string `json:"user_code"`
	URI        string `json:"verification_uri"`
	Complete   string `json:"verification_uri_complete"`
	ExpiresIn  int64  `json:"expires_in"`
	Interval   int64  `json:"interval"`
}

// pollSlack is how much sooner than its pause a device may ask: its request and
// the one before it did not travel equally long.
const pollSlack = time.Second

// deviceAuthorization begins the question of a program without a browser (RFC
// 8628, 3.1).
func (d *door) deviceAuthorization(ctx context.Context, w http.ResponseWriter, r *http.Request, network string) error {
	form, err := formOf(w, r)
	if err != nil {
		return err
	}
	c, err := d.client(ctx, d.db, form.Get("client_id"), network)
	if err != nil {
		return err
	}
	if !c.May(board.GrantDevice) {
		return refuse(unauthorizedClient, "The client registered without the grant type "+board.GrantDevice+".")
	}
	asked, err := askedScopes(form.Get("scope"))
	if err != nil {
		return err
	}
	resource, err := d.resourceOf(form["resource"])
	if err != nil {
		return err
	}
	if err := d.attempts.Take(d.db, session.Subject{Limit: questions, Of: network}); err != nil {
		return err
	}
	question := board.Device{Consent: board.Consent{
		ClientID: c.ID, ClientName: nameOf(c, ""), Resource: resource, Scopes: asked, Refreshes: c.May(board.GrantRefresh),
	}}
	if u, err := url.Parse(c.ID); isDocument(c.ID) && err == nil {
		question.Host, question.ClientName = u.Host, nameOf(c, u.Host)
	}
	code, userCode := board.NewSecret(), ""
	if err := d.db.Write(ctx, board.Nobody(), func(tx *store.Tx) error {
		for { // a code that another question has is drawn again
			userCode = board.NewUserCode()
			question.ID = tx.NewID("dev_")
			typed, _ := board.UserCodeHash(userCode)
			fresh, err := tx.InsertDevice(ctx, question, board.SecretHash(code), typed)
			if err != nil || fresh {
				return err
			}
		}
	}); err != nil {
		return err
	}
	page := d.base + "/oauth/device"
	answer(w, http.StatusOK, deviceQuestion{
		DeviceCode: code, UserCode: userCode, URI: page, Complete: page + "?user_code=" + userCode,
		ExpiresIn: int64(board.DeviceLifetime / time.Second), Interval: int64(board.DevicePause / time.Second),
	})
	return nil
}

// nameOf is what a person is shown for a program.
func nameOf(c board.Client, host string) string {
	switch {
	case c.Name != "":
		return c.Name
	case host != "":
		return host
	}
	return "An unnamed program"
}

// redeemDevice gives tokens once a person has allowed it, and says how far the
// question has come before (RFC 8628, 3.5).
func (d *door) redeemDevice(ctx context.Context, form url.Values) (out tokens, err error) {
	if form.Get("device_code") == "" {
		return out, refuse(invalidRequest, "device_code is missing.")
	}
	resource, err := d.resourceOf(form["resource"])
	if err != nil {
		return out, err
	}
	var (
		replayed string
		wait     *refusal // an answer that is no failure of the transaction
	)
	err = d.db.Write(ctx, board.Nobody(), func(tx *store.Tx) error {
		replayed, wait = "", nil
		q, err := tx.Device(ctx, board.SecretHash(form.Get("device_code")))
		switch {
		case board.IsCode(err, board.CodeNotFound):
			return refuse(invalidGrant, "The device_code is not one of this server's, or is forgotten.")
		case err != nil:
			return err
		case q.ClientID != form.Get("client_id"):
			return refuse(invalidGrant, "The device_code was given to another client.")
		case q.TokenID != "":
			replayed = q.TokenID
			return d.endReplayed(ctx, tx, q.UserID, q.TokenID)
		case q.Expired:
			return refuse(expiredToken, "The device_code has expired; begin again.")
		case resource != "" && q.Resource != "" && resource != q.Resource:
			return refuse(invalidTarget, "resource is not the one of the device authorization request.")
		case q.State == board.DeviceDenied:
			return refuse(accessDenied, "The person did not allow it.")
		case q.State == board.DeviceAsked:
			wait, err = d.poll(ctx, tx, q)
			return err
		}
		var tokenID string
		if out, tokenID, err = d.issue(ctx, tx, q.Consent); err != nil {
			return err
		}
		return tx.UseDevice(ctx, q.ID, tokenID)
	})
	if err == nil && wait != nil {
		err = wait
	}
	return out, d.replay(err, "device code", replayed)
}

// poll tells a device to go on asking, and one that asks too often to leave five
// seconds more between, for good (RFC 8628, 3.5).
func (d *door) poll(ctx context.Context, tx *store.Tx, q board.Device) (*refusal, error) {
	told := refuse(authorizationPending, "The person has not decided yet.")
	if since := tx.Time().Sub(q.PolledAt.Time()); since < q.Pause-pollSlack {
		q.Pause += board.DevicePause
		told = refuse(slowDown, "Leave five seconds more between two requests from now on.")
	}
	return told, tx.PolledDevice(ctx, q.ID, q.Pause)
}
