package spool

import "time"

// MinRate enforces a minimum transfer rate. It computes the deadline by which a client
// must have sent or received the next bytes. The rate is averaged over a window, so short
// pauses are allowed.
type MinRate struct {
	Rate   int64         // bytes per second
	Window time.Duration // period over which Rate is averaged

	end   time.Time // end of the current window
	count int64     // number of bytes in the current window
}

// NewMinRate returns a MinRate whose first window begins now.
func NewMinRate(rate int64, window time.Duration) *MinRate {
	return &MinRate{Rate: rate, Window: window, end: time.Now().Add(window)}
}

// Deadline returns the time after which the client is too slow. Later calls to Count and
// Pause can extend it.
func (r *MinRate) Deadline() time.Time { return r.end }

// Count adds n bytes to the current window. If the window then has enough bytes for
// Rate, the next window begins.
func (r *MinRate) Count(n int) {
	if r.count += int64(n); float64(r.count) >= float64(r.Rate)*r.Window.Seconds() {
		r.count, r.end = 0, time.Now().Add(r.Window)
	}
}

// Pause extends the current window by a time in which the client could not send or
// receive anything.
func (r *MinRate) Pause(d time.Duration) { r.end = r.end.Add(d) }
