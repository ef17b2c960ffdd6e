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

// request reads a request from a connection to its end and reports whether that succeeded.
func request(c net.Conn) bool {
	r, err := http.ReadRequest(bufio.NewReader(c))
	if err != nil {
		return false
	}
	_, err = io.Copy(io.Discard, r.Body)
	return err == nil
}

// say writes a text to a connection and reports whether that succeeded.
func say(c net.Conn, text string) bool {
	_, err := io.WriteString(c, text)
	return err == nil
}

// until reads from a connection until the other side closes it.
func until(c net.Conn) { _, _ = io.Copy(io.Discard, c) }

// ending is the expected result of an attempt in the log.
type ending struct {
	status  board.DeliveryStatus
	outcome string
	answer  string        // beginning of the response body
	least   time.Duration // minimum duration of the attempt
	most    time.Duration
}

func (w *world) wantEnding(d board.DeliveryDetail, want ending) {
	w.t.Helper()
	if len(d.Log) != 1 {
		w.t.Fatalf("there were %d attempts, want 1: %+v", len(d.Log), d.Delivery)
	}
	a := d.Log[0]
	if d.Status != want.status || a.Outcome != want.outcome || !strings.HasPrefix(a.Answer, want.answer) {
		w.t.Errorf("the delivery is %s, and the log says %q, %q; want %s, %q, %q", d.Status, a.Outcome, a.Answer, want.status,
			want.outcome, want.answer)
	}
	if len(a.Answer) > 1<<10 {
		w.t.Errorf("%d bytes of the response are kept", len(a.Answer))
	}
	if took := time.Duration(a.Duration) * time.Millisecond; took < want.least || took > want.most {
		w.t.Errorf("it took %v, want %v to %v", took, want.least, want.most)
	}
}

const noAnswer = "timeout: no response within 10 s"

func TestAttemptsTimeOut(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\n"
	drip := func(c net.Conn, text string, pause time.Duration) {
		for say(c, text) {
			time.Sleep(pause)
		}
	}
	for _, c := range []struct {
		name  string
		serve func(net.Conn)
		want  ending
	}{
		{"accepts the connection and reads nothing", func(net.Conn) { time.Sleep(time.Minute) },
			ending{board.DeliveryRetry, noAnswer, "", 10 * time.Second, 10 * time.Second}},
		{"reads and sends nothing", until,
			ending{board.DeliveryRetry, noAnswer, "", 10 * time.Second, 10 * time.Second}},
		{"sends its headers byte by byte", func(c net.Conn) {
			if !request(c) { // bytes before the request would not be a response to it
				return
			}
			for _, b := range ok + "X-Slow: " + strings.Repeat("a", 100) + "\r\n\r\n" {
				if !say(c, string(b)) {
					return
				}
				time.Sleep(time.Second)
			}
		}, ending{board.DeliveryRetry, noAnswer, "", 10 * time.Second, 10 * time.Second}},
		{"sends 1xx responses without end", func(c net.Conn) {
			if request(c) {
				drip(c, "HTTP/1.1 102 Processing\r\n\r\n", time.Second)
			}
		}, ending{board.DeliveryRetry, noAnswer, "", 10 * time.Second, 10 * time.Second}},
		{"sends its headers at the last moment", func(c net.Conn) {
			if request(c) {
				time.Sleep(10*time.Second - time.Millisecond)
				say(c, ok+"Content-Length: 2\r\n\r\nok")
			}
		}, ending{board.DeliveryDelivered, "HTTP 200", "ok", 9999 * time.Millisecond, 10 * time.Second}},
		{"sends a body that never ends", func(c net.Conn) {
			if request(c) && say(c, ok+"\r\n") {
				drip(c, "z", 100*time.Millisecond)
			}
		}, ending{board.DeliveryDelivered, "HTTP 200", "zzzz", 0, time.Millisecond}},
		{"sends a body that stops", func(c net.Conn) {
			if request(c) && say(c, ok+"Content-Length: 1000\r\n\r\nsome") {
				until(c)
			}
		}, ending{board.DeliveryDelivered, "HTTP 200", "some", 0, time.Millisecond}},
		{"sends headers in chunks that never end, with an error", func(c net.Conn) {
			if request(c) && say(c, "HTTP/1.1 500 Oops\r\nTransfer-Encoding: chunked\r\n\r\n") {
				drip(c, "1\r\nz\r\n", 100*time.Millisecond)
			}
		}, ending{board.DeliveryRetry, "HTTP 500", "zzzz", 0, time.Millisecond}},
		{"switches protocols, then sends nothing", func(c net.Conn) {
			if request(c) && say(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: mill\r\n\r\n") {
				until(c)
			}
		}, ending{board.DeliveryFailed, "HTTP 101", "", 0, time.Millisecond}},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				w.raw("receiver.test", c.serve)
				h := w.webhook("receiver.test")
				stop := w.engine()
				w.card()
				pass(13 * time.Second) // 10 for the headers, 2 for the body
				w.wantEnding(w.only(h.ID), c.want)
				stopping := time.Now()
				stop()
				if took := time.Since(stopping); took > 0 {
					t.Errorf("part of the attempt was still running %v later", took)
				}
			})
		})
	}
}

func TestEndlessBodyHoldsItsSlotTwoSeconds(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		began := make(chan time.Time, 9)
		w.raw("receiver.test", func(c net.Conn) {
			if !request(c) {
				return
			}
			began <- time.Now()
			for text := "HTTP/1.1 200 OK\r\n\r\n"; say(c, text); text = "z" {
				time.Sleep(100 * time.Millisecond)
			}
		})
		w.webhook("receiver.test")
		w.engine(unpaced)
		w.cards(9)
		pass(time.Minute)
		first, last := <-began, time.Time{}
		for range 8 {
			last = <-began
		}
		if took := last.Sub(first); took != 2*time.Second {
			t.Errorf("the ninth waited %v for one of eight to end, want 2 s", took)
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
		{"closed within the headers", func(c net.Conn) { _ = request(c) && say(c, "HTTP/1.1 200 OK\r\n") },
			"the connection was closed before a response"},
		{"not HTTP", func(c net.Conn) { _ = request(c) && say(c, "220 mail.test ESMTP ready\r\n\r\n") },
			"the response is not valid HTTP"},
		{"nobody listens", nil, "connection refused"},
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
				pass(time.Second)
				w.wantEnding(w.only(h.ID), ending{board.DeliveryRetry, c.outcome, "", 0, time.Millisecond})
			})
		})
	}
}

func TestResponseBeforeTheRequestIsReadCounts(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.raw("receiver.test", func(c net.Conn) {
			_, _ = c.Read(make([]byte, 1))
			go until(c)
			say(c, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nearly")
			time.Sleep(time.Second)
		})
		h := w.webhook("receiver.test")
		w.engine()
		w.card()
		pass(5 * time.Second)
		w.wantEnding(w.only(h.ID), ending{board.DeliveryDelivered, "HTTP 200", "early", 0, time.Millisecond})
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
		pass(time.Second)
		if got := w.only(h.ID).Log[0].Answer; !strings.HasPrefix(got, "ab\uFFFDéé") || len(got) > 1<<10+8 ||
			len(got) < 1<<10-8 {
			t.Errorf("%d bytes are kept: %.20q", len(got), got)
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
				say(c, fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", 15<<10, strings.Repeat("a", 15<<10)))
			}
		})
		h := w.webhook("receiver.test")
		w.engine()
		for range 20 {
			w.card()
			pass(time.Second)
		}
		if n := len(conns); n != 1 {
			t.Errorf("20 deliveries took %d connections, want 1", n)
		}
		if n := len(w.deliveries(h.ID)); n != 20 {
			t.Errorf("there are %d deliveries, want 20", n)
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
		for range 25 { // other deliveries must not change the result
			w.cardIn(list)
			pass(100 * time.Millisecond)
		}
		if d := w.only(h.ID); d.Status != board.DeliveryDelivering || d.Reason != "" {
			t.Errorf("after 2.5 s it is shown as %s: %q", d.Status, d.Reason)
		}
		pass(5 * time.Second)
		w.wantStatus(h.ID, board.DeliveryRetry)
	})
}
