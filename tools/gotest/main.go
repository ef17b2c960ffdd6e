// Command gotest runs `go test -json` with its arguments and ends with a line that counts the
// tests:
//
//	512 passed, 0 failed
//
// It prints the line of go test for each package, the output of failed tests, each skipped test
// with its reason, and the slowest tests. Tests and subtests count alike; a package that fails
// outside a test counts as one failure. gotest fails if a test or go test fails, or if no test
// ran.
//
// gotestsum (v1.13) does not replace it. It succeeds if no test ran, and lists slow tests only in
// a second command that reads a file. Its closing line has another form, and its counts do not add
// up to the passed tests, because a package that fails outside of a test counts as a failure, but
// not as a test. A script that adds all this would read the same events again, and need eight more
// modules.
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// event is a line of `go test -json`, see `go doc test2json`.
type event struct {
	Action     string
	Package    string
	ImportPath string // the package, in the output of builds
	Test       string
	Output     string
	Elapsed    float64 // seconds
}

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "gotest:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	cmd := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	cmd.Stderr = os.Stderr
	events, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	counts, err := report(events, out)
	if err != nil {
		// Nothing reads the pipe after an error; without this, go test would block on it.
		cmd.Process.Kill()
		cmd.Wait()
		return err
	}
	err = cmd.Wait()
	if err != nil && counts.failed == 0 {
		counts.failed = 1
	}
	for _, t := range counts.slowest {
		fmt.Fprintf(out, "%4.0f s %s\n", t.seconds, t.name)
	}
	fmt.Fprintln(out, counts)
	switch {
	case err != nil:
		return fmt.Errorf("go test: %w", err)
	case counts.failed > 0:
		return errors.New("tests failed")
	case counts.passed == 0:
		return errors.New("no test ran")
	}
	return nil
}

const (
	slow        = 10 // seconds
	mostSlowest = 20
)

type timed struct {
	name    string
	seconds float64
}

type counts struct {
	passed, failed, skipped int
	slowest                 []timed // tests above slow, without their subtests
}

func (c *counts) took(e event) {
	if e.Elapsed < slow || e.Test == "" || strings.Contains(e.Test, "/") {
		return
	}
	c.slowest = append(c.slowest, timed{e.Package + " " + e.Test, e.Elapsed})
	slices.SortFunc(c.slowest, func(a, b timed) int { return cmp.Compare(b.seconds, a.seconds) })
	c.slowest = c.slowest[:min(len(c.slowest), mostSlowest)]
}

func (c counts) String() string {
	line := fmt.Sprintf("%d passed, %d failed", c.passed, c.failed)
	if c.skipped > 0 {
		line += fmt.Sprintf(", %d skipped", c.skipped)
	}
	return line
}

// report reads the events of a run, prints the parts that matter to a person and counts the
// tests.
func report(events io.Reader, out io.Writer) (counts, error) {
	type key struct{ pkg, test string }
	var total counts
	output := map[key]string{} // output of unfinished tests
	failedIn := map[string]bool{}

	lines := bufio.NewReader(events)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if json.Unmarshal(line, &e) != nil {
				// Output of go itself that belongs to no package.
				e = event{Action: "output", Output: string(line)}
			}
			k := key{e.Package, e.Test}
			total.took(e)
			switch {
			case e.Action == "build-output":
				fmt.Fprint(out, e.Output)
			case e.Action == "output" && e.Test == "":
				// PASS alone adds nothing to the package's ok line.
				if e.Output != "PASS\n" {
					fmt.Fprint(out, e.Output)
				}
			case e.Action == "output":
				if !strings.HasPrefix(e.Output, "=== ") {
					output[k] += e.Output
				}
			case e.Action == "pass" && e.Test != "":
				total.passed++
				delete(output, k)
			case e.Action == "skip" && e.Test != "":
				total.skipped++
				fmt.Fprintf(out, "skipped in %s:\n%s", e.Package, output[k])
				delete(output, k)
			case e.Action == "fail" && e.Test != "":
				total.failed++
				failedIn[e.Package] = true
				fmt.Fprintf(out, "failed in %s:\n%s", e.Package, output[k])
				delete(output, k)
			case e.Action == "fail":
				if !failedIn[e.Package] {
					// The package did not build, or failed outside its tests.
					total.failed++
				}
				// A panic or the timeout ends the package; the test it belongs to never ends.
				for _, k := range slices.SortedFunc(maps.Keys(output), func(a, b key) int { return cmp.Compare(a.test, b.test) }) {
					if k.pkg == e.Package {
						fmt.Fprintf(out, "not ended in %s: %s\n%s", k.pkg, k.test, output[k])
						delete(output, k)
					}
				}
			}
		}
		if err == io.EOF {
			return total, nil
		}
		if err != nil {
			return total, err
		}
	}
}
