package spool

import "time"

// Pace checks that a client sends or receives at least Rate bytes per second. It
// measures the average over a window, so short pauses do no harm.
type Pace struct {
	Rate   int64         // bytes per second
	Window time.Duration // in which Rate must be reached on average

	ends  time.Time // of the window
	count int64     // in the window
}

// NewPace returns a pace whose first window begins now.
func NewPace(rate int64, window time.Duration) *Pace {
	return &Pace{Rate: rate, Window: window, ends: time.Now().Add(window)}
}

// Deadline returns the time at which the client is too slow, unless more bytes
// are counted before.
func (p *Pace) Deadline() time.Time { return p.ends }

// Count counts bytes. A new window begins when enough bytes have arrived in this one.
func (p *Pace) Count(n int) {
	if p.count += int64(n); float64(p.count) >= float64(p.Rate)*p.Window.Seconds() {
		p.count, p.ends = 0, time.Now().Add(p.Window)
	}
}

// Pause excludes a time in which the client could not send or receive anything.
func (p *Pace) Pause(d time.Duration) { p.ends = p.ends.Add(d) }
