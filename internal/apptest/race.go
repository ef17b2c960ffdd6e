//go:build race

package apptest

import "runtime/debug"

// Under the race detector a tenth of the time of these tests is garbage collection. They have
// the memory to collect less often.
func init() { debug.SetGCPercent(400) }
