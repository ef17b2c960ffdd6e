package notify

import (
	"context"
	"net/http"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/session"
	"cardwall/internal/store"
)

// maxUnsubscribe is the maximum length of a request body in bytes.
const maxUnsubscribe = 4096

// Handlers returns the handler for one-click unsubscription (RFC 8058). Email clients send
// a POST request without cookies and do not follow redirects. When a person opens the
// link, the browser sends a GET request, and the application shows a page.
func Handlers(db *store.DB, gate *session.Gate) map[string]http.Handler {
	return map[string]http.Handler{"POST /unsubscribe": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		status, text := unsubscribe(db, gate, w, r)
		w.WriteHeader(status)
		_, _ = w.Write([]byte(text + "\n")) // fails only if the client has disconnected
	})}
}

func unsubscribe(db *store.DB, gate *session.Gate, w http.ResponseWriter, r *http.Request) (status int, text string) {
	if _, err := gate.AdmitProgram(r); err != nil {
		if f, ok := board.AsFault(err); ok {
			w.Header().Set("Retry-After", board.RetrySeconds(max(time.Second, f.RetryAfter)))
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
