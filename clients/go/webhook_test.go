package cardwall

import (
	"errors"
	"net/http"
	"testing"
	"time"
)

const (
	secret = "whsec_YlMwy8LvOdifCFyMsOoGkKxIISlld8nICr4MurpU73I="
	other  = "whsec_XEHP+if39o9UPAB0Ex+emYYw6AGb5u0F0mBs3ihOkSY="
	// The signature was made with openssl dgst -sha256 -mac HMAC.
	signature = "v1,2pNV0JChn/zIOSoiK8RRDGqPL1k2P9+Z/HOTMLAPqH4="
	delivery  = `{"id": "itg_1:v3", "type": "card.created", "data": {"cardId": "crd_1"}}`
	sent      = 1772460000
)

func TestVerifyWebhook(t *testing.T) {
	for _, c := range []struct {
		name          string
		secrets       []string
		id, time, sig string
		body          string
		age           time.Duration
		want          string
	}{
		{"authentic", []string{secret}, "itg_1:v3", "1772460000", signature, delivery, 0, ""},
		{"rotation", []string{other, secret}, "itg_1:v3", "1772460000", "v1,AAAA " + signature, delivery, 0, ""},
		{"old", []string{secret}, "itg_1:v3", "1772460000", signature, delivery, 5 * time.Minute, ""},
		{"too old", []string{secret}, "itg_1:v3", "1772460000", signature, delivery, 301 * time.Second, "expired"},
		{"future", []string{secret}, "itg_1:v3", "1772460000", signature, delivery, -301 * time.Second, "expired"},
		{"other secret", []string{other}, "itg_1:v3", "1772460000", signature, delivery, 0, "wrong_signature"},
		{"other body", []string{secret}, "itg_1:v3", "1772460000", signature, delivery + " ", 0, "wrong_signature"},
		{"other id", []string{secret}, "itg_1:v4", "1772460000", signature, delivery, 0, "wrong_signature"},
		{"other time", []string{secret}, "itg_1:v3", "1772460001", signature, delivery, 0, "wrong_signature"},
		{"no version", []string{secret}, "itg_1:v3", "1772460000", signature[3:], delivery, 0, "wrong_signature"},
		{"no signature", []string{secret}, "itg_1:v3", "1772460000", "", delivery, 0, "missing_header"},
		{"bad time", []string{secret}, "itg_1:v3", "-1", signature, delivery, 0, "invalid_timestamp"},
	} {
		header := http.Header{}
		header.Set("webhook-id", c.id)
		header.Set("webhook-timestamp", c.time)
		header.Set("webhook-signature", c.sig)
		v := Verifier{Secrets: c.secrets, Now: func() time.Time { return time.Unix(sent, 0).Add(c.age) }}
		event, err := v.Verify(header, []byte(c.body))
		var e *WebhookError
		switch {
		case c.want != "":
			if !errors.As(err, &e) || e.Reason != c.want {
				t.Errorf("%s: the error is %v, want %s", c.name, err, c.want)
			}
		case err != nil:
			t.Errorf("%s: %v", c.name, err)
		default:
			value, ok := event.Value.(*CardCreatedEvent)
			if !ok || event.ID != "itg_1:v3" || event.Type != "card.created" || value.Data.CardID != "crd_1" {
				t.Errorf("%s: the event is %+v", c.name, event)
			}
		}
	}
	for _, secrets := range [][]string{nil, {"whsec_?"}, {"YlMwy8LvOdif"}} {
		header := http.Header{"Webhook-Id": {"a"}, "Webhook-Timestamp": {"1"}, "Webhook-Signature": {"v1,a"}}
		if _, err := (Verifier{Secrets: secrets, Now: func() time.Time { return time.Unix(1, 0) }}).Verify(header, nil); err == nil {
			t.Errorf("%q: no error", secrets)
		}
	}
}
