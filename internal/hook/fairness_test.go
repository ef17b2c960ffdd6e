package hook_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cardwall/internal/app"
	"cardwall/internal/board"
	"cardwall/internal/hook"
)

func TestHangingEndpointDelaysNoOther(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		const boards, rounds = 5, 190 // less than ten seconds, so that no hanging attempt times out
		var lists []string
		var receivers []*receiver
		for i := range boards {
			b, l := w.newBoard(w.workspace)
			w.board, lists = b, append(lists, l)
			host := fmt.Sprintf("receiver-%d.test", i)
			receivers = append(receivers, w.receiver(host, nil))
			w.webhook(host)
		}
		bad := receivers[0]
		bad.then(hang) // a fifth of all events
		w.engine()
		made := make([][]time.Time, boards)
		for range rounds {
			for i, list := range lists {
				w.cardIn(list)
				made[i] = append(made[i], time.Now())
			}
			time.Sleep(50 * time.Millisecond)
		}
		synctest.Wait()
		for i, to := range receivers[1:] {
			posts := to.seen()
			if len(posts) != rounds {
				t.Fatalf("receiver %d got %d deliveries of %d", i+1, len(posts), rounds)
			}
			for k, p := range posts {
				if late := p.at.Sub(made[i+1][k]); late > 50*time.Millisecond {
					t.Fatalf("receiver %d got delivery %d after %v", i+1, k, late)
				}
			}
		}
		if bad.most != 8 {
			t.Errorf("the hanging receiver had %d attempts at once, want 8", bad.most)
		}
	})
}

func TestAtMostEightAttemptsPerEndpointAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		to := w.receiver("receiver.test", func(_ int, _ http.ResponseWriter, _ *http.Request) { time.Sleep(time.Second) })
		h := w.webhook("receiver.test")
		w.engine(unpaced)
		w.cards(100)
		pass(12*time.Second + 500*time.Millisecond)
		if n := len(to.seen()); n != 100 || to.most != 8 {
			t.Errorf("%d of 100 were sent in thirteen seconds, %d at once, want 8 at once", n, to.most)
		}
		pass(time.Second)
		for _, d := range w.deliveries(h.ID) {
			if d.Status != board.DeliveryDelivered || d.Attempts != 1 {
				t.Errorf("a delivery is %s after %d attempts", d.Status, d.Attempts)
			}
		}
	})
}

func TestEndpointsShareLimitedConcurrency(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		// At most 2,048 attempts run at once. The 300 endpoints could use 8 each.
		const endpoints, room = 300, 2048
		for i := range 3 {
			space := do(w, w.ada, app.AddWorkspace, app.NewWorkspace{Name: "Large", Plan: board.PlanBusiness}).ID
			_, list := w.newBoard(space)
			for k := range endpoints / 3 {
				w.webhookFor(w.ada, app.CreateWebhookInput{URL: fmt.Sprintf("https://receiver-%d-%d.example.com", i, k),
					WorkspaceID: space, Events: created})
			}
			w.cardsIn(list, 8)
		}
		var mu sync.Mutex
		dials := map[string]int{}
		stop := w.engine(func(o *hook.Options) {
			o.Pace = -1
			o.Dial = func(ctx context.Context, _, address string) (net.Conn, error) {
				mu.Lock()
				dials[address]++
				mu.Unlock()
				<-ctx.Done()
				return nil, ctx.Err()
			}
		})
		pass(9 * time.Second)
		mu.Lock()
		sum := 0
		for address, n := range dials {
			sum += n
			if n < 4 { // those read first from the outbox have more
				t.Errorf("%s has %d running attempts, want at least %d", address, n, room/endpoints)
			}
		}
		if len(dials) != endpoints || sum != room {
			t.Errorf("%d attempts are running to %d endpoints, want %d to %d", sum, len(dials), room, endpoints)
		}
		mu.Unlock()
		stop()
	})
}

func TestFirstAttemptsGoBeforeRetries(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		const old, failing, fresh = 30, 20, 60
		to := w.receiver("receiver.test", func(nth int, w http.ResponseWriter, _ *http.Request) {
			if nth < old && nth%3 < 2 { // too few failures in a row to hold the webhook
				w.WriteHeader(500)
			}
		})
		w.webhook("receiver.test")
		w.engine()
		w.cards(old)
		pass(29 * time.Second)
		w.cards(fresh) // at 25 a second they are not finished when the retries are due
		pass(time.Minute)
		seen := map[string]bool{}
		retries, before := 0, 0
		for i, p := range to.seen() {
			switch {
			case seen[p.id]:
				retries++
			case retries > 0:
				t.Fatalf("first attempt %d was sent after %d retries", i, retries)
			case i >= old:
				before++
			}
			seen[p.id] = true
		}
		if retries != failing || before != fresh {
			t.Errorf("%d first attempts and then %d retries, want %d and %d", before, retries, fresh, failing)
		}
		if last := to.seen()[old+fresh-1].at.Sub(to.seen()[0].at); last < 31*time.Second {
			t.Errorf("no retry was due before the last first attempt at %v, so this test proves nothing", last)
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
		pass(time.Minute)
		posts := to.seen()
		if len(posts) != n {
			t.Fatalf("%d of %d deliveries arrived", len(posts), n)
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
			t.Errorf("%d deliveries arrived in one second, want at most 30", most)
		}
		took := posts[n-1].at.Sub(posts[0].at)
		if want := (n - 5) * 40 * time.Millisecond; took < want || took > want+100*time.Millisecond {
			t.Errorf("%d deliveries took %v, want %v", n, took, want)
		}
		if burst := posts[5].at.Sub(posts[0].at); burst == 0 || !posts[4].at.Equal(posts[0].at) {
			t.Errorf("the first five took %v, and the sixth arrived after %v; want five at once",
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
				pass(11 * time.Second)
				w.card()
				pass(11 * time.Second)
				w.wantFlowing(h.ID)
				w.card() // the first delivery's retry is sent too
				pass(11 * time.Second)
				held := w.stored(h.ID).HeldSince
				if held == nil {
					t.Fatal("after three consecutive failures the webhook is not held")
				}
				sent := len(to.seen())
				w.cards(40)
				pass(2 * time.Minute)
				for _, p := range to.seen()[sent:] {
					if p.during > 0 {
						t.Errorf("a probe was sent while %d other attempts were running", p.during)
					}
				}
				probes := len(to.seen()) - sent
				if probes < 3 || probes > 12 {
					t.Errorf("there were %d probes in two minutes", probes)
				}
				waiting := 0
				for _, d := range w.deliveries(h.ID) {
					if d.Attempts == 0 && d.Status == board.DeliveryPending && d.Reason == "held: receiver failing" {
						waiting++
					}
				}
				if waiting < 40-probes {
					t.Errorf("%d deliveries wait with all their attempts left, want %d", waiting, 40-probes)
				}
				to.then(nil)
				sent = len(to.seen())
				pass(45 * time.Second)
				w.wantFlowing(h.ID)
				posts := to.seen()[sent:]
				if len(posts) < 40 {
					t.Fatalf("after the first response %d were sent", len(posts))
				}
				if gap := posts[39].at.Sub(posts[0].ended); gap > 3*time.Second {
					t.Errorf("forty deliveries took %v from the first response, which is too fast or too slow", gap)
				}
				pass(time.Hour)
				for _, d := range w.deliveries(h.ID) {
					if d.Status != board.DeliveryDelivered {
						t.Errorf("in the end a delivery is %s, want %s", d.Status, board.DeliveryDelivered)
					}
				}
			})
		})
	}
}

// wantFlowing checks that the deliveries of a webhook are not held.
func (w *world) wantFlowing(id string) {
	w.t.Helper()
	if since := w.stored(id).HeldSince; since != nil {
		w.t.Errorf("deliveries are held since %v", since.Time())
	}
}

func TestClientErrorResponseIsNotAReceiverFailure(t *testing.T) {
	for _, status := range []int{400, 404, 301} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				to := w.receiver("receiver.test", each(500, 500, status, 500, 500, status))
				h := w.webhook("receiver.test")
				w.engine()
				for range 9 {
					w.card()
					pass(time.Second)
				}
				w.wantFlowing(h.ID)
				if n := len(to.seen()); n != 9 {
					t.Errorf("%d of 9 were sent, want 9", n)
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
		pass(5 * time.Minute)
		if w.stored(h.ID).HeldSince == nil {
			t.Fatal("the webhook is not held")
		}
		test := do(w, w.ada, app.TestWebhook, named(h.ID)).ID
		pass(0)
		if ids := to.ids(); ids[len(ids)-1] != test {
			t.Error("the test event waits with the other deliveries")
		}
	})
}

func TestRecoveredReceiverIsNotHeldByTheNextServer(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		to := w.receiver("receiver.test", always(500))
		h := w.webhook("receiver.test")
		stop := w.engine()
		w.cards(10)
		pass(5 * time.Minute)
		if w.stored(h.ID).HeldSince == nil {
			t.Fatal("the webhook is not held")
		}
		stop()
		to.then(nil)
		w.engine()
		pass(time.Minute)
		w.wantFlowing(h.ID)
	})
}

func TestUnreadableSecretDelaysNoOtherWebhook(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		broken := w.webhook("broken.test")
		to := w.receiver("receiver.test", nil)
		h := w.webhook("receiver.test")
		w.sql("UPDATE webhooks SET secret = $1 WHERE id = $2", []byte("damaged"), broken.ID)
		w.cards(3)
		w.engine()
		pass(time.Second)
		if n := len(to.seen()); n != 3 {
			t.Errorf("%d of 3 were sent, want 3", n)
		}
		w.wantStatus(h.ID, board.DeliveryDelivered, board.DeliveryDelivered, board.DeliveryDelivered)
		for _, d := range w.deliveries(broken.ID) {
			if d.Status != board.DeliveryFailed ||
				d.Reason != "refused: the webhook's address or secret cannot be opened with the server's key" {
				t.Errorf("the delivery of the webhook with the broken secret is %s: %q", d.Status, d.Reason)
			}
		}
	})
}
