package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// The program's version is the newest version in CHANGELOG.md, which follows Keep a Changelog.
func TestVersionIsTheNewestRelease(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	releases := regexp.MustCompile(`(?m)^## \[(v\d+\.\d+\.\d+)\] - (\d{4}-\d\d-\d\d)$`).FindAllStringSubmatch(string(text),
		-1)
	if len(releases) == 0 || releases[0][1] != apiVersion() {
		t.Fatalf("the version is %q, but the changelog has releases %v", apiVersion(), releases)
	}
	if !slices.IsSortedFunc(releases, func(a, b []string) int { return strings.Compare(b[2], a[2]) }) {
		t.Errorf("got releases %v, want the newest first", releases)
	}
	for _, r := range releases {
		if _, err := time.Parse(time.DateOnly, r[2]); err != nil {
			t.Errorf("%s: %v", r[1], err)
		}
	}
	for _, h := range regexp.MustCompile(`(?m)^### (.*)$`).FindAllStringSubmatch(string(text), -1) {
		if !slices.Contains([]string{"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}, h[1]) {
			t.Errorf("Keep a Changelog does not define a section %q", h[1])
		}
	}
}

func TestVersionCommand(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	if status := run([]string{"version"}, strings.NewReader(""), &out, &out); status != 0 ||
		!strings.HasPrefix(out.String(), "cardwall "+apiVersion()) {
		t.Errorf("cardwall version: status %d, printed %q; want prefix %q", status, out.String(), "cardwall "+apiVersion())
	}
}

// serve --help lists the limits of a board.
func TestHelpListsTheLimits(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	run([]string{"serve", "--help"}, strings.NewReader(""), &out, &out)
	for _, flag := range []string{"Limits of each board:", "--max-open-cards", "--max-rule-actions"} {
		if !strings.Contains(out.String(), flag) {
			t.Errorf("serve --help does not show %s", flag)
		}
	}
}

// The tour in the README uses its own address and folder, so that it works while `make run` is
// running.
func TestTourUsesItsOwnServer(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, tour, _ := strings.Cut(string(text), "## A tour from the terminal")
	tour, _, _ = strings.Cut(tour, "\n## ")
	for _, setting := range []string{"CARDWALL_DATA=tour", "CARDWALL_ADDR=127.0.0.1:8090",
		"CARDWALL_BASE_URL=http://127.0.0.1:8090"} {
		if !strings.Contains(tour, setting) {
			t.Errorf("the tour does not set %s", setting)
		}
	}
	if strings.Contains(tour, ":8080") {
		t.Error("the tour uses the address of make run")
	}
	for _, tool := range []string{"curl", "jq"} {
		if before, _, _ := strings.Cut(tour, "```console"); !strings.Contains(before, tool) {
			t.Errorf("the tour does not say that it needs %s", tool)
		}
	}
}
