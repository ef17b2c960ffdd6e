package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/seal"
)

// The doctor names each damaged file and each file that nothing refers to, in a folder and in
// a bucket. It names no others.
func TestDoctorFindsDamagedFiles(t *testing.T) {
	t.Parallel()
	t.Run("folder", func(t *testing.T) {
		t.Parallel()
		folder := t.TempDir()
		testDoctorOfFiles(t, folder, folder)
	})
	t.Run("bucket", func(t *testing.T) {
		t.Parallel()
		bucket := apptest.StartBucket(t)
		testDoctorOfFiles(t, bucket.Address, filepath.Join(bucket.Folder, "cards"))
	})
}

// testDoctorOfFiles damages files at an address, which are stored in a folder, and runs the
// doctor.
func testDoctorOfFiles(t *testing.T, address, folder string) {
	c, key := cli{t, t.TempDir()}, strings.Repeat("0f", 32)
	keys, err := seal.Parse(key)
	if err != nil {
		t.Fatal(err)
	}
	s := apptest.New(t, filepath.Join(c.data, "cardwall.db"), apptest.Options{Files: address, Keys: keys})
	ada := s.Person("Ada")
	boardID := ada.Must("create_board", apptest.Fields{"workspaceId": ada.Workspace("Engines", board.PlanTeam), "name": "Launch"}).ID()
	list := ada.Must("create_list", apptest.Fields{"boardId": boardID, "name": "To do"}).ID()
	card := ada.Must("create_card", apptest.Fields{"listId": list, "title": "Venue"}).ID()
	path, problem := map[string]string{}, map[string]string{}
	for content, want := range map[string]string{
		"good": "", "missing": "is missing", "short": "has 4 bytes instead of 5", "other": "has different content",
	} {
		id := ada.Attach(card, content, []byte(content)).ID()
		sum := fmt.Sprintf("%x", sha256.Sum256([]byte(content)))
		if found, err := filepath.Glob(filepath.Join(folder, "org_*", sum[:2], sum)); err != nil || len(found) != 1 {
			t.Fatalf("got %q and error %v for %q, want one file", found, err, content)
		} else {
			path[content] = found[0]
		}
		if want != "" {
			problem[content] = "the file of the attachment " + id + " " + want
		}
	}
	doctor := func(want int, args ...string) string {
		t.Helper()
		status, out, stderr := c.run("", append([]string{"doctor", "--files", address, "--secret-key", key}, args...)...)
		if status != want {
			t.Errorf("doctor %v: got status %d, want %d; it printed %s%s", args, status, want, out, stderr)
		}
		return out
	}
	if out := doctor(0, "--all-files"); out != "No problems found." {
		t.Errorf("before any damage, the doctor printed %s, want no problems", out)
	}

	// Unused files waste space, but nothing is lost.
	day := time.Now().Add(-25 * time.Hour)
	orphan, upload := "org_x/aa/"+strings.Repeat("a", 64), "uploads/upl_old"
	for name, changed := range map[string]time.Time{
		orphan: day, upload: day, "uploads/upl_new": time.Now(), "org_x/bb/" + strings.Repeat("b", 64): time.Now(), "photos/2026.jpg": day,
	} {
		name = filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte("1234567890"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(name, changed, changed); err != nil {
			t.Fatal(err)
		}
	}
	unused := []string{
		"Notice: no attachment uses the stored file " + orphan + ".", "Notice: no attachment uses the stored file " + upload + ".",
		"Notice: unused files: 2, with 20 bytes in total. A running server removes them within two hours.",
	}
	checkLines(t, doctor(0, "--all-files"), append(unused, "No problems found."))

	if err := os.Remove(path["missing"]); err != nil {
		t.Fatal(err)
	}
	for content, now := range map[string]string{"short": "shor", "other": "0ther"} {
		if err := os.WriteFile(path[content], []byte(now), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	checkLines(t, doctor(1), append(unused, problem["missing"], problem["short"]))
	checkLines(t, doctor(1, "--all-files"), append(unused, problem["missing"], problem["short"], problem["other"]))
}

// checkLines checks that each line of the output begins with another one of the given texts.
func checkLines(t *testing.T, output string, want []string) {
	t.Helper()
	lines := strings.Split(output, "\n")
	for _, text := range want {
		if n := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, text) }); n < 0 {
			t.Errorf("no line begins with %q in:\n%s", text, output)
		} else {
			lines = slices.Delete(lines, n, n+1)
		}
	}
	if len(lines) > 0 {
		t.Errorf("got the additional lines %q in:\n%s", lines, output)
	}
}
