package rest_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/rest"
)

// sender records what net/http would send from a file without copying it.
type sender struct {
	*httptest.ResponseRecorder
	fromFile int64
}

func (s *sender) ReadFrom(src io.Reader) (int64, error) {
	n, err := io.Copy(s.ResponseRecorder, src)
	if piece, ok := src.(*io.LimitedReader); ok {
		if _, ok := piece.R.(*os.File); ok {
			s.fromFile += n
		}
	}
	return n, err
}

// net/http gets the file itself, so that the kernel can send it (sendfile). A wrong range and a
// failed precondition are refused like other requests.
func TestFilesAreSentWithoutCopying(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, t.TempDir()+"/cardwall.db", apptest.Options{})
	ada, _, boardID := newBoard(s)
	list := ada.Must("create_list", fields{"boardId": boardID, "name": "To do"}).ID()
	card := ada.Must("create_card", fields{"listId": list, "title": "Venue"}).ID()
	content := strings.Repeat("0123456789", 100_000)
	id := ada.Attach(card, "digits", []byte(content)).ID()
	for _, c := range []struct {
		header, value string
		status        int
		want          string
	}{
		{"Accept", "*/*", 200, content},
		{"Range", "bytes=10-700009", 206, content[10:700_010]},
		{"Range", "bytes=-5", 206, "56789"},
		{"Range", "bytes=1000000-", 416, "range"},
		{"If-Match", `"other"`, 412, "condition"},
	} {
		r := httptest.NewRequest(http.MethodGet, rest.Prefix+"/attachments/"+id+"/content", http.NoBody)
		r.Header.Set("Authorization", "Bearer "+ada.Token)
		r.Header.Set(c.header, c.value)
		w := &sender{ResponseRecorder: httptest.NewRecorder()}
		s.Handler.ServeHTTP(w, r)
		got := w.Body.String()
		switch {
		case w.Code != c.status:
			t.Errorf("%s %s: got status %d, want %d", c.header, c.value, w.Code, c.status)
		case c.status < 300 && (got != c.want || w.fromFile != int64(len(c.want))):
			t.Errorf("%s %s: got %d bytes, %d of them from the file; want %d", c.header, c.value, len(got), w.fromFile, len(c.want))
		case c.status > 300 && (!strings.Contains(got, `"code":"invalid_request"`) || !strings.Contains(got, c.want) ||
			w.Header().Get("Content-Type") != "application/json"):
			t.Errorf("%s %s: got headers %v, body %s; want an error that says %s", c.header, c.value, w.Header(), got, c.want)
		}
	}
}
