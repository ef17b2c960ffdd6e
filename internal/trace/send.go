package trace

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

const (
	tries         = 3 // attempts for a batch that the collector temporarily refuses
	firstPause    = time.Second
	pauseMost     = 30 * time.Second // that a collector may request
	complainEvery = time.Minute
)

// send sends spans to the collector. Spans that it refuses are dropped, so that
// tracing cannot fill the server's memory.
func (t *Tracer) send(ctx context.Context, spans []*Span) {
	if len(spans) == 0 {
		return
	}
	body, err := t.packed(spans)
	pause := firstPause
	for try := 1; err == nil; try++ {
		var again time.Duration
		if again, err = t.post(ctx, body); err == nil {
			t.sent.Add(int64(len(spans)))
			return
		}
		if again < 0 || try == tries {
			break
		}
		select {
		case <-time.After(max(again, pause)):
			err = nil
		case <-ctx.Done():
		}
		pause *= 2
	}
	t.lost.Add(int64(len(spans)))
	if time.Since(t.complained) >= complainEvery {
		t.complained = time.Now()
		t.o.Log.Warn("traces not sent to the collector", "spans", len(spans), "lost", t.lost.Load(), "error", err)
	}
}

func (t *Tracer) packed(spans []*Span) ([]byte, error) {
	body := t.encode(spans)
	if !t.o.Gzip {
		return body, nil
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err := w.Write(body)
	if err := errors.Join(err, w.Close()); err != nil {
		return nil, fmt.Errorf("pack: %w", err)
	}
	return packed.Bytes(), nil
}

// post sends one request. After a failure, again is the pause before the next
// attempt, negative for none (OTLP, "Failures" and "OTLP/HTTP Throttling"). Its
// error contains neither the URL nor the headers, which may hold a secret.
func (t *Tracer) post(ctx context.Context, body []byte) (again time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, t.o.Timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, t.o.Endpoint, bytes.NewReader(body))
	if err != nil {
		return -1, errors.New("the collector's URL is not valid")
	}
	for name, value := range t.o.Headers {
		r.Header.Set(name, value)
	}
	r.Header.Set("Content-Type", "application/x-protobuf")
	if t.o.Gzip {
		r.Header.Set("Content-Encoding", "gzip")
	}
	answer, err := t.o.Client.Do(r)
	if err != nil {
		var whole *url.Error
		if errors.As(err, &whole) {
			err = whole.Err
		}
		return 0, fmt.Errorf("send: %w", err)
	}
	defer func() { _ = answer.Body.Close() }()                     // at worst the connection is closed
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 4<<10)) // only to reuse the connection
	switch answer.StatusCode {
	case http.StatusOK, http.StatusAccepted, http.StatusNoContent:
		return 0, nil
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		seconds, _ := strconv.Atoi(answer.Header.Get("Retry-After"))
		return min(time.Duration(max(seconds, 0))*time.Second, pauseMost), fmt.Errorf("the collector responded with %d", answer.StatusCode)
	}
	return -1, fmt.Errorf("the collector responded with %d", answer.StatusCode)
}
