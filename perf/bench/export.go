package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"cardwall/perf/client"
	"cardwall/perf/document"
	"cardwall/perf/process"
)

// The largest board that the default limits allow.
const (
	exportCards = 200_000
	exportOpen  = 5_000 // number of open cards; the other cards are archived
)

// exportMemory is the goal for the peak of the server's own memory during the export.
const exportMemory = 100 << 20

// measureExport exports the largest board from a server that has done nothing else.
func (s *suite) measureExport(ctx context.Context) error {
	if !s.wants(nameExport) {
		return nil
	}
	dir := filepath.Join(s.dir, "export")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return fmt.Errorf("create folder: %w", err)
	}
	srv, err := newInstallation(ctx, s.Binary, dir, "")
	if err != nil {
		return err
	}
	if err := errors.Join(s.exportBoard(ctx, srv, dir), srv.Stop()); err != nil {
		return srv.WithLog(err)
	}
	return nil
}

// exportBoard imports the board, starts the server and measures the export.
func (s *suite) exportBoard(ctx context.Context, srv *installation, dir string) error {
	s.progress("filling a board of 200,000 cards")
	path := filepath.Join(dir, "board.json")
	g := document.NewGenerator(srv.owner, 0, exportCards, exportOpen, time.Now().UTC())
	large := g.Board(0)
	if err := document.WriteFile(path, func(w io.Writer) error { return json.MarshalWrite(w, large, json.Deterministic(true)) }); err != nil {
		return err
	}
	if _, err := srv.Run(ctx, "import", "cardwall", path, "--workspace", srv.workspace); err != nil {
		return err
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("remove document: %w", err)
	}
	if _, err := srv.Start(ctx); err != nil {
		return err
	}
	var boards []record
	c := client.New(srv.Addr, srv.token, s.names())
	err := call(c, "GET", "/boards", nil, http.StatusOK, &boards)
	c.Close()
	if err == nil && len(boards) != 1 {
		err = fmt.Errorf("the import created %d boards, want 1", len(boards))
	}
	if err != nil {
		return err
	}
	s.progress("measuring %s", nameExport)
	var export discardWriter
	start := time.Now()
	own, err := process.PeakMemory(srv.Process.PID(), func() (err error) {
		export, err = download(ctx, srv, "/boards/"+boards[0].ID+"/export")
		return err
	})
	took := time.Since(start)
	if err != nil {
		return err
	}
	if !strings.HasSuffix(export.tail, `"complete":true}`) || !strings.Contains(export.tail, `"cards":`+strconv.Itoa(exportCards)+",") {
		return fmt.Errorf("the export ends with %q, want %d cards and complete true", export.tail, exportCards)
	}
	peak, err := process.Memory(srv.Process.PID(), "VmHWM")
	if err != nil {
		return err
	}
	s.rows = append(s.rows, row{
		name: nameExport, value: fmt.Sprintf("%.1f MB/s", float64(export.size)/(1<<20)/took.Seconds()),
		ratios: []string{megabytes(export.size), "peak " + megabytes(own) + ", with mapped files " + megabytes(peak)},
		goals:  []goal{{"peak < " + megabytes(exportMemory), own < exportMemory}},
	})
	return nil
}

// discardWriter counts the bytes that are written to it and keeps the last 512.
type discardWriter struct {
	size int64
	tail string
}

func (d *discardWriter) Write(p []byte) (int, error) {
	d.size += int64(len(p))
	d.tail += string(p[max(0, len(p)-512):])
	d.tail = d.tail[max(0, len(d.tail)-512):]
	return len(p), nil
}

// download requests a path of the public API and returns the size and the end of the response body.
func download(ctx context.Context, srv *installation, path string) (d discardWriter, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+srv.Addr+"/api/public/v1"+path, nil)
	if err != nil {
		return d, err
	}
	r.Header.Set("Authorization", "Bearer "+srv.token)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return d, fmt.Errorf("download %s: %w", path, err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return d, fmt.Errorf("download %s: status %d", path, res.StatusCode)
	}
	if _, err := io.Copy(&d, res.Body); err != nil {
		return d, fmt.Errorf("download %s: %w", path, err)
	}
	d.tail = strings.TrimSpace(d.tail)
	return d, nil
}
