package hook_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	standard "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"cardwall/internal/hook"
)

const (
	oneSecret   = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	otherSecret = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
	deliveryID  = "itg_01jb2m3n4p5q6r7s8t9v0w1x2y:v42"
)

var deliveryBody = []byte(`{"id":"itg_01jb2m3n4p5q6r7s8t9v0w1x2y:v42","type":"card.created"}`)

// signed returns the headers of a delivery that is signed with the given secrets.
func signed(t *testing.T, at time.Time, secrets ...string) http.Header {
	t.Helper()
	signature, err := hook.Sign(secrets, deliveryID, at.Unix(), deliveryBody)
	if err != nil {
		t.Fatal(err)
	}
	h := http.Header{}
	h.Set(hook.HeaderID, deliveryID)
	h.Set(hook.HeaderTimestamp, strconv.FormatInt(at.Unix(), 10))
	h.Set(hook.HeaderSignature, signature)
	return h
}

func verify(secret string, h http.Header, body []byte, now time.Time) error {
	return hook.Verify(secret, h.Get(hook.HeaderID), h.Get(hook.HeaderTimestamp), h.Get(hook.HeaderSignature), body, now)
}

// library returns the verifier of the Standard Webhooks library.
func library(t *testing.T, secret string) *standard.Webhook {
	t.Helper()
	w, err := standard.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestSignMatchesTheStandardWebhooksVector(t *testing.T) {
	got, err := hook.Sign([]string{"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330,
		[]byte(`{"test": 2432232314}`))
	if want := "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="; err != nil || got != want {
		t.Errorf("got signature %s, error %v; want %s", got, err, want)
	}
}

func TestStandardWebhooksLibraryAcceptsOurSignatures(t *testing.T) {
	for _, secrets := range [][]string{{oneSecret}, {oneSecret, otherSecret}, {otherSecret, oneSecret}} {
		h := signed(t, time.Now(), secrets...)
		entries := strings.Split(h.Get(hook.HeaderSignature), " ")
		if len(entries) != len(secrets) {
			t.Fatalf("got %d signatures, want %d", len(entries), len(secrets))
		}
		for i, secret := range secrets {
			if err := library(t, secret).Verify(deliveryBody, h); err != nil {
				t.Errorf("secret %d of %d: got error %v, want none", i, len(secrets), err)
			}
			alone := h.Clone()
			alone.Set(hook.HeaderSignature, entries[i])
			if err := library(t, secret).Verify(deliveryBody, alone); err != nil {
				t.Errorf("signature %d with secret %d: got error %v, want none", i, i, err)
			}
		}
	}
}

func TestVerifyAcceptsStandardWebhooksSignatures(t *testing.T) {
	now := time.Now()
	signature, err := library(t, oneSecret).Sign(deliveryID, now, deliveryBody)
	if err != nil {
		t.Fatal(err)
	}
	if err := hook.Verify(oneSecret, deliveryID, strconv.FormatInt(now.Unix(), 10), signature, deliveryBody,
		now); err != nil {
		t.Error(err)
	}
}

func TestVerifyAcceptsEitherSecretWithin300Seconds(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	for _, secret := range []string{oneSecret, otherSecret} {
		for _, off := range []time.Duration{0, 300 * time.Second, -300 * time.Second} {
			if err := verify(secret, signed(t, now.Add(off), oneSecret, otherSecret), deliveryBody, now); err != nil {
				t.Errorf("timestamp off by %v: got error %v, want none", off, err)
			}
		}
	}
}

func TestVerifyRejectsInvalidDeliveries(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	change := func(name, to string) func(http.Header) { return func(h http.Header) { h.Set(name, to) } }
	unchanged := func(http.Header) {}
	for _, c := range []struct {
		name   string
		secret string
		body   string
		at     time.Time
		change func(http.Header)
	}{
		{"a changed body", oneSecret, string(deliveryBody) + " ", now, unchanged},
		{"no body", oneSecret, "", now, unchanged},
		{"another id", oneSecret, string(deliveryBody), now, change(hook.HeaderID, "itg_01jb2m3n4p5q6r7s8t9v0w1x2y:v43")},
		{"another timestamp", oneSecret, string(deliveryBody), now, change(hook.HeaderTimestamp, "1800000001")},
		{"the same timestamp in another format", oneSecret, string(deliveryBody), now,
			change(hook.HeaderTimestamp, "+1800000000")},
		{"no timestamp", oneSecret, string(deliveryBody), now, change(hook.HeaderTimestamp, "")},
		{"a timestamp 301 s old", oneSecret, string(deliveryBody), now.Add(-301 * time.Second), unchanged},
		{"a timestamp 301 s ahead", oneSecret, string(deliveryBody), now.Add(301 * time.Second), unchanged},
		{"the largest timestamp", oneSecret, string(deliveryBody), now,
			change(hook.HeaderTimestamp, "9223372036854775807")},
		{"a wrong secret", otherSecret, string(deliveryBody), now, unchanged},
		{"an empty secret", "whsec_", string(deliveryBody), now, unchanged},
		{"a secret without its prefix", strings.TrimPrefix(oneSecret, "whsec_"), string(deliveryBody), now, unchanged},
		{"no signature", oneSecret, string(deliveryBody), now, change(hook.HeaderSignature, "")},
		{"the beginning of a signature", oneSecret, string(deliveryBody), now, func(h http.Header) {
			h.Set(hook.HeaderSignature, h.Get(hook.HeaderSignature)[:40])
		}},
		{"another version", oneSecret, string(deliveryBody), now, func(h http.Header) {
			h.Set(hook.HeaderSignature, strings.Replace(h.Get(hook.HeaderSignature), "v1,", "v1a,", 1))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := signed(t, c.at, oneSecret)
			c.change(h)
			if err := verify(c.secret, h, []byte(c.body), now); err == nil {
				t.Error("got no error, want one")
			}
		})
	}
}

func TestSignRejectsInvalidSecrets(t *testing.T) {
	for _, secret := range []string{"", "whsec_", "whsec_!", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"} {
		if got, err := hook.Sign([]string{oneSecret, secret}, deliveryID, 1, deliveryBody); err == nil {
			t.Errorf("%q: got signature %s, want an error", secret, got)
		}
	}
}
