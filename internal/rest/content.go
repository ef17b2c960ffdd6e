package rest

import (
	"cmp"
	"io"
	"net/http"
	"strings"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/filename"
	"cardwall/internal/op"
	"cardwall/internal/spool"
)

// shown lists the media types that a browser may show instead of downloading. It never
// includes a type whose scripts would run in the origin of the server, such as HTML or SVG.
var shown = map[string]bool{
	"image/png": true, "image/jpeg": true, "image/gif": true, "image/webp": true, "image/avif": true,
	"application/pdf": true, "video/mp4": true, "video/webm": true, "text/plain": true,
}

// recheckEvery is the interval at which a download checks whether its reader may still see
// the file.
const recheckEvery = 5 * time.Second

// content serves the content of a file. The whole response is sandboxed, because the file
// may come from anyone.
func (h *handler) content(w http.ResponseWriter, r *http.Request, call op.Call) error {
	content, err := h.Engine.Content(r.Context(), call)
	if err != nil {
		return err
	}
	blob, mediaType, err := h.Files.Open(r.Context(), content)
	if err != nil {
		return err
	}
	defer func() { _ = blob.Close() }() // it was only read
	header := w.Header()
	kind, disposition := "application/octet-stream", "attachment"
	if shown[mediaType] {
		kind, disposition = contentType(mediaType), "inline"
	}
	header.Set("Content-Type", kind)
	header.Set("Content-Disposition", filename.Disposition(disposition, filename.Safe(content.Name)))
	header.Set("Content-Security-Policy", sandboxOf(mediaType))
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Cache-Control", "private, no-cache") // the browser may store it, but must revalidate it before each use
	header.Set("ETag", `"`+content.Blob.Hash+string(content.Scale)+`"`)
	recheck := func() error {
		if err := h.Gate.Reauthenticate(r); err != nil {
			return err
		}
		if _, err := h.Engine.Content(r.Context(), call); !board.IsCode(err, board.CodeUnavailable) {
			return err
		}
		return nil // it is checked again soon
	}
	http.ServeContent(w, r, "", content.At.Time(), &rechecked{
		ReadSeeker: blob, check: recheck, next: time.Now().Add(recheckEvery), control: http.NewResponseController(w),
		pace: spool.NewMinRate(streamRate, cmp.Or(h.StreamWindow, streamWindow)),
	})
	return nil
}

// sandboxOf returns the content security policy for a file, in which no script can run. A
// video is played by a document that the browser makes for it. That document requests the
// video again, which must be allowed, and must send the cookie of this origin.
func sandboxOf(mediaType string) string {
	if strings.HasPrefix(mediaType, "video/") {
		return "sandbox allow-same-origin; default-src 'none'; media-src 'self'"
	}
	return "sandbox; default-src 'none'"
}

// rechecked reads a file and fails if its reader loses access in the meantime, or reads
// too slowly.
type rechecked struct {
	io.ReadSeeker
	check   func() error
	next    time.Time
	control *http.ResponseController
	pace    *spool.MinRate
}

func (c *rechecked) Read(p []byte) (int, error) {
	if now := time.Now(); now.After(c.next) {
		if err := c.check(); err != nil {
			return 0, err
		}
		c.next = now.Add(recheckEvery)
	}
	n, err := c.ReadSeeker.Read(p)
	_ = c.control.SetWriteDeadline(c.pace.Deadline()) // fails only in tests, whose writer has no deadlines
	c.pace.Count(n)
	return n, err
}
