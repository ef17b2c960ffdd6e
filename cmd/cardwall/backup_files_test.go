package main

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cardwall/internal/app"
	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/seal"
	"cardwall/internal/store"
)

// vault is an installation with attached files, and a folder for its backups.
type vault struct {
	place
	s      *apptest.Service
	ada    *apptest.Person
	card   string
	board  string
	folder string // the storage for files, or the bucket's objects
	target string // the folder with backups
}

// newVault returns an installation on SQLite that stores files at an address, which are in folder.
func newVault(t *testing.T, address, folder string) *vault {
	t.Helper()
	key := strings.Repeat("0f", 32)
	keys, err := seal.Parse(key)
	if err != nil {
		t.Fatal(err)
	}
	v := &vault{folder: folder, target: t.TempDir()}
	v.place = place{cli{t, t.TempDir()}, []string{"--files", address, "--secret-key", key}}
	v.s = apptest.New(t, filepath.Join(v.data, "cardwall.db"), apptest.Options{Files: address, Keys: keys})
	v.ada = v.s.Person("Ada")
	workspace := v.ada.Workspace("Engines", board.PlanTeam)
	v.board = v.ada.Must("create_board", apptest.Fields{"workspaceId": workspace, "name": "Launch"}).ID()
	list := v.ada.Must("create_list", apptest.Fields{"boardId": v.board, "name": "To do"}).ID()
	v.card = v.ada.Must("create_card", apptest.Fields{"listId": list, "title": "Venue"}).ID()
	return v
}

// attach attaches files whose content is their name, and returns the id of the last attachment.
func (v *vault) attach(names ...string) (id string) {
	v.t.Helper()
	for _, name := range names {
		id = v.ada.Attach(v.card, name, []byte(name)).ID()
	}
	return id
}

// path returns the path of the file with a content in a folder.
func (v *vault) path(folder, content string) string {
	v.t.Helper()
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte(content)))
	found, err := filepath.Glob(filepath.Join(folder, "org_*", sum[:2], sum))
	if err != nil || len(found) != 1 {
		v.t.Fatalf("got %q (%v) in %s for the content %q, want one file", found, err, folder, content)
	}
	return found[0]
}

func (v *vault) write(path, content string) {
	v.t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		v.t.Fatal(err)
	}
}

// backup makes a backup in the target folder, and returns its path. want is the expected part of
// the output, or of the error if the backup must fail with the given status.
func (v *vault) backup(status int, want string, args ...string) (path string) {
	v.t.Helper()
	before := v.backups()
	args = append(append([]string{"backup", v.target}, v.flags...), args...)
	got, out, stderr := v.run("", args...)
	if got != status || !strings.Contains(out+stderr, want) {
		v.t.Fatalf("cardwall %s: got status %d, output %q and error %q; want status %d and %q", strings.Join(args, " "), got, out, stderr,
			status, want)
	}
	for name := range v.backups() {
		if !before[name] {
			path = name
		}
	}
	// Names of backups have seconds. With an earlier name, the next backup does not replace this one.
	older := filepath.Join(v.target, fmt.Sprintf("cardwall-2024010%dT000000Z.backup", len(before)+1))
	for _, suffix := range []string{"", ".files"} {
		if err := os.Rename(path+suffix, older+suffix); err != nil {
			v.t.Fatal(err)
		}
	}
	return older
}

// backups returns the paths of the backups in the target folder.
func (v *vault) backups() map[string]bool {
	v.t.Helper()
	found, err := filepath.Glob(filepath.Join(v.target, "*.backup"))
	if err != nil {
		v.t.Fatal(err)
	}
	out := map[string]bool{}
	for _, name := range found {
		out[name] = true
	}
	return out
}

// checkList checks the list of a backup like sha256sum --check: each file that it names must be in
// the folder and have the hash. Their contents must be as wanted, in any order.
func (v *vault) checkList(backup string, want ...string) {
	v.t.Helper()
	list, err := os.ReadFile(backup + ".files")
	if err != nil {
		v.t.Fatal(err)
	}
	found := map[string]bool{}
	last := ""
	for line := range strings.Lines(string(list)) {
		hash, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		content, err := os.ReadFile(filepath.Join(v.target, "files", name))
		if sum := fmt.Sprintf("%x", sha256.Sum256(content)); !ok || err != nil || sum != hash || name <= last {
			v.t.Errorf("%s: the file of the line %q has the hash %s (%v)", backup, line, sum, err)
		}
		found[string(content)], last = true, name
	}
	expected := map[string]bool{}
	for _, content := range want {
		expected[content] = true
	}
	if !maps.Equal(found, expected) {
		v.t.Errorf("%s lists %v, want %v", backup, found, expected)
	}
}

// recorded returns when the last successful backup was made, for the metrics.
func (v *vault) recorded() string {
	v.t.Helper()
	return strings.Join(apptest.Select(v.t, v.s.DB, "SELECT value FROM settings WHERE key = 'backed_up_at'"), "")
}

// export returns the documents and the files of the board.
func (p place) export(board string) map[string]string {
	p.t.Helper()
	return p.comparable([]byte(p.command("", "export", "--board", board, "--with-files")))
}

// A backup copies each attached file once, and a restore copies them to a storage of another kind.
// A backup of that storage can be restored, too.
func TestBackupCopiesFiles(t *testing.T) {
	t.Parallel()
	t.Run("folder", func(t *testing.T) {
		t.Parallel()
		folder := t.TempDir()
		v := newVault(t, folder, folder)
		testBackupOfFiles(t, v, nil, "--database", apptest.EmptyPostgresURL(t), "--files", apptest.StartBucket(t).Address)
	})
	t.Run("bucket", func(t *testing.T) {
		t.Parallel()
		bucket := apptest.StartBucket(t)
		v := newVault(t, bucket.Address, filepath.Join(bucket.Folder, "cards"))
		v.attach("one", "two")
		v.backup(0, "Attached files are not in the backup")
		if _, err := os.Stat(filepath.Join(v.target, "files")); err == nil {
			t.Error("the files of a bucket were copied without --files-to")
		}
		for name := range v.backups() {
			if list, err := os.ReadFile(name + ".files"); err != nil || strings.Count(string(list), "\n") != 2 {
				t.Errorf("the list of the files in the bucket is %q (%v), want two lines", list, err)
			}
			if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
		}
		testBackupOfFiles(t, v, []string{"--files-to", filepath.Join(v.target, "files")}, "--files", filepath.Join(t.TempDir(), "new"))
	})
}

// testBackupOfFiles makes backups with the given flags, and restores one with other flags.
func testBackupOfFiles(t *testing.T, v *vault, flags []string, other ...string) {
	v.attach("one", "two")
	removed := v.attach("three")
	v.ada.Must("delete_attachment", apptest.Fields{"attachmentId": removed}) // can be restored
	v.checkList(v.backup(0, ": 3, of which 3 are new", flags...), "one", "two", "three")
	v.backup(0, ": 3, of which 0 are new", flags...)
	v.attach("four")
	backup := v.backup(0, ": 4, of which 1 are new", flags...)
	v.checkList(backup, "one", "two", "three", "four")

	// Others are copied although some are damaged. A file that was copied before may be missing.
	before := v.recorded()
	missing := v.attach("five", "six")
	changed := v.attach("seven")
	v.write(v.path(v.folder, "seven"), "SEVEN")
	for _, name := range []string{"four", "six"} {
		if err := os.Remove(v.path(v.folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	v.backup(1, ": 5, of which 1 are new", flags...)
	failed := v.backup(1, "2 not copied: ", flags...)
	v.backup(1, "of the attachment "+missing+" is missing", flags...)
	v.backup(1, "of the attachment "+changed+" has different content", flags...)
	if after := v.recorded(); before == "" || after != before {
		t.Errorf("the last successful backup was at %q and, after a failed one, at %q", before, after)
	}
	for content, want := range map[string]int{"five": 1, "six": 0, "seven": 0, "SEVEN": 0} {
		sum := fmt.Sprintf("%x", sha256.Sum256([]byte(content)))
		if found, err := filepath.Glob(filepath.Join(v.target, "files", "org_*", "*", sum)); err != nil || len(found) != want {
			t.Errorf("got the files %q (%v) with the content %q, want %d", found, err, content, want)
		}
	}
	if list, err := os.ReadFile(failed + ".files"); err != nil || strings.Count(string(list), "\n") != 7 {
		t.Errorf("the list of the incomplete backup is %q (%v), want all seven files", list, err)
	}

	key := []string{"--secret-key", v.flags[3]}
	there := place{cli{t, t.TempDir()}, append(key, other...)}
	if out := there.command("", "restore", backup); !strings.Contains(out, ": 4, of which 4 are new") {
		t.Errorf("restore printed %q, want that it copied four files", out)
	}
	if out := there.command("", "doctor", "--all-files"); out != "No problems found." {
		t.Errorf("after the restore, the doctor printed %q, want no problems", out)
	}
	exported := there.export(v.board)
	if len(exported) != 4 || exported[archived("one")] != "one" || exported[archived("four")] != "four" {
		t.Errorf("the restored board has the files %q, want three", exported)
	}

	copies := filepath.Join(t.TempDir(), "copies")
	packed := there.command("", "backup", "-", "--files-to", copies) + "\n" // command trims the last line break
	again := place{cli{t, t.TempDir()}, key}
	if out := again.command(packed, "restore", "-", "--files-from", copies); !strings.Contains(out, ": 4, of which 4 are new") {
		t.Errorf("restore from standard input printed %q, want that it copied four files", out)
	}
	if got := again.export(v.board); !maps.Equal(got, exported) {
		t.Errorf("the board that was restored again has the entries %q, want %q", got, exported)
	}
}

// archived returns the name of a file with a content in an archive.
func archived(content string) string { return fmt.Sprintf("files/%x", sha256.Sum256([]byte(content))) }

// With --keep, files are removed that only removed backups needed, unless a list is missing.
func TestBackupKeepsFilesOfKeptBackups(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	v := newVault(t, folder, folder)
	gone := v.attach("gone")
	v.attach("kept")
	v.backup(0, ": 2, of which 2 are new")
	v.ada.Must("delete_attachment", apptest.Fields{"attachmentId": gone})
	v.s.Clock.Advance(store.RemovedLifetime + time.Hour)
	if _, err := app.Housekeep(t.Context(), v.s.DB, "test"); err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(v.target, "files")
	old := filepath.Join(v.target, "old.backup")
	v.write(old, "made by a former version")
	v.backup(0, "old.backup has no list of files", "--keep", "1")
	v.path(copied, "gone")
	v.write(old+".files", "damaged")
	v.backup(1, "old.backup.files is not a list of files", "--keep", "1")
	v.path(copied, "gone")
	for _, name := range []string{old, old + ".files"} {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	v.write(filepath.Join(copied, "readme.txt"), "not of this program")
	v.backup(0, "Removed 1 files", "--keep", "1")
	v.path(copied, "kept")
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte("gone")))
	if found, err := filepath.Glob(filepath.Join(copied, "org_*", "*", sum)); err != nil || len(found) > 0 {
		t.Errorf("got the files %q (%v), want that the unused file was removed", found, err)
	}
	if entries, err := os.ReadDir(v.target); err != nil || len(entries) != 3 {
		t.Errorf("got %v (%v), want a backup, its list and the folder of files", entries, err)
	}
	if _, err := os.Stat(filepath.Join(copied, "readme.txt")); err != nil {
		t.Error(err)
	}
}

// A restore restores the database although files are missing in the backup. If it cannot store
// files, it restores nothing and can run again.
func TestRestoreReportsMissingFiles(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	v := newVault(t, folder, folder)
	v.attach("good")
	missing, changed := v.attach("missing"), v.attach("other")
	backup := v.backup(0, ": 3, of which 3 are new")
	copied := filepath.Join(v.target, "files")
	if err := os.Remove(v.path(copied, "missing")); err != nil {
		t.Fatal(err)
	}
	v.write(v.path(copied, "other"), "0ther")

	there := place{cli{t, t.TempDir()}, []string{"--secret-key", v.flags[3]}}
	restore := func(status int, want string, args ...string) {
		t.Helper()
		args = append(append([]string{"restore"}, args...), there.flags...)
		got, out, stderr := there.run("", args...)
		if got != status || !strings.Contains(out+stderr, want) {
			t.Errorf("cardwall %s: got status %d, output %q and error %q; want status %d and %q", strings.Join(args, " "), got, out, stderr,
				status, want)
		}
	}
	v.write(filepath.Join(there.data, "file"), "") // cannot be a folder
	restore(1, "the database was not restored", backup, "--files", filepath.Join(there.data, "file", "folder"))
	restore(1, "--files-from", backup, "--files-from", filepath.Join(there.data, "none"))
	restore(1, "--files-from must be a folder", backup, "--files-from", "s3://files")
	if _, err := os.Stat(filepath.Join(there.data, "cardwall.db")); err == nil {
		t.Fatal("the database was restored although files could not be stored")
	}
	restore(1, "the database is restored, but not all of its files: 2 not copied: ", backup)
	checkLines(t, func() string {
		_, out, _ := there.run("", append([]string{"doctor", "--all-files"}, there.flags...)...)
		return out
	}(),
		[]string{"the file of the attachment " + missing + " is missing", "the file of the attachment " + changed + " is missing"})
	restore(1, "not empty", backup)
	v.write(v.path(copied, "other"), "other")
	restore(1, "of the attachment "+missing+" is missing", backup, "--replace")
	restore(0, "Attached files that the backup needs were not copied: 3.", backup, "--replace", "--files-from", "none")
	restore(0, ": 3, of which 1 are new", backup, "--replace", "--files-from", folder)
	if out := there.command("", "doctor", "--all-files"); out != "No problems found." {
		t.Errorf("after the restore, the doctor printed %q, want no problems", out)
	}
}

// A backup to standard output or to a file copies files only on request, and never into the storage
// itself.
func TestBackupCopiesFilesOnRequest(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	v := newVault(t, folder, folder)
	v.attach("one")
	const notCopied = "Attached files are not in the backup. Copy them from "
	single, copies := filepath.Join(v.target, "x.db"), filepath.Join(t.TempDir(), "new", "copies")
	for _, test := range []struct {
		status int
		want   string
		args   []string
	}{
		{0, notCopied, []string{single}},
		{0, notCopied, []string{v.target, "--files-to", "none"}},
		{1, "--files-to must be a folder", []string{single, "--files-to", "s3://files"}},
		{1, "--files-to must not be the folder in which the server stores files", []string{single, "--files-to", folder + "/."}},
		{0, ": 1, of which 1 are new", []string{single, "--files-to", copies}},
		{0, ": 1, of which 0 are new", []string{"-", "--files-to", copies}},
	} {
		status, out, stderr := v.run("", append(append([]string{"backup"}, test.args...), v.flags...)...)
		if status != test.status || !strings.Contains(out+stderr, test.want) {
			t.Errorf("backup %s: got status %d and error %q, want status %d and %q", strings.Join(test.args, " "), status, stderr,
				test.status, test.want)
		}
	}
	v.write(single+".files", "Things to buy\n")
	if status, _, stderr := v.run("", append([]string{"backup", single}, v.flags...)...); status == 0 || !strings.Contains(stderr, "choose") {
		t.Errorf("a backup whose list would replace another file: got status %d and error %q, want an error", status, stderr)
	}
	if err := os.Symlink(folder, filepath.Join(filepath.Dir(folder), "files")); err != nil {
		t.Fatal(err)
	}
	if out := v.place.must(append([]string{"backup", filepath.Dir(folder)}, v.flags...)...); !strings.Contains(out, notCopied) {
		t.Errorf("a backup beside the storage printed %q, want that no files were copied", out)
	}
}
