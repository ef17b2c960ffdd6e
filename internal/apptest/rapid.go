package apptest

import (
	"flag"
	"fmt"
)

// FewerChecks makes rapid check each property 20 times instead of 100, because a property of the
// whole program makes many calls on two databases. The -rapid.checks flag takes precedence. Call
// FewerChecks from TestMain.
func FewerChecks() error {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "rapid.checks" })
	if given {
		return nil
	}
	if err := flag.Set("rapid.checks", "20"); err != nil {
		return fmt.Errorf("set rapid's checks: %w", err)
	}
	return nil
}
