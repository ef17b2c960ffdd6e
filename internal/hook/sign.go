package hook

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// The headers of a delivery (Standard Webhooks 1.0).
const (
	HeaderID        = "webhook-id"
	HeaderTimestamp = "webhook-timestamp"
	HeaderSignature = "webhook-signature"
)

// Tolerance is the maximum difference between a delivery's timestamp and the
// receiver's clock.
const Tolerance = 300 * time.Second

const secretPrefix = "whsec_"

// keyOf returns the key of a signing secret.
func keyOf(secret string) ([]byte, error) {
	text, ok := strings.CutPrefix(secret, secretPrefix)
	key, err := base64.StdEncoding.DecodeString(text)
	if !ok || err != nil || len(key) == 0 {
		return nil, errors.New("a signing secret must be whsec_ followed by base64")
	}
	return key, nil
}

// signature returns one entry of the webhook-signature header.
func signature(key []byte, id, timestamp string, body []byte) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id))
	mac.Write([]byte{'.'})
	mac.Write([]byte(timestamp))
	mac.Write([]byte{'.'})
	mac.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// Sign returns the value of the webhook-signature header: one entry per secret,
// separated by spaces. The timestamp is in Unix seconds.
func Sign(secrets []string, id string, timestamp int64, body []byte) (string, error) {
	entries := make([]string, len(secrets))
	at := strconv.FormatInt(timestamp, 10)
	for i, secret := range secrets {
		key, err := keyOf(secret)
		if err != nil {
			return "", err
		}
		entries[i] = signature(key, id, at, body)
	}
	return strings.Join(entries, " "), nil
}

// Verify checks a delivery as a receiver must: one entry of the signature must
// match, and the timestamp must be within Tolerance of now. It compares in
// constant time.
func Verify(secret, id, timestamp, signatures string, body []byte, now time.Time) error {
	key, err := keyOf(secret)
	if err != nil {
		return err
	}
	at, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil {
		return fmt.Errorf("%s is not a Unix time in seconds", HeaderTimestamp)
	}
	if age := now.Sub(time.Unix(at, 0)); age > Tolerance || age < -Tolerance {
		return fmt.Errorf("%s differs from now by %v; the "+
			"limit is %v", HeaderTimestamp, age.Round(time.Second), Tolerance)
	}
	want := []byte(signature(key, id, timestamp, body))
	for _, entry := range strings.Fields(signatures) {
		if subtle.ConstantTimeCompare([]byte(entry), want) == 1 {
			return nil
		}
	}
	return errors.New("no entry of " + HeaderSignature + " matches this secret")
}
