//go:build race

package apptest

import "runtime/debug"

// Under the race detector, tests that use this package spend a tenth of their time on garbage
// collection. There is enough memory to collect less often.
func init() { debug.SetGCPercent(400) }
