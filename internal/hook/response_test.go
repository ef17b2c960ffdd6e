package hook_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"cardwall/internal/app"
	"cardwall/internal/board"
)

// request reads a whole request from a connection and reports whether that succeeded.
func request(c net.Conn) bool {
	r, err := http.ReadRequest(bufio.NewReader(c))
	if err != nil {
		return false
	}
	_, err = io.Copy(io.Discard, r.Body)
	return err == nil
}

// send writes text to a connection and reports whether that succeeded.
func send(c net.Conn, text string) bool {
	_, err := io.WriteString(c, text)
	return err == nil
}

// drain reads from a connection until the peer closes it.
func drain(c net.Conn) { _, _ = io.Copy(io.Discard, c) }

// logEntry is the expected log entry of an attempt.
type logEntry struct {
	status  board.DeliveryStatus
	outcome string
	body    string        // start of the response body
	min     time.Duration // minimum duration of the attempt
	max     time.Duration // maximum duration of the attempt
}

// wantLogEntry checks that the log of a delivery has exactly one attempt, with the expected result.
func (w *world) wantLogEntry(d board.DeliveryDetail, want logEntry) {
	w.t.Helper()
	if len(d.Log) != 1 {
		w.t.Fatalf("got %d attempts, want 1: %+v", len(d.Log), d.Delivery)
	}
	a := d.Log[0]
	if d.Status != want.status || a.Outcome != want.outcome || !strings.HasPrefix(a.Answer, want.body) {
		w.t.Errorf("got status %s, outcome %q, body %q; want %s, %q, %q", d.Status, a.Outcome, a.Answer, want.status,
			want.outcome, want.body)
	}
	if len(a.Answer) > 1<<10 {
		w.t.Errorf("got %d bytes of the response body, want at most %d", len(a.Answer), 1<<10)
	}
	if took := time.Duration(a.Duration) * time.Millisecond; took < want.min || took > want.max {
		w.t.Errorf("the attempt took %v, want %v to %v", took, want.min, want.max)
	}
}

const noResponse = "timeout: no response within 10 s"

func TestAttemptsTimeOut(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\n"
	drip := func(c net.Conn, text string, pause time.Duration) {
		for send(c, text) {
			time.Sleep(pause)
		}
	}
	for _, c := range []struct {
		name  string
		serve func(net.Conn)
		want  logEntry
	}{
		{"accepts the connection and reads nothing", func(net.Conn) { time.Sleep(time.Minute) },
			logEntry{board.DeliveryRetry, noResponse, "", 10 * time.Second, 10 * time.Second}},
		{"reads and sends nothing", drain,
			logEntry{board.DeliveryRetry, noResponse, "", 10 * time.Second, 10 * time.Second}},
		{"sends its headers byte by byte", func(c net.Conn) {
			if !request(c) { // a response must not begin before the request ends
				return
			}
			for _, b := range ok + "X-Slow: " + strings.Repeat("a", 100) + "\r\n\r\n" {
				if !send(c, string(b)) {
					return
				}
				time.Sleep(time.Second)
			}
		}, logEntry{board.DeliveryRetry, noResponse, "", 10 * time.Second, 10 * time.Second}},
		{"sends 1xx responses endlessly", func(c net.Conn) {
			if request(c) {
				drip(c, "HTTP/1.1 102 Processing\r\n\r\n", time.Second)
			}
		}, logEntry{board.DeliveryRetry, noResponse, "", 10 * time.Second, 10 * time.Second}},
		{"sends its headers at the last moment", func(c net.Conn) {
			if request(c) {
				time.Sleep(10*time.Second - time.Millisecond)
				send(c, ok+"Content-Length: 2\r\n\r\nok")
			}
		}, logEntry{board.DeliveryDelivered, "HTTP 200", "ok", 9999 * time.Millisecond, 10 * time.Second}},
		{"sends a body that never ends", func(c net.Conn) {
			if request(c) && send(c, ok+"\r\n") {
				drip(c, "z", 100*time.Millisecond)
			}
		}, logEntry{board.DeliveryDelivered, "HTTP 200", "zzzz", 0, time.Millisecond}},
		{"sends a body that stops", func(c net.Conn) {
			if request(c) && send(c, ok+"Content-Length: 1000\r\n\r\nsome") {
				drain(c)
			}
		}, logEntry{board.DeliveryDelivered, "HTTP 200", "some", 0, time.Millisecond}},
		{"sends an error status and a chunked body that never ends", func(c net.Conn) {
			if request(c) && send(c, "HTTP/1.1 500 Oops\r\nTransfer-Encoding: chunked\r\n\r\n") {
				drip(c, "1\r\nz\r\n", 100*time.Millisecond)
			}
		}, logEntry{board.DeliveryRetry, "HTTP 500", "zzzz", 0, time.Millisecond}},
		{"switches protocols, then sends nothing", func(c net.Conn) {
			if request(c) && send(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n") {
				drain(c)
			}
		}, logEntry{board.DeliveryFailed, "HTTP 101", "", 0, time.Millisecond}},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				w.raw("receiver.test", c.serve)
				h := w.webhook("receiver.test")
				stop := w.engine()
				w.card()
				advance(13 * time.Second) // 10 for the headers, 2 for the body
				w.wantLogEntry(w.onlyDelivery(h.ID), c.want)
				stopping := time.Now()
				stop()
				if took := time.Since(stopping); took > 0 {
					t.Errorf("stopping took %v, want no time, because no attempt is running", took)
				}
			})
		})
	}
}

func TestEndlessBodyOccupiesItsSlotForTwoSeconds(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		began := make(chan time.Time, 9)
		w.raw("receiver.test", func(c net.Conn) {
			if !request(c) {
				return
			}
			began <- time.Now()
			for text := "HTTP/1.1 200 OK\r\n\r\n"; send(c, text); text = "z" {
				time.Sleep(100 * time.Millisecond)
			}
		})
		w.webhook("receiver.test")
		w.engine(unpaced)
		w.cards(9)
		advance(time.Minute)
		first, last := <-began, time.Time{}
		for range 8 {
			last = <-began
		}
		if took := last.Sub(first); took != 2*time.Second {
			t.Errorf("the ninth attempt began %v after the first, want 2 s", took)
		}
	})
}

func TestLogExplainsMissingResponses(t *testing.T) {
	for _, c := range []struct {
		name    string
		serve   func(net.Conn)
		outcome string
	}{
		{"closed after the request", func(c net.Conn) { request(c) }, "the connection was closed before a response"},
		{"closed in the middle of the headers", func(c net.Conn) { _ = request(c) && send(c, "HTTP/1.1 200 OK\r\n") },
			"the connection was closed before a response"},
		{"not HTTP", func(c net.Conn) { _ = request(c) && send(c, "220 mail.test ESMTP ready\r\n\r\n") },
			"the response is not valid HTTP"},
		{"no listener", nil, "connection refused"},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				if c.serve != nil {
					w.raw("receiver.test", c.serve)
				} else {
					_ = w.listen("receiver.test").Close()
				}
				h := w.webhook("receiver.test")
				w.engine()
				w.card()
				advance(time.Second)
				w.wantLogEntry(w.onlyDelivery(h.ID), logEntry{board.DeliveryRetry, c.outcome, "", 0, time.Millisecond})
			})
		})
	}
}

func TestEarlyResponseIsAccepted(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.raw("receiver.test", func(c net.Conn) {
			_, _ = c.Read(make([]byte, 1))
			go drain(c)
			send(c, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nearly")
			time.Sleep(time.Second)
		})
		h := w.webhook("receiver.test")
		w.engine()
		w.card()
		advance(5 * time.Second)
		w.wantLogEntry(w.onlyDelivery(h.ID), logEntry{board.DeliveryDelivered, "HTTP 200", "early", 0, time.Millisecond})
	})
}

func TestLogKeepsTheFirstKilobyteOfAResponse(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.receiver("receiver.test", func(_ int, w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(400)
			_, _ = io.WriteString(w, "a\x00b\xff"+strings.Repeat("é", 5000))
		})
		h := w.webhook("receiver.test")
		w.engine()
		w.card()
		advance(time.Second)
		if got := w.onlyDelivery(h.ID).Log[0].Answer; !strings.HasPrefix(got, "ab\uFFFDéé") || len(got) > 1<<10+8 ||
			len(got) < 1<<10-8 {
			t.Errorf("got %d bytes %.20q, want about 1 KiB without invalid characters", len(got), got)
		}
	})
}

func TestConnectionsAreReused(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		conns := make(chan net.Conn, 100)
		w.raw("receiver.test", func(c net.Conn) {
			conns <- c
			in := bufio.NewReader(c)
			for {
				r, err := http.ReadRequest(in)
				if err != nil {
					return
				}
				_, _ = io.Copy(io.Discard, r.Body)
				send(c, fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", 15<<10, strings.Repeat("a", 15<<10)))
			}
		})
		h := w.webhook("receiver.test")
		w.engine()
		for range 20 {
			w.card()
			advance(time.Second)
		}
		if n := len(conns); n != 1 {
			t.Errorf("got %d connections for 20 deliveries, want 1", n)
		}
		if n := len(w.deliveries(h.ID)); n != 20 {
			t.Errorf("got %d deliveries, want 20", n)
		}
	})
}

func TestSlowAttemptIsShownAsDeliveringUntilItEnds(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.receiver("slow.test", func(_ int, w http.ResponseWriter, _ *http.Request) {
			time.Sleep(5 * time.Second)
			w.WriteHeader(500)
		})
		h := w.webhook("slow.test")
		w.receiver("busy.test", nil)
		busy, list := w.newBoard(w.workspace)
		w.webhookFor(w.ada, app.CreateWebhookInput{URL: "http://busy.test/in", BoardID: busy, Events: created})
		w.engine()
		w.card()
		for range 25 { // deliveries to other receivers must not change the result
			w.cardIn(list)
			advance(100 * time.Millisecond)
		}
		if d := w.onlyDelivery(h.ID); d.Status != board.DeliveryDelivering || d.Reason != "" {
			t.Errorf("after 2.5 s: got %s with reason %q, want delivering", d.Status, d.Reason)
		}
		advance(5 * time.Second)
		w.wantStatus(h.ID, board.DeliveryRetry)
	})
}
