package archive_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"cardwall/internal/archive"
	"cardwall/internal/board"
	"cardwall/internal/file"
)

// An export fails if a file is missing or damaged, and its error names the attachment. What was
// written by then is not an archive.
func TestIncompleteArchiveIsAnError(t *testing.T) {
	t.Parallel()
	blobs, err := file.OpenFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer blobs.Close()
	size := int64(len("0123456789"))
	plan := board.Attachment{ID: "att_1", Name: "plan", Size: &size, Blob: board.Blob{OrganizationID: "org_1",
		Hash: fmt.Sprintf("%x", sha256.Sum256([]byte("0123456789")))}}
	write := func(ctx context.Context) ([]byte, error) {
		var b bytes.Buffer
		err := archive.Write(ctx, &b, blobs, func(w io.Writer, file func(board.Attachment)) error {
			_, err := io.WriteString(w, "{}")
			file(plan)
			file(plan)
			return err
		})
		return b.Bytes(), err
	}
	for _, c := range []struct{ stored, want string }{
		{"", `"plan" (att_1): its content is missing`}, {"9876543210", `"plan" (att_1): its content in the storage for files is damaged`},
		{"012345678", "is damaged"}, {"0123456789", ""},
	} {
		if c.stored != "" {
			if _, err := blobs.Put(t.Context(), file.Name("org_1", plan.Blob.Hash), strings.NewReader(c.stored)); err != nil {
				t.Fatal(err)
			}
		}
		packed, err := write(t.Context())
		_, openErr := archive.Open(bytes.NewReader(packed), int64(len(packed)))
		if c.want == "" && (err != nil || openErr != nil) {
			t.Errorf("with the file: got errors %v and %v", err, openErr)
		}
		if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || openErr == nil) {
			t.Errorf("with the content %q: got errors %v and %v, want %q and an archive that cannot be opened", c.stored, err, openErr, c.want)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := write(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("an interrupted export: got error %v, want %v", err, context.Canceled)
	}
}
