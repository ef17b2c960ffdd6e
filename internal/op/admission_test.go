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
)

func quietAdmission(readPlaces, writePlaces int) *admission {
	a := newAdmission(readPlaces, writePlaces)
	a.log = func() *slog.Logger { return slog.New(slog.DiscardHandler) }
	return a
}

// tally is what became of work of one class.
type tally struct {
	done, refused atomic.Int64
	longest       atomic.Int64 // that anything waited which was done
}

// offer has work come at a rate for some time, each of which takes as long, and
// waits until all of it is done or refused.
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

// What the places can do nobody is refused, however uneven it comes.
func TestNothingIsRefusedWithoutTooMuchWork(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := quietAdmission(10, 10)
		steady, wait := offer(a, reads, 2*time.Millisecond, 10*time.Millisecond, time.Minute) // half of what ten places do
		for range 10 {
			time.Sleep(5 * time.Second)
			var burst sync.WaitGroup
			for range 70 { // at once, seven times the places
				burst.Go(func() {
					in, err := a.enter(context.Background(), reads)
					if err != nil {
						t.Errorf("one of a burst: %v", err)
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
				t.Error("a report was refused beside a burst")
			}
		}
		wait()
		if n := steady.refused.Load(); n > 0 {
			t.Errorf("%d were refused", n)
		}
	})
}

// With five times what the places do, they are busy all the time, what is done
// has not waited long, the rest is refused, and reports before all else. When it
// is over, it is over.
func TestTooMuchWorkIsShed(t *testing.T) {
	t.Parallel()
	for _, k := range []class{reads, writes} {
		t.Run(k.String(), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				a := quietAdmission(10, 10)
				work, wait := offer(a, k, 200*time.Microsecond, 10*time.Millisecond, 10*time.Second) // 5,000 a second, of which 1,000 can be done
				time.Sleep(2 * time.Second)
				report, waitReport := offer(a, reports, 10*time.Millisecond, time.Millisecond, 5*time.Second)
				waitReport()
				wait()
				done, refused := work.done.Load(), work.refused.Load()
				if done < 9_500 || done+refused != 50_000 {
					t.Errorf("%d were done and %d refused of 50,000, of which 10,000 can be done", done, refused)
				}
				if longest := time.Duration(work.longest.Load()); longest > waitMost {
					t.Errorf("something waited %s", longest)
				}
				if report.done.Load() > 0 {
					t.Errorf("%d reports were made meanwhile", report.done.Load())
				}
				time.Sleep(2 * calmAfter)
				if a.lanes[k].over || a.lanes[k].running != 0 || a.lanes[k].waiting != 0 {
					t.Errorf("it is not over: %+v", a.lanes[k])
				}
				if _, err := a.enter(t.Context(), reports); err != nil {
					t.Errorf("a report when all is over: %v", err)
				}
			})
		})
	}
}

// What would not be let into the line is refused by a look, and counted; what
// may wait in it is not.
func TestALookRefusesWhereTheLineIsFull(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const places = 3
		a := quietAdmission(places, places)
		shed := 0
		a.shed = func(class) { shed++ }
		var all sync.WaitGroup
		for i := range places + queueFactor*places {
			if err := a.look(writes); err != nil {
				t.Fatalf("look %d: %v", i, err)
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
		if err := a.look(writes); !board.IsCode(err, board.CodeUnavailable) || shed != 1 {
			t.Errorf("at a full line a look says %v, and %d refusals are counted", err, shed)
		}
		if err := a.look(reads); err != nil {
			t.Errorf("other work: %v", err)
		}
		all.Wait()
		if err := a.look(writes); err != nil {
			t.Errorf("when all is done: %v", err)
		}
	})
}

// counted is how much work of a class runs or waits.
func (a *admission) counted(k class) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.lanes[k].running + a.lanes[k].waiting
}

// Where writes wait, reads give way: as much of them is done as before, and of
// reads less.
func TestReadsGiveWayToWrites(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := quietAdmission(8, 8)
		read, waitRead := offer(a, reads, time.Millisecond, 6*time.Millisecond, 10*time.Second) // three quarters of what they may
		write, waitWrite := offer(a, writes, 200*time.Microsecond, 8*time.Millisecond, 10*time.Second)
		waitRead()
		waitWrite()
		if n := write.done.Load(); n < 9_500 {
			t.Errorf("%d writes were done of 10,000", n)
		}
		if read.refused.Load() == 0 || read.done.Load() < 2_000 {
			t.Errorf("%d reads were done and %d refused", read.done.Load(), read.refused.Load())
		}
	})
}

// Who goes frees the place in the line, and what hangs keeps nobody waiting for
// good.
func TestWhoGoesFreesThePlace(t *testing.T) {
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
			t.Errorf("who went: %v", err)
		}
		begun := time.Now()
		_, err := a.enter(t.Context(), reads)
		f, ok := board.AsFault(err)
		if !ok || f.Code != board.CodeUnavailable || f.RetryAfter != laterWork || time.Since(begun) != waitMost {
			t.Errorf("behind what hangs, after %s: %v", time.Since(begun), err)
		}
		a.leave(reads, time.Now())
		if _, err := a.enter(t.Context(), reads); err != nil {
			t.Errorf("with a free place: %v", err)
		}
		if l := a.lanes[reads]; l.waiting != 0 || l.running != 2 {
			t.Errorf("%d wait and %d run", l.waiting, l.running)
		}
	})
}

// Where all work is slow and ends at once, as with a slow disk and one commit for
// all, places are not left empty for having waited as long as that takes.
func TestSlowWorkIsNotShedForBeingSlow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const places, commit = 20, 300 * time.Millisecond
		a := quietAdmission(places, places)
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
		for range 5 * places { // each asks again at once, a little later when it was refused
			all.Go(func() {
				for range 1_000 {
					if time.Sleep(time.Millisecond); done.Load() >= 30*places {
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
		// Thirty commits hold that much when no place is empty.
		if took := time.Since(begun); done.Load() < 30*places || took > 42*commit || refused.Load() == 0 {
			t.Errorf("%d were done and %d refused in %s", done.Load(), refused.Load(), took)
		}
	})
}

func BenchmarkAdmission(b *testing.B) {
	a := newAdmission(32, 128)
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
