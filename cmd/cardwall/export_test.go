package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestSystemExportInConstantMemory exports boards of 30 MB and 120 MB from a server process. The
// peak memory for the large one must exceed that for the small one by less than half of the
// difference in size. `make bench` compares the peak for 200,000 cards, the maximum for a board,
// with the goal of 100 MB. Most of the time goes into importing the boards.
func TestSystemExportInConstantMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("exporting 150 MB takes several seconds")
	}
	c := newCrashServer(t)
	var workspaces []string
	sizes := []int{2000, 8000} // cards
	for _, cards := range sizes {
		file := filepath.Join(t.TempDir(), "large.json")
		if err := writeLargeBoard(file, cards); err != nil {
			t.Fatal(err)
		}
		workspace := strings.Fields(c.command("workspace", "add", "--owner", "ada@example.com", "--name", "Large"))[0]
		if out, err := exec.CommandContext(t.Context(), c.binary, "import", "cardwall", file, "--workspace", workspace,
			"--data", c.data, "--max-open-cards", "200000").CombinedOutput(); err != nil {
			t.Fatalf("import: %v\n%s", err, out)
		}
		workspaces = append(workspaces, workspace)
	}
	t.Setenv("GOMEMLIMIT", "64MiB") // a process that has to wait for a processor collects garbage late otherwise
	stop := c.start()
	defer stop()
	var size, peak [2]int64
	for i, workspace := range workspaces {
		size[i] = c.exportLargeBoard(workspace, sizes[i])
		peak[i] = residentMemory(t, c.pid, "VmHWM")
		t.Logf("%.1f MB exported, peak resident memory %.1f MB, %.1f MB mapped at the end", float64(size[i])/(1<<20),
			float64(peak[i])/(1<<20), float64(residentMemory(t, c.pid, "RssFile"))/(1<<20))
	}
	if grown, limit := peak[1]-peak[0], (size[1]-size[0])/2; grown >= limit {
		t.Errorf("the peak memory grew by %d bytes for %d more exported bytes, want less than %d", grown, size[1]-size[0], limit)
	}
}

// exportLargeBoard exports the only board of a workspace and returns the size of the document.
func (c *crashServer) exportLargeBoard(workspace string, cards int) (size int64) {
	c.t.Helper()
	var boards struct{ Data []struct{ ID string } }
	c.get("/boards?workspaceId="+workspace, &boards)
	r, err := http.NewRequestWithContext(c.t.Context(), http.MethodGet,
		c.base+"/api/public/v1/boards/"+boards.Data[0].ID+"/export", nil)
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+c.client.Token)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	ending := &tail{}
	size, err = io.Copy(ending, res.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	if !strings.HasSuffix(strings.TrimSpace(ending.text), `"complete":true}`) ||
		!strings.Contains(ending.text, fmt.Sprintf(`"cards":%d,`, cards)) {
		c.t.Errorf("the export ends with %q, want the end of a complete document", ending.text)
	}
	return size
}

// tail keeps the last 512 bytes that are written to it.
type tail struct{ text string }

func (w *tail) Write(p []byte) (int, error) {
	w.text += string(p[max(0, len(p)-512):])
	w.text = w.text[max(0, len(w.text)-512):]
	return len(p), nil
}

// residentMemory returns a field of /proc/PID/status in bytes, such as VmHWM, the peak resident
// memory, or RssFile, the resident memory of mapped files.
func residentMemory(t *testing.T, pid int, field string) int64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(field + `:\s+(\d+) kB`).FindSubmatch(text)
	if m == nil {
		t.Fatalf("/proc/%d/status has no field %s: %s", pid, field, text)
	}
	kilobytes, err := strconv.ParseInt(string(m[1]), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return kilobytes << 10
}

// writeLargeBoard writes an export with one list, whose cards have a size of 15 kB each.
func writeLargeBoard(path string, cards int) error {
	const at = `"createdAt":"2026-01-05T09:00:00.000Z","updatedAt":"2026-01-05T09:00:00.000Z"`
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriter(f)
	fmt.Fprintf(w, `{"format":"cardwall-export/1","exportedAt":"2026-01-05T09:00:00.000Z","boardVersion":0,"board":{"id":"brd_x",`+
		`"name":"Large","description":"","visibility":"workspace","features":{},"nextNumber":%d,"cards":%d,"archivedAt":null,`+
		`"createdBy":null,%s},"users":[],"labels":[],"lists":[{"id":"lst_x","name":"To do","wipLimit":null,"wipMode":"soft",`+
		`"archivedAt":null,%s}],"cards":[`, cards+1, cards, at, at)
	description := strings.Repeat(strings.Repeat("x", 200)+" ", 75) // long words keep the search index small
	for i := range cards {
		if i > 0 {
			fmt.Fprint(w, ",")
		}
		fmt.Fprintf(w, `{"id":"crd_%d","listId":"lst_x","number":%d,"title":"Card %d","description":%q,%s,"comments":[]}`, i,
			i+1, i, description, at)
	}
	fmt.Fprintf(w, `],"activity":[],"counts":{"users":0,"labels":0,"lists":1,"cards":%d,"checklists":0,"items":0,"comments":0,`+
		`"activity":0},"complete":true}`, cards)
	return w.Flush()
}
