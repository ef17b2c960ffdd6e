package hook

import (
	"time"

	"cardwall/internal/store"
)

// DelayHandOver delays the hand-over of committed deliveries to the engine, as happens on a busy
// machine.
func (e *Engine) DelayHandOver(wait func() time.Duration) {
	e.o.DB.OnDispatch(func(deliveries []store.Dispatch) func(bool) {
		ended := e.announce(deliveries)
		return func(committed bool) {
			time.Sleep(wait())
			ended(committed)
		}
	})
}
