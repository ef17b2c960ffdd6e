package main

import (
	"context"
	cryptorand "crypto/rand"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"cardwall/perf/fleet"
	"cardwall/perf/limits"
	"cardwall/perf/process"
	"cardwall/perf/server"
)

const (
	largeFile    = 100_000_000 // bytes
	fileMemory   = 32 << 20    // goal for the memory that a transfer adds to the server's own memory
	transferRuns = 3

	uploaders   = 16
	smallFile   = 10_000_000 // bytes
	filesOnCard = 200        // maximum number of attachments
)

// measureFiles uploads and downloads a large file, each several times. The table shows the median speed, and the peak of
// the memory during all runs.
func (s *suite) measureFiles(ctx context.Context) error {
	if !s.wants(nameUpload, nameUploadParts, nameDownload) {
		return nil
	}
	dir := filepath.Join(s.dir, "files")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return fmt.Errorf("create folder: %w", err)
	}
	srv, err := newInstallation(ctx, s.Binary, dir, "")
	if err != nil {
		return err
	}
	if err := errors.Join(s.measureTransfers(ctx, srv, dir), srv.Stop()); err != nil {
		return srv.WithLog(err)
	}
	return nil
}

func (s *suite) measureTransfers(ctx context.Context, srv *installation, dir string) (err error) {
	if _, err := srv.Start(ctx); err != nil {
		return err
	}
	bare, bareAddr, err := limits.StartServer(ctx, dir, stopTimeout)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, bare.Stop(stopTimeout)) }()
	b, err := s.newFixture(srv.token, srv.workspace, srv.Addr).board(ctx, "Files", 1)
	if err != nil {
		return err
	}
	c := &fleet.Client{Token: srv.token, HTTP: &http.Client{}}
	bareFile := "http://" + bareAddr + "/file"
	putBare := func() error {
		res, err := c.Open(ctx, "PUT", bareFile, nil, newFile("", largeFile).Content, largeFile)
		if err == nil {
			res.Body.Close()
		}
		return err
	}
	getBare := func() error { return receive(ctx, c, bareFile, largeFile) }
	if err := putBare(); err != nil {
		return err
	}
	var id string // of the attachment that was uploaded last
	upload := func(attach func(context.Context, string, fleet.File) (string, error)) func() error {
		return func() (err error) {
			id, err = attach(ctx, srv.Addr, newFile(b.cards[0].id, largeFile))
			return err
		}
	}
	get := func() error {
		return receive(ctx, c, "http://"+srv.Addr+apiPath+"/attachments/"+id+"/content", largeFile)
	}
	for _, t := range []struct {
		name       string
		work, bare func() error
	}{
		{nameUpload, upload(c.Attach), putBare},
		{nameUploadParts, upload(c.AttachInParts), putBare},
		{nameDownload, get, getBare},
	} {
		if !s.wants(t.name) {
			continue
		}
		if t.name == nameDownload && id == "" {
			if err := upload(c.Attach)(); err != nil {
				return err
			}
		}
		s.progress("measuring %s", t.name)
		limit, _, err := transfer(bare.PID(), t.bare)
		if err != nil {
			return err
		}
		took, memory, err := transfer(srv.Process.PID(), t.work)
		if err != nil {
			return err
		}
		s.rows = append(s.rows, row{
			name: t.name, value: speed(took), ratios: []string{
				fmt.Sprintf("%.2f of bare net/http (%s)", float64(limit)/float64(took), speed(limit)), "memory +" + megabytes(memory)},
			goals: []goal{{"memory < +" + megabytes(fileMemory), memory < fileMemory}},
		})
	}
	return nil
}

// speed formats the speed of a transfer of largeFile bytes.
func speed(took time.Duration) string { return fmt.Sprintf("%.0f MB/s", largeFile/1e6/took.Seconds()) }

// transfer calls work several times. It returns the median time of a call, and how much the server's own memory was
// higher at its peak than before, in bytes.
func transfer(pid int, work func() error) (took time.Duration, memory int64, err error) {
	before, err := process.Memory(pid, "RssAnon")
	if err != nil {
		return 0, 0, err
	}
	var times []time.Duration
	peak, err := process.PeakMemory(pid, func() error {
		for range transferRuns {
			start := time.Now()
			if err := work(); err != nil {
				return err
			}
			times = append(times, time.Since(start))
		}
		return nil
	})
	if err != nil {
		return 0, 0, err
	}
	slices.Sort(times)
	return times[len(times)/2], peak - before, nil
}

// newFile returns a file that differs from all others.
func newFile(card string, size int64) fleet.File {
	var seed [32]byte
	_, _ = cryptorand.Read(seed[:])
	return fleet.File{Card: card, Name: cryptorand.Text(), Content: io.LimitReader(yielding{rand.NewChaCha8(seed)}, size), Size: size}
}

// yielding is a reader that lets other goroutines run after each call. Otherwise, a reader that never waits would delay
// the bystanders' requests in this process.
type yielding struct{ io.Reader }

func (y yielding) Read(p []byte) (int, error) {
	runtime.Gosched()
	return y.Reader.Read(p)
}

// receive downloads a file. It returns an error unless the file has the size.
func receive(ctx context.Context, c *fleet.Client, url string, size int64) error {
	res, err := c.Open(ctx, "GET", url, nil, nil, 0)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	n, err := io.Copy(io.Discard, res.Body)
	if err == nil && n != size {
		err = fmt.Errorf("download %s: got %d bytes, want %d", url, n, size)
	}
	return err
}

// runUploads uploads small files. Each person uploads as many at a time as the server allows.
func runUploads(ctx context.Context, h *neighborhood, t *tally) {
	t.markFirst()
	list, err := h.addList(ctx)
	if err != nil {
		t.fault(ctx, err)
		return
	}
	runParallel(uploaders, h.members, func(p server.Person) {
		c := h.client(p)
		var card fleet.Response
		for n := 0; ctx.Err() == nil; n++ {
			var err error
			if n%filesOnCard == 0 {
				in := map[string]any{"listId": list, "title": "Files"}
				err = c.Do(ctx, "POST", h.srv.Addr, "/cards", cryptorand.Text(), in, &card)
			}
			if err == nil {
				_, err = c.Attach(ctx, h.srv.Addr, newFile(card.Data.ID, smallFile))
			}
			switch {
			case err == nil:
				t.count("files", 1)
			case refused(err):
				t.count("refused", 1)
				sleepUntil(ctx, time.Now().Add(refusedPause))
			default:
				t.fault(ctx, err)
			}
		}
	})
}

// addList adds a board with a list to the neighbor's workspace and returns the id of the list.
func (h *neighborhood) addList(ctx context.Context) (string, error) {
	c := h.client(h.members[0])
	var b, l fleet.Response
	in := map[string]any{"workspaceId": h.srv.workspace, "name": "Files"}
	if err := c.Do(ctx, "POST", h.srv.Addr, "/boards", cryptorand.Text(), in, &b); err != nil {
		return "", err
	}
	err := c.Do(ctx, "POST", h.srv.Addr, "/boards/"+b.Data.ID+"/lists", cryptorand.Text(), map[string]any{"name": "Files"}, &l)
	return l.Data.ID, err
}
