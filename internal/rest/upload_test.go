package rest_test

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/rest"
)

// A client that speaks tus 1.0 creates an upload with headers, sends a part, asks for the
// offset and cancels.
func TestUploadsSpeakTus(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, t.TempDir()+"/cardwall.db", apptest.Options{})
	ada := s.Person("Ada")
	boardID := ada.Must("create_board", fields{"workspaceId": ada.Workspace("Engines", board.PlanTeam), "name": "Launch"}).ID()
	list := ada.Must("create_list", fields{"boardId": boardID, "name": "To do"}).ID()
	card := ada.Must("create_card", fields{"listId": list, "title": "Venue"}).ID()
	const version = "Tus-Resumable"
	encoded := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	metadata := "cardId " + encoded(card) + ", filename " + encoded("Grüße.txt") + ",filetype " + encoded("text/plain") + ",private"

	nobody := *ada
	nobody.Token = ""
	options := nobody.Send(http.MethodOptions, "/uploads", "")
	if options.Status != http.StatusNoContent || options.Header.Get("Tus-Version") != "1.0.0" ||
		options.Header.Get("Tus-Extension") != "creation,expiration,termination" {
		t.Errorf("OPTIONS: got status %d, headers %v; want 204, version 1.0.0 and the extensions", options.Status, options.Header)
	}
	created := ada.Send(http.MethodPost, "/uploads", "", version, "1.0.0", "Upload-Length", "11", "Upload-Metadata", metadata)
	at, found := strings.CutPrefix(created.Header.Get("Location"), rest.Prefix)
	if created.Status != http.StatusCreated || !found || created.Get("name") != "Grüße.txt" || created.Header.Get(version) != "1.0.0" {
		t.Fatalf("create: got status %d, headers %v, body %s; want 201 and a location", created.Status, created.Header, created.Raw)
	}
	part := []string{version, "1.0.0", "Content-Type", "application/offset+octet-stream", "Upload-Offset", "0"}
	if a := ada.Send(http.MethodPatch, at, "Hello", part...); a.Status != http.StatusNoContent || a.Header.Get("Upload-Offset") != "5" ||
		a.Header.Get("Upload-Expires") == "" {
		t.Errorf("the first part: got status %d, headers %v; want 204, offset 5 and the expiry", a.Status, a.Header)
	}
	part[5] = "5"
	if a := ada.Send(http.MethodPost, at, ", wo", append(part, "X-HTTP-Method-Override", "PATCH")...); a.Header.Get("Upload-Offset") != "9" {
		t.Errorf("a part with POST: got status %d, headers %v; want offset 9", a.Status, a.Header)
	}
	head := ada.Send(http.MethodHead, at, "", version, "1.0.0")
	if head.Header.Get("Upload-Offset") != "9" || head.Header.Get("Upload-Length") != "11" || head.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("HEAD: got status %d, headers %v; want offset 9 of 11", head.Status, head.Header)
	}
	if a := ada.Send(http.MethodDelete, at, "", version, "1.0.0"); a.Status != http.StatusNoContent || len(a.Raw) > 0 {
		t.Errorf("DELETE: got status %d, body %s; want 204", a.Status, a.Raw)
	}
	if a := ada.Send(http.MethodHead, at, "", version, "1.0.0"); a.Status != http.StatusNotFound {
		t.Errorf("HEAD after DELETE: got status %d, want 404", a.Status)
	}

	at = "/uploads/" + ada.Must("create_upload", fields{"cardId": card, "fileName": "a", "size": 5}).ID()
	for _, c := range []struct {
		what, method, path string
		headers            []string
		status             int
		says               string
	}{
		{"another version", "POST", "/uploads", []string{version, "0.2.2", "Upload-Length", "1"}, 412, "Tus-Resumable must be 1.0.0"},
		{"no size", "POST", "/uploads", []string{version, "1.0.0", "Upload-Defer-Length", "1"}, 400, "size is required"},
		{"an empty file", "POST", "/uploads", []string{"Upload-Length", "0"}, 400, "at least 1"},
		{"a size that is not a number", "POST", "/uploads", []string{"Upload-Length", "1e3"}, 400, "Upload-Length"},
		{"malformed metadata", "POST", "/uploads", []string{"Upload-Length", "1", "Upload-Metadata", "cardId ?"}, 400, "Base64"},
		{"no card", "POST", "/uploads", []string{"Upload-Length", "1", "Upload-Metadata", "filename " + encoded("a")}, 400, "cardId"},
		{"a part as JSON", "PATCH", at, []string{"Content-Type", "application/json", "Upload-Offset", "0"}, 415, "offset+octet-stream"},
		{"no offset", "PATCH", at, part[:4], 400, "Upload-Offset"},
		{"a negative offset", "PATCH", at, append(part[:4:4], "Upload-Offset", "-1"), 400, "Upload-Offset"},
		{"an unknown upload", "PATCH", "/uploads/upl_x", part, 404, ""},
		{"a method to replace POST that does not exist", "POST", at, []string{"X-HTTP-Method-Override", "PUT"}, 405, "DELETE, GET"},
	} {
		body := ""
		if c.method == http.MethodPatch {
			body = "Hello"
		}
		a := ada.Send(c.method, c.path, body, c.headers...)
		if a.Status != c.status || !strings.Contains(a.Message, c.says) {
			t.Errorf("%s: got status %d, body %s; want %d and %q", c.what, a.Status, a.Raw, c.status, c.says)
		}
	}
	if a := ada.With(board.ScopeRead).Send(http.MethodPatch, at, "Hello", append(part[:4:4], "Upload-Offset", "0")...); a.Code !=
		board.CodeInsufficientScope {
		t.Errorf("a part with a token that may only read: got %s, want insufficient_scope", a.Raw)
	}
}
