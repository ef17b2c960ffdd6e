package hook

import (
	"time"

	"cardwall/internal/store"
)

// DelayHandOver has what is committed handed over to the engine only after a wait,
// as on a machine with too much to do.
func (e *Engine) DelayHandOver(wait func() time.Duration) {
	e.o.DB.OnDispatch(func(deliveries []store.Dispatch) func(bool) {
		ended := e.announce(deliveries)
		return func(committed bool) {
			time.Sleep(wait())
			ended(committed)
		}
	})
}
