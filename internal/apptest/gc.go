package apptest

import "runtime/debug"

// Tests that use this package spend a sixth of their time on garbage collection, because each builds
// the whole service. There is enough memory to collect less often.
func init() { debug.SetGCPercent(400) }
