package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestReport(t *testing.T) {
	cases := map[string]struct {
		events string
		want   counts
		prints []string
		hides  string
	}{
		"the output of passed tests is hidden": {
			events: `{"Action":"output","Package":"p","Test":"TestA","Output":"chatter\n"}
{"Action":"pass","Package":"p","Test":"TestA/sub"}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Output":"PASS\n"}
{"Action":"output","Package":"p","Output":"ok  \tp\t0.1s\n"}
{"Action":"pass","Package":"p"}
`,
			want:   counts{passed: 2},
			prints: []string{"ok  \tp\t0.1s\n"},
			hides:  "chatter",
		},
		"a failed test counts once and its output is printed": {
			events: `{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:1: wrong\n"}
{"Action":"fail","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Output":"FAIL\n"}
{"Action":"fail","Package":"p"}
`,
			want:   counts{failed: 1, failures: map[testName]failure{{"p", "TestA"}: {1, "    a_test.go:1: wrong\n"}}},
			prints: []string{"failed in p:\n    a_test.go:1: wrong\n"},
		},
		"a failed subtest counts, and is a failure of its test": {
			events: `{"Action":"fail","Package":"p","Test":"TestA/sub"}
{"Action":"fail","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Output":"FAIL\n"}
{"Action":"fail","Package":"p"}
`,
			want: counts{failed: 2, failures: map[testName]failure{{"p", "TestA"}: {tests: 2}}},
		},
		"a race after the last test is a fault of the package": {
			events: `{"Action":"fail","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Output":"testing: race detected outside of test execution\n"}
{"Action":"output","Package":"p","Output":"FAIL\n"}
{"Action":"fail","Package":"p"}
`,
			want: counts{failed: 1, failures: map[testName]failure{{"p", "TestA"}: {tests: 1}}, final: true},
		},
		"a test that panicked may have kept others from running": {
			events: `{"Action":"fail","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Output":"exit status 2\n"}
{"Action":"fail","Package":"p"}
`,
			want: counts{failed: 1, failures: map[testName]failure{{"p", "TestA"}: {tests: 1}}, final: true},
		},
		"a data race is a fault even if it does not occur again": {
			events: `{"Action":"output","Package":"p","Test":"TestA","Output":"    testing.go:1712: race detected during execution of test\n"}
{"Action":"fail","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Output":"FAIL\n"}
{"Action":"fail","Package":"p"}
`,
			want: counts{failed: 1, failures: map[testName]failure{
				{"p", "TestA"}: {1, "    testing.go:1712: race detected during execution of test\n"}}, final: true},
		},
		"the output of a test that panicked is printed": {
			events: `{"Action":"output","Package":"p","Test":"TestA","Output":"panic: test timed out after 25m\n"}
{"Action":"output","Package":"q","Test":"TestB","Output":"chatter\n"}
{"Action":"fail","Package":"p"}
`,
			want:   counts{failed: 1, final: true},
			prints: []string{"unfinished in p: TestA\npanic: test timed out after 25m\n"},
			hides:  "chatter",
		},
		"a package that does not build is a failure": {
			events: `{"ImportPath":"p [p.test]","Action":"build-output","Output":"./a.go:1: undefined: x\n"}
{"ImportPath":"p [p.test]","Action":"build-fail"}
{"Action":"fail","Package":"p","FailedBuild":"p [p.test]"}
`,
			want:   counts{failed: 1, final: true},
			prints: []string{"undefined: x"},
		},
		"the reason for a skipped test is printed": {
			events: `{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:1: no server here\n"}
{"Action":"skip","Package":"p","Test":"TestA"}
`,
			want:   counts{skipped: 1},
			prints: []string{"no server here"},
		},
		"a package without tests does not count": {
			events: `{"Action":"output","Package":"p","Output":"?   \tp\t[no test files]\n"}
{"Action":"skip","Package":"p"}
`,
			want: counts{},
		},
		"slow tests are listed, slowest first": {
			events: `{"Action":"pass","Package":"p","Test":"TestA/sub","Elapsed":30}
{"Action":"pass","Package":"p","Test":"TestA","Elapsed":31.5}
{"Action":"pass","Package":"p","Test":"TestB","Elapsed":0.9}
{"Action":"fail","Package":"p","Test":"TestC","Elapsed":40}
{"Action":"fail","Package":"p","Elapsed":82}
`,
			want: counts{passed: 3, failed: 1, slowest: []timedTest{{"p TestC", 40}, {"p TestA", 31.5}},
				failures: map[testName]failure{{"p", "TestC"}: {tests: 1}}, final: true},
		},
		"the last line needs no newline": {
			events: `{"Action":"pass","Package":"p","Test":"TestA"}`,
			want:   counts{passed: 1},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			got, err := report(strings.NewReader(c.events), &out)
			if err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v (%v), want %+v", got, err, c.want)
			}
			for _, want := range c.prints {
				if !strings.Contains(out.String(), want) {
					t.Errorf("printed %q, want it to contain %q", out.String(), want)
				}
			}
			if c.hides != "" && strings.Contains(out.String(), c.hides) {
				t.Errorf("printed %q, want output without %q", out.String(), c.hides)
			}
		})
	}
}

func TestRunWithoutATestFails(t *testing.T) {
	var out strings.Builder
	err := run([]string{"-run", "^NoSuchTest$", "."}, &out)
	if err == nil || err.Error() != "no test ran" {
		t.Errorf("got error %v, output %q; want error \"no test ran\"", err, out.String())
	}
}

// A test that fails and then passes alone is flaky. One that fails again has failed.
func TestFailedTestsRunAgain(t *testing.T) {
	const (
		once   = `if _, err := os.Stat("ran"); err != nil { os.WriteFile("ran", nil, 0o600); t.Fatal("the first run") }`
		always = `t.Fatal("always")`
	)
	cases := map[string]struct {
		tests        map[string]string
		passes       bool
		prints, last string
	}{
		"a test that passes alone": {
			map[string]string{"A": once, "B": ""}, true, "the first run\n--- FAIL", "2 passed, 0 failed\n",
		},
		"a test that fails again": {map[string]string{"A": always, "B": ""}, false, "\nfailed: example.com/p TestA\n", "1 passed, 1 failed\n"},
		"both":                    {map[string]string{"A": always, "B": once}, false, "flaky: example.com/p TestB\n", "1 passed, 1 failed\n"},
		"too many tests": {
			map[string]string{"A": always, "B": once, "C": always, "D": always}, false, "the first run", "0 passed, 4 failed\n",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			code := "package p\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nvar _ = os.Stat\n"
			for name, body := range c.tests {
				code += "func Test" + name + "(t *testing.T) { " + body + " }\n"
			}
			for name, text := range map[string]string{"go.mod": "module example.com/p\n", "p_test.go": code} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			t.Chdir(dir)
			var out strings.Builder
			err := run([]string{"-vet=off", "."}, &out)
			if (err == nil) != c.passes || !strings.Contains(out.String(), c.prints) || !strings.HasSuffix(out.String(), c.last) {
				t.Errorf("got error %v and output\n%s\nwant it to pass: %t, to contain %q and to end with %q",
					err, &out, c.passes, c.prints, c.last)
			}
		})
	}
}
