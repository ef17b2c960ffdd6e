package main

import (
	"fmt"
	"os/exec"
	"regexp"
	"strings"
)

// virtualTest is the name of the test that simulates the background work.
const virtualTest = "TestSystemSeventyTwoVirtualHours"

// virtualHours runs virtualTest, which simulates three days of background work with a virtual clock.
func virtualHours(t *trialRun) error {
	cmd := exec.CommandContext(t.ctx, "go", "test", "-count=1", "-v", "-run", "^"+virtualTest+"$", "./cmd/cardwall")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", virtualTest, err, out[max(len(out)-1000, 0):])
	}
	if !strings.Contains(string(out), "--- PASS: "+virtualTest) {
		return fmt.Errorf("%s did not run: %s", virtualTest, out)
	}
	t.outcome.rounds = 1
	if match := regexp.MustCompile(`days_test\.go:\d+: (.*)`).FindStringSubmatch(string(out)); match != nil {
		t.note = match[1]
	}
	return nil
}
