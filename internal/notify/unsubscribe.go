package notify

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/session"
	"cardwall/internal/store"
)

// maxUnsubscribe is the maximum length of a request body.
const maxUnsubscribe = 4096

// Pages returns the handler with which mail programs unsubscribe a person with
// one click (RFC 8058): a POST without cookies and redirects. GET is the
// application's page for people who follow the link.
func Pages(db *store.DB, gate *session.Gate) map[string]http.Handler {
	return map[string]http.Handler{"POST /unsubscribe": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		status, text := unsubscribe(db, gate, w, r)
		w.WriteHeader(status)
		_, _ = w.Write([]byte(text + "\n")) // the client may be gone
	})}
}

func unsubscribe(db *store.DB, gate *session.Gate, w http.ResponseWriter, r *http.Request) (status int, text string) {
	if _, err := gate.AdmitProgram(r); err != nil {
		if f, ok := board.AsFault(err); ok {
			w.Header().Set("Retry-After", strconv.Itoa(int(max(time.Second, f.RetryAfter).Seconds())))
			return http.StatusTooManyRequests, f.Message
		}
		return http.StatusServiceUnavailable, "The service cannot do this right now. Try again in a moment."
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxUnsubscribe)
	if r.PostFormValue("List-Unsubscribe") != "One-Click" {
		return http.StatusBadRequest, "The body must be List-Unsubscribe=One-Click."
	}
	ok := false
	err := db.Write(r.Context(), board.System(), func(tx *store.Tx) error {
		var userID string
		if userID, ok = tx.UnsubscribedUser(r.URL.Query().Get("token")); !ok {
			return nil
		}
		_, err := tx.DisableNotificationEmails(context.WithoutCancel(r.Context()), userID)
		return err
	})
	switch {
	case err != nil:
		return http.StatusServiceUnavailable, "The service cannot do this right now. Try again in a moment."
	case !ok:
		return http.StatusNotFound, "The link is not valid. Use the unsubscribe link exactly as it is in the email."
	}
	return http.StatusOK, "You will not receive any more notification emails."
}
