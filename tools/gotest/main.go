// Command gotest runs `go test -json` with its arguments. The last line of its output counts the
// tests:
//
//	512 passed, 0 failed
//
// It also prints the summary line of each package, the output of failed tests, each skipped test
// with its reason, and the slowest tests. Subtests count like other tests. A package that fails
// outside of a test counts as one failure. gotest fails if a test or go test fails, or if no test
// passed.
//
// gotestsum (v1.13) is not a replacement. It succeeds if no test ran, and needs a second command to
// list slow tests. Its last line has a different format. It counts a package that fails outside of a
// test as a failure but not as a test, so its numbers do not add up. Working around this would take
// a script that parses the events again, and eight more modules.
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

// event is a line of `go test -json` (see `go doc test2json`).
type event struct {
	Action     string
	Package    string
	ImportPath string // the package, in build output
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

// run runs go test and prints a report. It returns an error if go test or a test failed, or if no
// test passed.
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
		// Without a reader, go test would block on the pipe.
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
	slowTest   = 10 // seconds
	maxSlowest = 20 // tests to list
)

// timedTest is the name and duration of a test.
type timedTest struct {
	name    string
	seconds float64
}

// counts holds the number of tests by result, and the slowest tests.
type counts struct {
	passed, failed, skipped int
	slowest                 []timedTest // at most maxSlowest tests of at least slowTest seconds; without subtests
}

// addDuration records a test that has ended if it was slow.
func (c *counts) addDuration(e event) {
	if e.Elapsed < slowTest || e.Test == "" || strings.Contains(e.Test, "/") {
		return
	}
	c.slowest = append(c.slowest, timedTest{e.Package + " " + e.Test, e.Elapsed})
	slices.SortFunc(c.slowest, func(a, b timedTest) int { return cmp.Compare(b.seconds, a.seconds) })
	c.slowest = c.slowest[:min(len(c.slowest), maxSlowest)]
}

func (c counts) String() string {
	line := fmt.Sprintf("%d passed, %d failed", c.passed, c.failed)
	if c.skipped > 0 {
		line += fmt.Sprintf(", %d skipped", c.skipped)
	}
	return line
}

// report reads the events of a run, prints the relevant parts of the output, and counts the
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
				// Some output of the go command is not JSON.
				e = event{Action: "output", Output: string(line)}
			}
			k := key{e.Package, e.Test}
			total.addDuration(e)
			switch {
			case e.Action == "build-output":
				fmt.Fprint(out, e.Output)
			case e.Action == "output" && e.Test == "":
				// The ok line of the package follows, so PASS is redundant.
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
				// After a panic or a timeout, the running tests have no end event.
				for _, k := range slices.SortedFunc(maps.Keys(output), func(a, b key) int { return cmp.Compare(a.test, b.test) }) {
					if k.pkg == e.Package {
						fmt.Fprintf(out, "unfinished in %s: %s\n%s", k.pkg, k.test, output[k])
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
