package hook_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cardwall/internal/app"
	"cardwall/internal/board"
	"cardwall/internal/hook"
)

func TestHangingEndpointDoesNotDelayOthers(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		const boards, rounds = 5, 190 // takes less than ten seconds, so that no hanging attempt times out
		var lists []string
		var receivers []*receiver
		for i := range boards {
			b, l := w.newBoard(w.workspace)
			w.board, lists = b, append(lists, l)
			host := fmt.Sprintf("receiver-%d.test", i)
			receivers = append(receivers, w.receiver(host, nil))
			w.webhook(host)
		}
		hanging := receivers[0]
		hanging.respondWith(hang) // this endpoint gets a fifth of all events
		w.engine()
		createdAt := make([][]time.Time, boards)
		for range rounds {
			for i, list := range lists {
				w.cardIn(list)
				createdAt[i] = append(createdAt[i], time.Now())
			}
			time.Sleep(50 * time.Millisecond)
		}
		synctest.Wait()
		for i, to := range receivers[1:] {
			posts := to.received()
			if len(posts) != rounds {
				t.Fatalf("receiver %d: got %d deliveries, want %d", i+1, len(posts), rounds)
			}
			for k, p := range posts {
				if late := p.at.Sub(createdAt[i+1][k]); late > 50*time.Millisecond {
					t.Fatalf("receiver %d: got delivery %d after %v, want at most 50 ms", i+1, k, late)
				}
			}
		}
		if hanging.maxConcurrent != 8 {
			t.Errorf("hanging receiver: got %d concurrent attempts, want 8", hanging.maxConcurrent)
		}
	})
}

func TestAtMostEightAttemptsPerEndpointAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		to := w.receiver("receiver.test", func(_ int, _ http.ResponseWriter, _ *http.Request) { time.Sleep(time.Second) })
		h := w.webhook("receiver.test")
		w.engine(unpaced)
		w.cards(100)
		advance(12*time.Second + 500*time.Millisecond)
		if n := len(to.received()); n != 100 || to.maxConcurrent != 8 {
			t.Errorf("got %d deliveries with %d concurrent attempts, want 100 with 8", n, to.maxConcurrent)
		}
		advance(time.Second)
		for _, d := range w.deliveries(h.ID) {
			if d.Status != board.DeliveryDelivered || d.Attempts != 1 {
				t.Errorf("got %s after %d attempts, want delivered after 1", d.Status, d.Attempts)
			}
		}
	})
}

// The attempts of 256 endpoints take all places. Meanwhile, each of 300 other endpoints gets eight
// deliveries. When the places become free, all deliveries are waiting, so the order in which they
// were read does not matter, and the endpoints must share the places equally.
func TestEndpointsShareLimitedConcurrency(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		const maxAttempts, each, first, second = 2048, 8, 256, 300
		endpoints := func(name string, n int) (create func()) {
			var lists []string
			for begin := 0; begin < n; begin += 100 { // a workspace can have 100 webhooks
				workspace := do(w, w.ada, app.AddWorkspace, app.NewWorkspace{Name: "Large", Plan: board.PlanBusiness}).ID
				_, list := w.newBoard(workspace)
				lists = append(lists, list)
				for i := begin; i < min(begin+100, n); i++ {
					w.webhookFor(w.ada, app.CreateWebhookInput{URL: fmt.Sprintf("https://%s-%d.example.com", name, i),
						WorkspaceID: workspace, Events: created})
				}
			}
			return func() {
				for _, list := range lists {
					w.cardsIn(list, each)
				}
				synctest.Wait()
			}
		}
		fill, wait := endpoints("first", first), endpoints("second", second)
		var mu sync.Mutex
		dials := map[string]int{}
		release := make(chan struct{})
		stop := w.engine(func(o *hook.Options) {
			o.Rate = -1
			o.Dial = func(ctx context.Context, _, address string) (net.Conn, error) {
				mu.Lock()
				dials[address]++
				mu.Unlock()
				select {
				case <-release:
					if strings.HasPrefix(address, "first-") {
						return nil, errors.New("released")
					}
				case <-ctx.Done():
					return nil, ctx.Err()
				}
				<-ctx.Done()
				return nil, ctx.Err()
			}
		})
		check := func(what, prefix string, endpoints int) {
			t.Helper()
			mu.Lock()
			defer mu.Unlock()
			sum, reached := 0, 0
			for address, n := range dials {
				if !strings.HasPrefix(address, prefix) {
					continue
				}
				sum, reached = sum+n, reached+1
				if least := maxAttempts / endpoints; n < least || n > least+1 {
					t.Errorf("%s: %s has %d attempts, want %d or %d", what, address, n, least, least+1)
				}
			}
			if sum != maxAttempts || reached != endpoints {
				t.Errorf("%s: got %d attempts to %d endpoints, want %d to %d", what, sum, reached, maxAttempts, endpoints)
			}
		}
		fill()
		check("before the release", "first-", first)
		wait()
		close(release)
		advance(time.Second) // less than the pause before a retry
		check("after the release", "second-", second)
		stop()
	})
}

func TestFirstAttemptsPrecedeRetries(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		const earlier, failing, later = 30, 20, 60
		to := w.receiver("receiver.test", func(nth int, w http.ResponseWriter, _ *http.Request) {
			if nth < earlier && nth%3 < 2 { // too few failures in a row to hold the webhook
				w.WriteHeader(500)
			}
		})
		w.webhook("receiver.test")
		w.engine()
		w.cards(earlier)
		advance(29 * time.Second)
		w.cards(later) // at 25 per second, some are still waiting when the retries are due
		advance(time.Minute)
		seen := map[string]bool{}
		retries, firstAttempts := 0, 0
		for i, p := range to.received() {
			switch {
			case seen[p.id]:
				retries++
			case retries > 0:
				t.Fatalf("got request %d, a first attempt, after %d retries; want it before all retries", i, retries)
			case i >= earlier:
				firstAttempts++
			}
			seen[p.id] = true
		}
		if retries != failing || firstAttempts != later {
			t.Errorf("got %d first attempts and then %d retries, want %d and %d", firstAttempts, retries, later, failing)
		}
		if last := to.received()[earlier+later-1].at.Sub(to.received()[0].at); last < 31*time.Second {
			t.Errorf("the last first attempt arrived after %v, want at least 31 s, when the retries are already due", last)
		}
	})
}

func TestEndpointRateIs25PerSecondAndAtMost30(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		const n = 200
		to := w.receiver("receiver.test", nil)
		w.webhook("receiver.test")
		w.engine()
		w.cards(n)
		advance(time.Minute)
		posts := to.received()
		if len(posts) != n {
			t.Fatalf("got %d deliveries, want %d", len(posts), n)
		}
		most := 0
		for i := range posts {
			k := i
			for k < n && posts[k].at.Sub(posts[i].at) < time.Second {
				k++
			}
			most = max(most, k-i)
		}
		if most > 30 {
			t.Errorf("got %d deliveries in one second, want at most 30", most)
		}
		took := posts[n-1].at.Sub(posts[0].at)
		if want := (n - 5) * 40 * time.Millisecond; took < want || took > want+100*time.Millisecond {
			t.Errorf("%d deliveries took %v, want %v and at most 100 ms more", n, took, want)
		}
		if burst := posts[5].at.Sub(posts[0].at); burst == 0 || !posts[4].at.Equal(posts[0].at) {
			t.Errorf("the fifth delivery arrived after %v and the sixth after %v, want a pause only before the sixth",
				posts[4].at.Sub(posts[0].at), burst)
		}
	})
}

func TestFailingReceiverGetsOneProbeAtATime(t *testing.T) {
	for name, failing := range map[string]func(int, http.ResponseWriter, *http.Request){"500": always(500),
		"timeout": hang} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				to := w.receiver("receiver.test", failing)
				h := w.webhook("receiver.test")
				w.engine()
				w.card()
				advance(11 * time.Second)
				w.card()
				advance(11 * time.Second)
				w.wantNotHeld(h.ID)
				w.card() // the first delivery is also retried in this time
				advance(11 * time.Second)
				held := w.stored(h.ID).HeldSince
				if held == nil {
					t.Fatal("after three consecutive failures: got heldSince nil, want a time")
				}
				sent := len(to.received())
				w.cards(40)
				advance(2 * time.Minute)
				for _, p := range to.received()[sent:] {
					if p.concurrent > 0 {
						t.Errorf("got a probe during %d other attempts, want it alone", p.concurrent)
					}
				}
				probes := len(to.received()) - sent
				if probes < 3 || probes > 12 {
					t.Errorf("got %d probes in two minutes, want 3 to 12", probes)
				}
				waiting := 0
				for _, d := range w.deliveries(h.ID) {
					if d.Attempts == 0 && d.Status == board.DeliveryPending && d.Reason == "held: receiver failing" {
						waiting++
					}
				}
				if waiting < 40-probes {
					t.Errorf("got %d held deliveries without an attempt, want at least %d", waiting, 40-probes)
				}
				to.respondWith(nil)
				sent = len(to.received())
				advance(45 * time.Second)
				w.wantNotHeld(h.ID)
				posts := to.received()[sent:]
				if len(posts) < 40 {
					t.Fatalf("got %d deliveries after the recovery, want at least 40", len(posts))
				}
				if gap := posts[39].at.Sub(posts[0].ended); gap > 3*time.Second {
					t.Errorf("forty deliveries took %v after the first response, want at most 3 s", gap)
				}
				advance(time.Hour)
				for _, d := range w.deliveries(h.ID) {
					if d.Status != board.DeliveryDelivered {
						t.Errorf("got a delivery with status %s, want %s", d.Status, board.DeliveryDelivered)
					}
				}
			})
		})
	}
}

// wantNotHeld checks that the deliveries of a webhook are not held.
func (w *world) wantNotHeld(id string) {
	w.t.Helper()
	if since := w.stored(id).HeldSince; since != nil {
		w.t.Errorf("got deliveries held since %v, want none held", since.Time())
	}
}

func TestClientErrorResetsReceiverFailures(t *testing.T) {
	for _, status := range []int{400, 404, 301} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				to := w.receiver("receiver.test", sequence(500, 500, status, 500, 500, status))
				h := w.webhook("receiver.test")
				w.engine()
				for range 9 {
					w.card()
					advance(time.Second)
				}
				w.wantNotHeld(h.ID)
				if n := len(to.received()); n != 9 {
					t.Errorf("got %d deliveries, want 9", n)
				}
			})
		})
	}
}

func TestTestEventIsNotHeld(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		to := w.receiver("receiver.test", always(500))
		h := w.webhook("receiver.test")
		w.engine()
		w.cards(20)
		advance(5 * time.Minute)
		if w.stored(h.ID).HeldSince == nil {
			t.Fatal("got heldSince nil, want a time")
		}
		test := do(w, w.ada, app.TestWebhook, webhookInput(h.ID)).ID
		advance(0)
		if ids := to.ids(); ids[len(ids)-1] != test {
			t.Error("got no test event, want it to be sent while other deliveries are held")
		}
	})
}

func TestRecoveredReceiverIsNotHeldByTheNextServer(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		to := w.receiver("receiver.test", always(500))
		h := w.webhook("receiver.test")
		stop := w.engine()
		w.cards(10)
		advance(5 * time.Minute)
		if w.stored(h.ID).HeldSince == nil {
			t.Fatal("got heldSince nil, want a time")
		}
		stop()
		to.respondWith(nil)
		w.engine()
		advance(time.Minute)
		w.wantNotHeld(h.ID)
	})
}

func TestUnreadableSecretDoesNotDelayOtherWebhooks(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		broken := w.webhook("broken.test")
		to := w.receiver("receiver.test", nil)
		h := w.webhook("receiver.test")
		w.sql("UPDATE webhooks SET secret = $1 WHERE id = $2", []byte("damaged"), broken.ID)
		w.cards(3)
		w.engine()
		advance(time.Second)
		if n := len(to.received()); n != 3 {
			t.Errorf("got %d deliveries, want 3", n)
		}
		w.wantStatus(h.ID, board.DeliveryDelivered, board.DeliveryDelivered, board.DeliveryDelivered)
		for _, d := range w.deliveries(broken.ID) {
			if d.Status != board.DeliveryFailed ||
				d.Reason != "refused: the webhook's address or secret cannot be opened with the server's key" {
				t.Errorf("broken secret: got %s with reason %q, want failed because it cannot be opened", d.Status, d.Reason)
			}
		}
	})
}
