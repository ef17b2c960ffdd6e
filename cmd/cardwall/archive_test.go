package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"fmt"
	"image"
	"image/png"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/archive"
	"cardwall/internal/board"
	"cardwall/internal/file"
)

// plan is the content of an attached file. It is larger than the buffers of an export.
var plan = strings.Repeat("0123456789", 100_000)

// newArchive returns an export with the attached file "plan" and, after it, a picture as a cover.
func newArchive(t *testing.T) []byte {
	t.Helper()
	blobs, err := file.OpenFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer blobs.Close()
	var picture, b bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 40, 20))); err != nil {
		t.Fatal(err)
	}
	const at = `"createdAt":"2026-01-05T09:00:00.000Z","updatedAt":"2026-01-05T09:00:00.000Z"`
	var attachments []string
	if err := archive.Write(t.Context(), &b, blobs, func(w io.Writer, add func(board.Attachment)) error {
		for n, content := range [][]byte{[]byte(plan), picture.Bytes()} {
			a := board.Attachment{ID: fmt.Sprint("att_", n), Size: new(int64), Blob: board.Blob{OrganizationID: "org_x",
				Hash: fmt.Sprintf("%x", sha256.Sum256(content))}}
			*a.Size, err = blobs.Put(t.Context(), file.Name("org_x", a.Blob.Hash), bytes.NewReader(content))
			if err != nil {
				return err
			}
			add(a)
			attachments = append(attachments, fmt.Sprintf(`{"id":%q,"name":%q,"size":%d,"sha256":%q,"cover":%t,"createdBy":null,%s}`, a.ID,
				[]string{"plan", "Größe.png"}[n], *a.Size, a.Blob.Hash, n == 1, at))
		}
		_, err := fmt.Fprintf(w, `{"format":"cardwall-export/1","exportedAt":"2026-01-05T09:00:00.000Z","boardVersion":0,"board":{"id":"brd_x",`+
			`"name":"Launch","description":"","visibility":"workspace","features":{},"nextNumber":2,"cards":1,"archivedAt":null,`+
			`"createdBy":null,%s},"users":[],"labels":[],"lists":[{"id":"lst_x","name":"To do","wipLimit":null,"wipMode":"soft",`+
			`"archivedAt":null,%s}],"cards":[{"id":"crd_x","listId":"lst_x","number":1,"title":"Venue","description":"",%s,`+
			`"attachments":[%s],"comments":[]}],"activity":[],"counts":{"users":0,"labels":0,"lists":1,"cards":1,"checklists":0,`+
			`"items":0,"comments":0,"attachments":2,"activity":0},"complete":true}`, at, at, at, strings.Join(attachments, ","))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// place is a place for data: flags that name a database and a storage for files.
type place struct {
	cli
	flags []string
}

func (p place) command(stdin string, args ...string) string {
	p.t.Helper()
	status, out, stderr := p.run(stdin, append(args, p.flags...)...)
	if status != 0 {
		p.t.Fatalf("cardwall %v: %s", args, stderr)
	}
	return out
}

// newWorkspace creates an account and a workspace.
func (p place) newWorkspace() string {
	p.t.Helper()
	p.command("", "user", "add", "--email", "ada@example.com", "--name", "Ada")
	return p.command("", "workspace", "add", "--owner", "ada@example.com", "--name", "Engines")
}

// importBoard imports an archive from standard input and returns the ids of the workspace and
// of the board.
func (p place) importBoard(packed []byte) (workspace, board string) {
	p.t.Helper()
	workspace = p.newWorkspace()
	out := p.command(string(packed), "import", "cardwall", "-", "--workspace", workspace)
	id := regexp.MustCompile(`brd_\w+`).FindString(out)
	if id == "" || strings.Contains(out, "Skipped or changed") || !strings.Contains(out, "Imported attached files: 2") {
		p.t.Fatalf("import printed %q, want an imported board with two files and without skipped parts", out)
	}
	return workspace, id
}

// comparable returns the entries of an archive. It replaces what differs between exports.
func (p place) comparable(packed []byte) map[string]string {
	p.t.Helper()
	in, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	if err != nil {
		p.t.Fatal(err)
	}
	out := map[string]string{}
	for _, f := range in.File {
		r, err := f.Open()
		if err != nil {
			p.t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			p.t.Fatal(err)
		}
		if f.Name == "cardwall.json" {
			content = regexp.MustCompile(`"exportedAt":"[^"]*"`).ReplaceAll(content, nil)
			content = regexp.MustCompile(`[a-z]{3}_[0-9a-hjkmnp-tv-z]{26}`).ReplaceAllFunc(content, func(id []byte) []byte { return id[:4] })
		}
		out[f.Name] = string(content)
	}
	return out
}

// An archive moves a board with its files from SQLite and a folder to PostgreSQL and a bucket,
// and back. The exports are equal.
func TestArchiveMovesBetweenServers(t *testing.T) {
	t.Parallel()
	here := place{cli{t, t.TempDir()}, nil}
	there := place{cli{t, t.TempDir()}, []string{"--database", apptest.PostgresURL(t), "--files", apptest.StartBucket(t).Address}}
	again := place{cli{t, t.TempDir()}, []string{"--files", filepath.Join(t.TempDir(), "elsewhere")}}
	packed := newArchive(t)
	var before map[string]string
	for n, p := range []place{here, there, again} {
		workspace, board := p.importBoard(packed)
		path := filepath.Join(t.TempDir(), "export.zip")
		p.command("", "export", "--board", board, "--with-files", "--output", path)
		var err error
		if packed, err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
		after := p.comparable(packed)
		if len(after) != 3 {
			t.Fatalf("place %d: got the entries %q, want a document and two files", n, after)
		}
		for name, content := range before {
			if after[name] != content {
				t.Errorf("place %d: %s is %q, want %q", n, name, after[name], content)
			}
		}
		before = after
		if n == 0 && !strings.Contains(after["cardwall.json"], `"cover":true`) {
			t.Errorf("the document has no cover: %s", after["cardwall.json"])
		}
		stdout := p.comparable([]byte(p.command("", "export", "--workspace", workspace, "--with-files")))
		for name, content := range after {
			if name != "cardwall.json" && stdout[name] != content || len(stdout) != len(after) {
				t.Errorf("place %d: the export of the workspace has the entries %q, want the files of its board", n, stdout)
			}
		}
		if left, err := filepath.Glob(filepath.Join(p.data, ".cardwall-*")); err != nil || len(left) > 0 {
			t.Errorf("place %d: the import left %q (%v)", n, left, err)
		}
	}
}

// An export whose files are incomplete keeps an existing file and leaves no other.
func TestExportWithMissingFileKeepsTheFile(t *testing.T) {
	t.Parallel()
	p := place{cli{t, t.TempDir()}, nil}
	_, board := p.importBoard(newArchive(t))
	var picture string // the content that is written last
	for name := range p.comparable([]byte(p.command("", "export", "--board", board, "--with-files"))) {
		if hash := strings.TrimPrefix(name, "files/"); len(hash) == 64 && hash != fmt.Sprintf("%x", sha256.Sum256([]byte(plan))) {
			picture = hash
		}
	}
	found, err := filepath.Glob(filepath.Join(p.data, "files", "org_*", "*", picture))
	if err != nil || len(found) != 1 {
		t.Fatalf("got the files %q (%v), want one", found, err)
	}
	if err := os.Remove(found[0]); err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	path, link := filepath.Join(folder, "export.zip"), filepath.Join(folder, "link.zip")
	if err := os.WriteFile(path, []byte("the last export"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	status, _, stderr := p.run("", "export", "--board", board, "--with-files", "--output", link)
	if status == 0 || !strings.Contains(stderr, `"Größe.png"`) || !strings.Contains(stderr, "missing") {
		t.Errorf("export: status %d, printed %q; want an error that names the missing file", status, stderr)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "the last export" {
		t.Errorf("after the failed export, the file contains %q (%v), want what it contained before", got, err)
	}
	p.command("", "export", "--board", board, "--output", link)
	if got, err := os.ReadFile(path); err != nil || !strings.Contains(string(got), `"complete":true`) {
		t.Errorf("the export contains %q (%v), want a complete document", got, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the export has mode %v (%v), want that of the former file", info.Mode(), err)
	}
	if all, err := os.ReadDir(folder); err != nil || len(all) != 2 || all[1].Type() != os.ModeSymlink {
		t.Errorf("got the files %v (%v), want the export and the link to it", all, err)
	}
	out := p.command("", "import", "cardwall", path, "--workspace", p.command("", "workspace", "add", "--owner", "ada@example.com",
		"--name", "Copies"))
	if !strings.Contains(out, "Attached files, because the document does not contain their content: 2") {
		t.Errorf("the import of a document printed %q, want that it skipped two files", out)
	}
}

// A move to PostgreSQL leaves attached files where they are, and prints where. The new servers
// find them there. A backup prints where they are, too.
func TestMigrateKeepsAttachedFiles(t *testing.T) {
	t.Parallel()
	p := place{cli{t, t.TempDir()}, nil}
	_, board := p.importBoard(newArchive(t))
	export := func() map[string]string {
		return p.comparable([]byte(p.command("", "export", "--board", board, "--with-files")))
	}
	before, folder := export(), filepath.Join(p.data, "files")
	if out := p.command("", "backup", filepath.Join(t.TempDir(), "x.backup")); !strings.Contains(out, "Copy them from "+folder) {
		t.Errorf("backup printed %q, want that the files are in %s", out, folder)
	}
	if _, _, stderr := p.run("", "backup", "-"); !strings.Contains(stderr, "Copy them from "+folder) {
		t.Errorf("backup to standard output printed %q, want that the files are in %s", stderr, folder)
	}
	database := apptest.EmptyPostgresURL(t)
	if out := p.command("", "migrate", "--to", database); !strings.Contains(out, "They are in "+folder) {
		t.Errorf("migrate printed %q, want that the files are in %s", out, folder)
	}
	p.flags = []string{"--database", database}
	if after := export(); len(after) != 3 || !maps.Equal(before, after) {
		t.Errorf("after the move, the export has the entries %q, want %q", after, before)
	}
}
