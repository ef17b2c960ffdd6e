package app_test

import (
	"flag"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// A property here is many calls on two databases: fewer checks than rapid's
// hundred, unless the command line says how many.
func TestMain(m *testing.M) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "rapid.checks" })
	if !given && flag.Set("rapid.checks", "20") != nil {
		os.Exit(2)
	}
	goleak.VerifyTestMain(m)
}
