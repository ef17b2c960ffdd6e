package op

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

func quietAdmission(readSlots, writeSlots int) *admission {
	a := newAdmission(store.Concurrency{Reads: readSlots, Reports: 2, Writes: writeSlots})
	a.log = func() *slog.Logger { return slog.New(slog.DiscardHandler) }
	return a
}

// tally counts the outcomes of work of one class.
type tally struct {
	done, refused atomic.Int64
	longest       atomic.Int64 // longest wait of work that was done
}

// offer submits work at a fixed rate and with a fixed running time. The returned
// function waits until all of the work is done or refused.
func offer(a *admission, k class, every, each, during time.Duration) (t *tally, wait func()) {
	t = &tally{}
	var all sync.WaitGroup
	all.Go(func() {
		for range during / every {
			all.Go(func() {
				begun := time.Now()
				in, err := a.enter(context.Background(), k)
				if err != nil {
					t.refused.Add(1)
					return
				}
				t.longest.Store(max(t.longest.Load(), int64(time.Since(begun))))
				time.Sleep(each)
				a.leave(k, in)
				t.done.Add(1)
			})
			time.Sleep(every)
		}
	})
	return t, all.Wait
}

// Work within the capacity of the slots is never refused, even if some of it arrives in
// bursts.
func TestNothingIsRefusedWithinCapacity(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := quietAdmission(10, 10)
		// Half of the capacity of ten slots.
		steady, wait := offer(a, reads, 2*time.Millisecond, 10*time.Millisecond, time.Minute)
		for range 10 {
			time.Sleep(5 * time.Second)
			var burst sync.WaitGroup
			for range 70 { // seven per slot at the same time
				burst.Go(func() {
					in, err := a.enter(context.Background(), reads)
					if err != nil {
						t.Errorf("work in a burst: got error %v, want none", err)
						return
					}
					time.Sleep(10 * time.Millisecond)
					a.leave(reads, in)
				})
			}
			report, waitReport := offer(a, reports, time.Millisecond, time.Millisecond, 2*time.Millisecond)
			burst.Wait()
			waitReport()
			if report.refused.Load() > 0 {
				t.Error("a report was refused during a burst")
			}
		}
		wait()
		if n := steady.refused.Load(); n > 0 {
			t.Errorf("got %d refusals, want 0", n)
		}
	})
}

// If five times as much work arrives as the slots can handle, the slots are always
// busy, accepted work does not wait long, and the rest is refused, reports first.
// After the overload, nothing is refused.
func TestOverloadIsShed(t *testing.T) {
	t.Parallel()
	for _, k := range []class{reads, writes} {
		t.Run(k.String(), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				a := quietAdmission(10, 10)
				// 5,000 calls per second with a capacity of 1,000 per second.
				work, wait := offer(a, k, 200*time.Microsecond, 10*time.Millisecond, 10*time.Second)
				time.Sleep(2 * time.Second)
				report, waitReport := offer(a, reports, 10*time.Millisecond, time.Millisecond, 5*time.Second)
				waitReport()
				wait()
				done, refused := work.done.Load(), work.refused.Load()
				if done < 9_500 || done+refused != 50_000 {
					t.Errorf("%d done and %d refused; want at least 9,500 done and a total of 50,000", done, refused)
				}
				if longest := time.Duration(work.longest.Load()); longest > queueTime {
					t.Errorf("got a longest wait of %s, want at most %s", longest, queueTime)
				}
				if report.done.Load() > 0 {
					t.Errorf("got %d accepted reports during the overload, want 0", report.done.Load())
				}
				time.Sleep(2 * recoveryTime)
				if a.lanes[k].overloaded || a.lanes[k].running != 0 || a.lanes[k].waiting != 0 {
					t.Errorf("after the load: got %+v, want no overload and no work", a.lanes[k])
				}
				if _, err := a.enter(t.Context(), reports); err != nil {
					t.Errorf("report after the overload: got error %v, want none", err)
				}
			})
		})
	}
}

// admission.check refuses writes, and counts the refusal, only if the queue of writes is full.
func TestCheckRefusesWhenTheQueueIsFull(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const slots = 3
		a := quietAdmission(slots, slots)
		shed := 0
		a.shed = func(class) { shed++ }
		var all sync.WaitGroup
		for i := range slots + queueFactor*slots {
			if err := a.check(writes); err != nil {
				t.Fatalf("check %d: %v", i, err)
			}
			all.Go(func() {
				if in, err := a.enter(t.Context(), writes); err == nil {
					time.Sleep(time.Millisecond)
					a.leave(writes, in)
				} else {
					t.Error(err)
				}
			})
			for a.counted(writes) <= i {
				runtime.Gosched()
			}
		}
		if err := a.check(writes); !board.IsCode(err, board.CodeUnavailable) || shed != 1 {
			t.Errorf("check with a full queue: got error %v and %d refusals, want unavailable and 1", err, shed)
		}
		if err := a.check(reads); err != nil {
			t.Errorf("check of other work: got error %v, want none", err)
		}
		all.Wait()
		if err := a.check(writes); err != nil {
			t.Errorf("check after all work: got error %v, want none", err)
		}
	})
}

// counted returns the number of running and waiting calls of a class.
func (a *admission) counted(k class) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.lanes[k].running + a.lanes[k].waiting
}

// While writes are overloaded, reads get fewer slots, so that the write throughput
// stays the same.
func TestReadsGiveWayToWrites(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := quietAdmission(8, 8)
		// The reads need three quarters of their capacity. The writes need five times theirs.
		read, waitRead := offer(a, reads, time.Millisecond, 6*time.Millisecond, 10*time.Second)
		write, waitWrite := offer(a, writes, 200*time.Microsecond, 8*time.Millisecond, 10*time.Second)
		waitRead()
		waitWrite()
		if n := write.done.Load(); n < 9_500 {
			t.Errorf("got %d writes done, want at least 9,500; the slots can do 10,000", n)
		}
		if read.refused.Load() == 0 || read.done.Load() < 2_000 {
			t.Errorf("%d reads done and %d refused; want at least 2,000 done and some refused", read.done.Load(),
				read.refused.Load())
		}
	})
}

// A caller that gives up leaves the queue, and hanging work does not block others
// forever.
func TestCallersThatGiveUpLeaveTheQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := quietAdmission(2, 2)
		for range 2 {
			if _, err := a.enter(t.Context(), reads); err != nil {
				t.Fatal(err)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		left := make(chan error)
		go func() {
			_, err := a.enter(ctx, reads)
			left <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Errorf("caller that gave up: got error %v, want Canceled", err)
		}
		begun := time.Now()
		_, err := a.enter(t.Context(), reads)
		f, ok := board.AsFault(err)
		if !ok || f.Code != board.CodeUnavailable || f.RetryAfter != retryAfter || time.Since(begun) != queueTime {
			t.Errorf("queued after hanging work: got error %v after %s, want unavailable after %s", err, time.Since(begun),
				queueTime)
		}
		a.leave(reads, time.Now())
		if _, err := a.enter(t.Context(), reads); err != nil {
			t.Errorf("with a free slot: got error %v, want none", err)
		}
		if l := a.lanes[reads]; l.waiting != 0 || l.running != 2 {
			t.Errorf("got %d waiting and %d running calls, want 0 and 2", l.waiting, l.running)
		}
	})
}

// With a slow disk and group commits, all work is slow and finishes together.
// Waiting for one such commit does not count as overload. Only work that waits longer
// is refused, so the slots stay in use.
func TestSlowWorkIsNotShedForBeingSlow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const slots, commit = 20, 300 * time.Millisecond
		a := quietAdmission(slots, slots)
		var done, refused atomic.Int64
		var all sync.WaitGroup
		var commits atomic.Pointer[chan struct{}]
		next := make(chan struct{})
		commits.Store(&next)
		all.Go(func() {
			for range 40 {
				time.Sleep(commit)
				fresh := make(chan struct{})
				close(*commits.Swap(&fresh))
			}
		})
		for range 5 * slots { // each client continues immediately, or after a second if it was refused
			all.Go(func() {
				for range 1_000 {
					if time.Sleep(time.Millisecond); done.Load() >= 30*slots {
						return
					}
					in, err := a.enter(context.Background(), writes)
					if err != nil {
						refused.Add(1)
						time.Sleep(time.Second)
						continue
					}
					<-*commits.Load()
					a.leave(writes, in)
					done.Add(1)
				}
			})
		}
		begun := time.Now()
		all.Wait()
		// Thirty commits with full slots are enough for the work.
		if took := time.Since(begun); done.Load() < 30*slots || took > 42*commit || refused.Load() == 0 {
			t.Errorf("%d done and %d refused in %s; want at least %d done and some refused in at most %s", done.Load(),
				refused.Load(), took, 30*slots, 42*commit)
		}
	})
}

func BenchmarkAdmission(b *testing.B) {
	a := quietAdmission(32, 128)
	ctx := context.Background()
	for _, clients := range []int{1, 16} {
		b.Run(fmt.Sprint(clients), func(b *testing.B) {
			b.SetParallelism(clients)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if _, err := a.enter(ctx, reads); err != nil {
						continue
					}
					a.leave(reads, time.Now())
				}
			})
		})
	}
}
