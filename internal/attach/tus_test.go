package attach_test

import (
	"bytes"
	"io"
	"net"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/rest"
)

// The client of the authors of tus uploads a file although its connection is cut again and again.
func TestTusClientUploads(t *testing.T) {
	t.Parallel()
	const tools = "../../tools"
	if _, err := os.Stat(filepath.Join(tools, "node_modules", "tus-js-client")); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip("tus-js-client is missing; run make tools")
	}
	p := newPlace(apptest.New(t, t.TempDir()+"/cardwall.db", apptest.Options{}), board.PlanTeam)
	server := httptest.NewServer(p.Handler)
	t.Cleanup(server.Close)
	content := randomBytes(3, 3_000_000)
	file := filepath.Join(t.TempDir(), "Grüße.bin")
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	endpoint, cuts := cutting(t, server.Listener.Addr().String(), 500_000, 4)
	out, err := exec.CommandContext(t.Context(), "node", filepath.Join(tools, "tus.mjs"), endpoint+rest.Prefix+"/uploads", p.ada.Token,
		p.card, file).CombinedOutput()
	if err != nil {
		t.Fatalf("the client: %v\n%s", err, out)
	}
	if cuts.Load() < 4 {
		t.Errorf("%d connections were cut, want 4", cuts.Load())
	}
	address, err := url.Parse(strings.TrimSpace(string(out)))
	if err != nil {
		t.Fatal(err)
	}
	if got := p.attached("/uploads/" + path.Base(address.Path)); !bytes.Equal(got, content) {
		t.Errorf("the attached file: got %d bytes, want the %d that were sent", len(got), len(content))
	}
	if got := p.ada.All("list_attachments", "name", apptest.Fields{"cardId": p.card}); len(got) != 1 || got[0] != "Grüße.bin" {
		t.Errorf("the attachments: got %q, want the file once", got)
	}
}

// cutting returns the address of a proxy that cuts the first connections after the client
// has sent n bytes.
func cutting(t *testing.T, server string, n int64, connections int) (address string, cuts *atomic.Int64) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	cuts = new(atomic.Int64)
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return // the test is over
			}
			go func() {
				defer func() { _ = client.Close() }()
				to, err := net.Dial("tcp", server)
				if err != nil {
					return
				}
				defer func() { _ = to.Close() }()
				go func() { _, _ = io.Copy(client, to) }()
				if cuts.Load() >= int64(connections) {
					_, _ = io.Copy(to, client)
				} else if _, err := io.CopyN(to, client, n); err == nil {
					cuts.Add(1)
				}
			}()
		}
	}()
	return "http://" + l.Addr().String(), cuts
}
