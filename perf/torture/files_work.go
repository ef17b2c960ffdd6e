package main

import (
	"bytes"
	"context"
	cryptorand "crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"cardwall/perf/fleet"
	"cardwall/perf/server"
)

const (
	fileWriters   = 4         // a person can have four uploads in progress
	filesPerCard  = 50        // a card can have 200
	fileBudget    = 400 << 20 // after this number of bytes, a writer sends only small files
	fileDrainTime = 2 * time.Minute
)

// fileWork adds, removes and reads files. It records what was acknowledged.
type fileWork struct {
	*trialRun
	Server *server.Server
	client *fleet.Client
	list   string // id of the list of the cards

	mu      sync.Mutex
	acked   int   // acknowledged uploads and removals
	refused int   // responses with a temporary error
	cut     int   // requests without a response
	bytes   int64 // size of the acknowledged files
	writers []*fileWriter
}

// fileWriter is a writer with its files. A file is removed only by its own writer.
type fileWriter struct {
	*fileWork
	card  string
	sent  int64
	files []*sentFile
}

// sentFile is a file that was sent. Its name is its idempotency key.
type sentFile struct {
	name, card string
	seed       uint64
	size       int
	once       bool   // a failed upload is not repeated, so nobody knows whether the file exists
	id         string // of the attachment, once it is acknowledged
	removed    bool   // the removal was acknowledged
}

// content returns the content, which depends only on the seed and the size.
func (s *sentFile) content() []byte {
	var seed [32]byte
	for i := range 8 {
		seed[i] = byte(s.seed >> (8 * i))
	}
	content := make([]byte, s.size)
	_, _ = rand.NewChaCha8(seed).Read(content)
	return content
}

func hashOf(content []byte) string { return fmt.Sprintf("%x", sha256.Sum256(content)) }

// newFileWork populates an installation, whose server it starts.
func (t *trialRun) newFileWork(n *server.Server) (*fileWork, error) {
	p, err := n.AddPerson(t.ctx, "Ada")
	if err != nil {
		return nil, err
	}
	w := &fileWork{trialRun: t, Server: n, client: fleet.NewClient(p.Token, fleet.RequestTimeout)}
	if err := start(t.ctx, n); err != nil {
		return nil, err
	}
	var board, list fleet.Response
	err = w.client.Do(t.ctx, "POST", n.Addr, "/boards", "", map[string]any{"workspaceId": p.Workspace, "name": "Files"}, &board)
	if err != nil {
		return nil, err
	}
	err = w.client.Do(t.ctx, "POST", n.Addr, "/boards/"+board.Data.ID+"/lists", "", map[string]any{"name": "List"}, &list)
	w.list = list.Data.ID
	return w, err
}

// startWriters starts writers. The returned function waits until each of them has finished its last request.
func (w *fileWork) startWriters() (stop func()) {
	ctx, cancel := context.WithCancel(w.ctx)
	var running sync.WaitGroup
	for range fileWriters {
		v := &fileWriter{fileWork: w}
		w.writers = append(w.writers, v)
		running.Go(func() {
			for ctx.Err() == nil {
				v.write()
				_ = fleet.Sleep(ctx, 20*time.Millisecond)
			}
		})
	}
	return sync.OnceFunc(func() {
		cancel()
		running.Wait()
	})
}

// write adds a file. Sometimes it also removes a file, or reads one back.
func (w *fileWriter) write() {
	if len(w.files)%filesPerCard == 0 || w.card == "" {
		var r fleet.Response
		key := cryptorand.Text()
		if !w.retry("create a card", func(ctx context.Context) error {
			return w.client.Do(ctx, "POST", w.Server.Addr, "/cards", key, map[string]any{"listId": w.list, "title": key}, &r)
		}) {
			return
		}
		w.card = r.Data.ID
	}
	w.add(w.next())
	if s := w.files[rand.IntN(len(w.files))]; s.id != "" && !s.removed {
		switch rand.IntN(3) {
		case 0:
			w.remove(s)
		case 1:
			w.try("read a file", w.read(w.ctx, s))
		}
	}
}

// next returns the next file to send. Some files have the content of an earlier one, which may have been removed.
func (w *fileWriter) next() *sentFile {
	s := &sentFile{name: cryptorand.Text(), card: w.card, seed: rand.Uint64(), once: rand.IntN(6) == 0}
	switch n := rand.IntN(10); {
	case n < 2 && len(w.files) > 0:
		earlier := w.files[rand.IntN(len(w.files))]
		s.seed, s.size = earlier.seed, earlier.size
	case n < 7 || w.sent > fileBudget:
		s.size = rand.IntN(64 << 10)
	case n < 9:
		s.size = rand.IntN(1 << 20)
	default:
		s.size = 1<<20 + rand.IntN(19<<20) // an S3 server gets parts of 8 MB
	}
	return s
}

// add sends a file until it is acknowledged, or only once.
func (w *fileWriter) add(s *sentFile) {
	w.files = append(w.files, s)
	w.sent += int64(s.size)
	content := s.content()
	send := func(ctx context.Context) error { return w.upload(ctx, s, content) }
	if s.once {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(w.ctx), fleet.RequestTimeout)
		defer cancel()
		w.try("add a file", send(ctx))
	} else {
		w.retry("add a file", send)
	}
	if s.id != "" {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.acked++
		w.bytes += int64(s.size)
	}
}

// upload sends a file. It sets the id if the file is acknowledged.
func (w *fileWriter) upload(ctx context.Context, s *sentFile, content []byte) error {
	id, err := w.client.Attach(ctx, w.Server.Addr,
		fleet.File{Card: s.card, Name: s.name, Content: bytes.NewReader(content), Size: int64(len(content))})
	if err == nil {
		s.id = id
	}
	return err
}

// remove removes a file.
func (w *fileWriter) remove(s *sentFile) {
	key := cryptorand.Text()
	s.removed = w.retry("remove a file", func(ctx context.Context) error {
		return w.client.Do(ctx, "DELETE", w.Server.Addr, "/attachments/"+s.id, key, nil, nil)
	})
	if s.removed {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.acked++
	}
}

// errContent means that a file was read completely, but differs from what was sent.
var errContent = errors.New("the content differs from what was sent")

// read reads a file back. It returns errContent if the content is not that which was sent.
func (w *fileWork) read(ctx context.Context, s *sentFile) error {
	res, err := w.client.Open(ctx, "GET", "http://"+w.Server.Addr+"/api/public/v1/attachments/"+s.id+"/content", nil, nil, 0)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	content, err := io.ReadAll(res.Body)
	if err == nil && hashOf(content) != hashOf(s.content()) {
		err = fmt.Errorf("attachment %s: %w", s.id, errContent)
	}
	return err
}

// retry sends a request until it succeeds and reports whether it did. It gives up if the response is an error that is
// not temporary, or after fileDrainTime.
func (w *fileWork) retry(what string, send func(context.Context) error) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(w.ctx), fileDrainTime)
	defer cancel()
	for w.ctx.Err() == nil {
		err := send(ctx)
		if err == nil {
			return true
		}
		if ctx.Err() != nil {
			w.report("%s: not acknowledged within %v", what, fileDrainTime)
			return false
		}
		if !w.try(what, err) {
			return false
		}
		_ = fleet.Sleep(ctx, 50*time.Millisecond)
	}
	return false
}

// try counts the result of a request. It reports whether another attempt may succeed, and records a failure if the
// response is not one that a fault explains.
func (w *fileWork) try(what string, err error) bool {
	var status fleet.StatusError
	switch {
	case err == nil, w.ctx.Err() != nil:
		return false
	case errors.As(err, &status) && (status.Code == http.StatusServiceUnavailable || status.Code == http.StatusTooManyRequests):
		w.mu.Lock()
		defer w.mu.Unlock()
		w.refused++
		return true
	case errors.As(err, &status), errors.Is(err, errContent):
		w.report("%s: %v", what, err)
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut++
	return true
}

// report records a failure of the trial.
func (w *fileWork) report(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fail(format, args...)
}

// count returns a counter.
func (w *fileWork) count(counter *int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return *counter
}
