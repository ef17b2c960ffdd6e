// Command gotest runs `go test -json` with its arguments, of which the packages come last and start
// with a dot. The last line of its output counts the tests:
//
//	512 passed, 0 failed
//
// It also prints the summary line of each package, the output of failed tests, each skipped test
// with its reason, the slowest tests, and the time that all of them took. Subtests count like other
// tests. A package that fails outside of a test counts as one failure. gotest fails if a test or go
// test fails, or if no test passed.
//
// A test that fails runs once more, alone. If it passes then, it is flaky: it counts as passed, and
// the end of the output has its first output and a line such as "flaky: cardwall/internal/hook
// TestRetry". The line of a test that failed begins with "failed:".
// No test runs again if more than maxFlaky tests fail, if a package ended before all its tests did,
// or if the race detector reported a race.
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
	"time"
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

// maxFlaky is the maximum number of tests that may fail and pass when they run again.
const maxFlaky = 3

// run runs go test and prints a report. It returns an error if go test or a test failed, or if no
// test passed.
func run(args []string, out io.Writer) error {
	began := time.Now()
	total, err := goTest(args, out)
	if err != nil && total.failed == 0 {
		total.failed = 1
	}
	if len(total.failures) > 0 && len(total.failures) <= maxFlaky && !total.final {
		err = total.runAgain(args, err, out)
	}
	for _, t := range total.slowest {
		fmt.Fprintf(out, "%4.0f s %s\n", t.seconds, t.name)
	}
	fmt.Fprintf(out, "The Go tests took %s.\n", time.Since(began).Round(time.Second))
	for _, name := range slices.SortedFunc(maps.Keys(total.failures), testName.compare) {
		if slices.Contains(total.flaky, name) {
			fmt.Fprintf(out, "%sflaky: %s %s\n", total.failures[name].output, name.pkg, name.test)
		} else {
			fmt.Fprintf(out, "failed: %s %s\n", name.pkg, name.test)
		}
	}
	fmt.Fprintln(out, total)
	switch {
	case total.failed > 0:
		return errors.Join(errors.New("tests failed"), err)
	case err != nil:
		return err
	case total.passed == 0:
		return errors.New("no test ran")
	}
	return nil
}

// goTest runs go test once and prints a report.
func goTest(args []string, out io.Writer) (counts, error) {
	cmd := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	cmd.Stderr = os.Stderr
	events, err := cmd.StdoutPipe()
	if err != nil {
		return counts{}, err
	}
	if err := cmd.Start(); err != nil {
		return counts{}, err
	}
	total, err := report(events, out)
	if err != nil {
		// Without a reader, go test would block on the pipe.
		cmd.Process.Kill()
		cmd.Wait()
		return total, err
	}
	if err = cmd.Wait(); err != nil {
		err = fmt.Errorf("go test: %w", err)
	}
	return total, err
}

// runAgain runs each failed test alone, and counts those that pass as flaky. It returns nil if
// nothing else made the first run fail, and otherwise the error of that run.
func (c *counts) runAgain(args []string, first error, out io.Writer) error {
	for _, name := range slices.SortedFunc(maps.Keys(c.failures), testName.compare) {
		fmt.Fprintf(out, "Running %s in %s again, alone:\n", name.test, name.pkg)
		again, err := goTest(append(flagsOf(args), "-count=1", "-run=^"+name.test+"$", name.pkg), out)
		if err != nil || again.failed > 0 || again.passed == 0 {
			continue
		}
		c.failed -= c.failures[name].tests
		c.passed += c.failures[name].tests
		c.flaky = append(c.flaky, name)
	}
	if c.failed > 0 {
		return first
	}
	return nil
}

// flagsOf returns the arguments without the packages at their end.
func flagsOf(args []string) []string {
	n := len(args)
	for n > 0 && strings.HasPrefix(args[n-1], ".") {
		n--
	}
	return slices.Clone(args[:n])
}

const (
	slowTest   = 1  // seconds
	maxSlowest = 10 // tests to list
)

// testName is the name of a test and its package.
type testName struct{ pkg, test string }

func (n testName) compare(other testName) int {
	return cmp.Or(cmp.Compare(n.pkg, other.pkg), cmp.Compare(n.test, other.test))
}

// failure is what failed in a test.
type failure struct {
	tests  int    // the test and its subtests that failed
	output string // of all of them
}

// timedTest is the name and duration of a test.
type timedTest struct {
	name    string
	seconds float64
}

// counts holds the number of tests by result, and the slowest tests.
type counts struct {
	passed, failed, skipped int
	slowest                 []timedTest // at most maxSlowest tests of at least slowTest seconds; without subtests
	failures                map[testName]failure
	flaky                   []testName // tests that failed, and passed when they ran again
	final                   bool       // whether a failure remains one, even if the test passes when it runs again
}

// addFailure records a test that failed, with its output.
func (c *counts) addFailure(e event, output string) {
	if c.failures == nil {
		c.failures = map[testName]failure{}
	}
	parent, _, _ := strings.Cut(e.Test, "/")
	name := testName{e.Package, parent}
	f := c.failures[name]
	c.failures[name] = failure{f.tests + 1, f.output + output}
	c.failed++
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
	r := reporter{out: out, output: map[testName]string{}, failedIn: map[string]bool{}, completed: map[string]bool{}}
	lines := bufio.NewReader(events)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if json.Unmarshal(line, &e) != nil {
				// Some output of the go command is not JSON.
				e = event{Action: "output", Output: string(line)}
			}
			r.add(e)
		}
		if err == io.EOF {
			return r.counts, nil
		}
		if err != nil {
			return r.counts, err
		}
	}
}

// reporter prints the relevant parts of the output of a run, and counts the tests.
type reporter struct {
	counts
	out       io.Writer
	output    map[testName]string // output of unfinished tests, including subtests
	failedIn  map[string]bool
	completed map[string]bool // packages that failed after all their tests had ended
}

func (r *reporter) add(e event) {
	k := testName{e.Package, e.Test}
	r.addDuration(e)
	// A test fails because of a race that occurred while it ran, in its own code or in another test.
	// A race after the last test fails the package.
	r.final = r.final || strings.Contains(e.Output, "race detected ")
	switch {
	case e.Action == "build-output":
		fmt.Fprint(r.out, e.Output)
	case e.Action == "output" && e.Test == "":
		// The ok line of the package follows, so PASS is redundant.
		if e.Output != "PASS\n" {
			fmt.Fprint(r.out, e.Output)
		}
		if e.Output == "FAIL\n" {
			r.completed[e.Package] = true
		}
	case e.Action == "output":
		if !strings.HasPrefix(e.Output, "=== ") {
			r.output[k] += e.Output
		}
	case e.Action == "pass" && e.Test != "":
		r.passed++
		delete(r.output, k)
	case e.Action == "skip" && e.Test != "":
		r.skipped++
		fmt.Fprintf(r.out, "skipped in %s:\n%s", e.Package, r.output[k])
		delete(r.output, k)
	case e.Action == "fail" && e.Test != "":
		r.addFailure(e, r.output[k])
		r.failedIn[e.Package] = true
		fmt.Fprintf(r.out, "failed in %s:\n%s", e.Package, r.output[k])
		delete(r.output, k)
	case e.Action == "fail":
		if !r.failedIn[e.Package] {
			// The package did not build, or failed outside its tests.
			r.failed++
		}
		r.final = r.final || !r.completed[e.Package]
		// After a panic or a timeout, the running tests have no end event.
		for _, k := range slices.SortedFunc(maps.Keys(r.output), testName.compare) {
			if k.pkg == e.Package {
				fmt.Fprintf(r.out, "unfinished in %s: %s\n%s", k.pkg, k.test, r.output[k])
				delete(r.output, k)
			}
		}
	}
}
