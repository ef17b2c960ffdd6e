package attach_test

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"cardwall/internal/apptest"
	"cardwall/internal/attach"
	"cardwall/internal/board"
	"cardwall/internal/file"
	"cardwall/internal/store"
)

// Examine finds each kind of damage, and EachOrphan finds what nothing refers to.
func TestExamineFindsDamage(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *apptest.Service) {
		p := newPlace(s, board.PlanTeam)
		name := func(content string) string {
			sum := fmt.Sprintf("%x", sha256.Sum256([]byte(content)))
			for _, blob := range p.blobs() {
				if strings.HasSuffix(blob, sum) {
					return blob
				}
			}
			t.Fatalf("no blob with the content %q", content)
			return ""
		}
		ids := map[string]string{}
		for _, content := range []string{"good", "missing", "short", "other"} {
			ids[p.ada.Attach(p.card, content, []byte(content)).ID()] = content
		}
		if err := p.Files.Blobs.Remove(t.Context(), name("missing")); err != nil {
			t.Fatal(err)
		}
		for content, now := range map[string]string{"short": "shor", "other": "0ther"} {
			if _, err := p.Files.Blobs.Put(t.Context(), name(content), strings.NewReader(now)); err != nil {
				t.Fatal(err)
			}
		}
		// These are not damage, and are reported only after a day.
		blob := "org_x/aa/" + strings.Repeat("a", 64)
		orphans := []string{blob, "thumbs/" + blob[:len("org_x/")] + blob[len("org_x/aa/"):] + "/small", "uploads/upl_x"}
		for _, name := range append(orphans, "photos/20/2026.jpg") {
			if _, err := p.Files.Blobs.Put(t.Context(), name, strings.NewReader("x")); err != nil {
				t.Fatal(err)
			}
		}
		for after, want := range map[time.Duration][]string{0: nil, store.RemovedLifetime + time.Hour: orphans} {
			s.Clock.Advance(after)
			var got []string
			if err := p.Files.EachOrphan(t.Context(), func(i file.Info) { got = append(got, i.Name) }); err != nil {
				t.Fatal(err)
			}
			if slices.Sort(got); !slices.Equal(got, want) {
				t.Errorf("after %v: got orphans %q, want %q", after, got, want)
			}
			s.Clock.Advance(-after)
		}
		for all, want := range map[bool]string{
			false: "map[missing:is missing short:has 4 bytes instead of 5]",
			true: "map[missing:is missing other:has different content from the file that was added " +
				"short:has 4 bytes instead of 5]",
		} {
			got := map[string]string{}
			if err := p.Files.Examine(t.Context(), all, func(d attach.Damage) { got[ids[d.AttachmentID]] = d.Problem }); err != nil {
				t.Fatal(err)
			}
			if fmt.Sprint(got) != want {
				t.Errorf("reading all files: %t: got %v, want %s", all, got, want)
			}
		}
	})
}
