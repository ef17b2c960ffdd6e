package cardwall

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// WebhookError reports that a request is not an authentic delivery. Respond with 401.
type WebhookError struct {
	// Reason is missing_header, invalid_timestamp, expired, wrong_signature or invalid_body.
	Reason  string
	Message string
}

// Error returns the message.
func (e *WebhookError) Error() string { return e.Message }

// Verifier verifies deliveries of a webhook.
type Verifier struct {
	Secrets   []string      // the signing secret, or several during a rotation
	Tolerance time.Duration // how much the time may differ from the present; 5 minutes if it is 0
	Now       func() time.Time
}

// VerifyWebhook returns the event of a delivery, or a *WebhookError. The body must be exactly as received.
//
// A delivery can arrive more than once: ignore an event whose ID you have processed before. Also
// ignore types that you do not know, whose Value is nil.
func VerifyWebhook(secrets []string, header http.Header, body []byte) (*WebhookEvent, error) {
	return Verifier{Secrets: secrets}.Verify(header, body)
}

// Verify does the same as VerifyWebhook.
func (v Verifier) Verify(header http.Header, body []byte) (*WebhookEvent, error) {
	if len(v.Secrets) == 0 {
		return nil, errors.New("at least one secret is required")
	}
	for _, name := range []string{"Webhook-Id", "Webhook-Timestamp", "Webhook-Signature"} {
		if header.Get(name) == "" {
			return nil, &WebhookError{"missing_header", name + " is missing"}
		}
	}
	timestamp := header.Get("Webhook-Timestamp")
	seconds, err := strconv.ParseUint(timestamp, 10, 62)
	if err != nil {
		return nil, &WebhookError{"invalid_timestamp", "Webhook-Timestamp is not a number"}
	}
	now, tolerance := time.Now(), v.Tolerance
	if v.Now != nil {
		now = v.Now()
	}
	if tolerance == 0 {
		tolerance = 5 * time.Minute
	}
	if now.Sub(time.Unix(int64(seconds), 0)).Abs() > tolerance {
		return nil, &WebhookError{"expired", "Webhook-Timestamp is too old or in the future"}
	}
	signed := append([]byte(header.Get("Webhook-Id")+"."+timestamp+"."), body...)
	authentic := false
	for _, secret := range v.Secrets {
		encoded, found := strings.CutPrefix(secret, "whsec_")
		key, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil || !found {
			return nil, errors.New("a signing secret is whsec_ and base64")
		}
		mac := hmac.New(sha256.New, key)
		mac.Write(signed)
		expected := []byte("v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)))
		for _, signature := range strings.Fields(header.Get("Webhook-Signature")) {
			if hmac.Equal(expected, []byte(signature)) {
				authentic = true
			}
		}
	}
	if !authentic {
		return nil, &WebhookError{"wrong_signature", "no signature matches a secret"}
	}
	var event WebhookEvent
	if err := json.Unmarshal(body, &event); err != nil || event.Type == "" {
		return nil, &WebhookError{"invalid_body", fmt.Sprintf("the body is not an event: %v", err)}
	}
	return &event, nil
}
