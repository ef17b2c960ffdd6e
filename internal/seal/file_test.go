package seal_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"cardwall/internal/seal"
)

func fromFile(t *testing.T, path string) *seal.Keyring {
	t.Helper()
	k, err := seal.FromFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func keysIn(t *testing.T, path string) int {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return len(strings.Fields(string(text)))
}

func TestFileIsCreatedOnceAndPrivate(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "secret.key")
	var (
		ids [8]string
		wg  sync.WaitGroup
	)
	for i := range ids { // several servers start at the same time
		wg.Go(func() {
			if k, err := seal.FromFile(path); err != nil {
				t.Error(err)
			} else {
				ids[i] = k.Current()
			}
		})
	}
	wg.Wait()
	for _, id := range ids {
		if id != ids[0] {
			t.Fatalf("got keys %q, want the same for all servers", ids)
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got file mode %v (%v), want 0600", info.Mode(), err)
	}
	if files, err := os.ReadDir(filepath.Dir(path)); err != nil || len(files) != 1 {
		t.Errorf("got files %v (%v), want only the key file", files, err)
	}
	if fromFile(t, path).Current() != ids[0] {
		t.Error("the next start created another key")
	}
}

func TestUnusableFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "secret.key")
	fromFile(t, path)
	for _, mode := range []os.FileMode{0o640, 0o604, 0o620, 0o601} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := seal.FromFile(path); err == nil || !strings.Contains(err.Error(), "chmod 600 "+path) {
			t.Errorf("mode %v: got error %v, want one that suggests chmod", mode, err)
		}
	}
	// A file without a valid key is an error. The file stays unchanged, so that the
	// operator can examine it.
	other := filepath.Join(t.TempDir(), "secret.key")
	for _, text := range []string{"", "correct-horse-battery-staple\n"} {
		if err := os.WriteFile(other, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := seal.FromFile(other); err == nil || !strings.Contains(err.Error(), other) || strings.Contains(err.Error(), "horse") {
			t.Errorf("a file with %q: got error %v, want one with the path but not the text", text, err)
		}
		if got, err := os.ReadFile(other); err != nil || string(got) != text {
			t.Errorf("a file with %q: got content %q (%v) after the error, want it unchanged", text, got, err)
		}
	}
	if _, err := seal.FromFile(filepath.Join(t.TempDir(), "none", "secret.key")); err == nil {
		t.Error("a file in a folder that does not exist: got no error, want one")
	}
}

// A running process uses a new key as soon as another process has rotated the keys,
// both to open values and to seal them.
func TestKeyringReloadsItsFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "secret.key")
	server, command := fromFile(t, path), fromFile(t, path)
	old := server.Seal(hookContext, []byte("old"))
	if err := command.Renew(); err != nil {
		t.Fatal(err)
	}
	fresh := command.Seal(hookContext, []byte("fresh"))
	if !command.Stale(old) || server.Len() != 1 {
		t.Fatalf("got keyrings %v and %v, want a new key only in the second", server, command)
	}
	if got, err := server.Open(hookContext, fresh); err != nil || string(got) != "fresh" {
		t.Errorf("the running process opened %q (%v), want %q", got, err, "fresh")
	}
	if err := command.Retire(); err != nil {
		t.Fatal(err)
	}
	// Processes that had the retired key can still use it; later processes cannot.
	for _, k := range []*seal.Keyring{server, command} {
		if got, err := k.Open(hookContext, old); err != nil || string(got) != "old" {
			t.Errorf("after the rotation, %v opened %q (%v), want %q", k, got, err, "old")
		}
	}
	if _, err := fromFile(t, path).Open(hookContext, old); !errors.Is(err, seal.ErrUnknownKey) {
		t.Errorf("a new process with the retired key: got error %v, want ErrUnknownKey", err)
	}
	// A keyring seals with the new key even before it has opened a value sealed with it.
	for range 3 {
		if err := command.Renew(); err != nil {
			t.Fatal(err)
		}
		if sealed := server.Seal(hookContext, nil); command.Stale(sealed) {
			t.Error("the running process seals with a key that is about to be removed")
		}
		if err := command.Retire(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRenewAndRetireAreIdempotent(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "secret.key")
	k := fromFile(t, path)
	first := k.Current()
	if err := k.Retire(); err != nil || keysIn(t, path) != 1 {
		t.Errorf("Retire with one key: got %d keys (%v), want 1", keysIn(t, path), err)
	}
	// Files that a killed process left behind do no harm.
	if err := os.WriteFile(path+".new", []byte("half a k"), 0o600); err != nil {
		t.Fatal(err)
	}
	var second string
	for range 3 {
		again := fromFile(t, path)
		if err := again.Renew(); err != nil || keysIn(t, path) != 2 {
			t.Fatalf("Renew: got %d keys (%v), want 2", keysIn(t, path), err)
		}
		if second == "" {
			second = again.Current()
		}
		if again.Current() != second || second == first || !again.Has(first) {
			t.Errorf("got %v, want the keys %s and %s", again, second, first)
		}
	}
	for range 2 {
		again := fromFile(t, path)
		if err := again.Retire(); err != nil || keysIn(t, path) != 1 || fromFile(t, path).Current() != second {
			t.Errorf("Retire: got %d keys (%v), want only %s", keysIn(t, path), err, second)
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got file mode %v (%v), want 0600", info.Mode(), err)
	}
	if files, err := os.ReadDir(filepath.Dir(path)); err != nil || len(files) != 1 {
		t.Errorf("got files %v (%v), want only the key file", files, err)
	}
}

// A running server keeps its keys if the file is removed or damaged.
func TestKeyringSurvivesLossOfItsFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "secret.key")
	k := fromFile(t, path)
	sealed := k.Seal(hookContext, []byte("secret"))
	if err := os.WriteFile(path, []byte("rubbish"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := k.Open(hookContext, k.Seal(hookContext, []byte("more"))); err != nil || string(got) != "more" {
		t.Errorf("with a damaged file: opened %q (%v), want %q", got, err, "more")
	}
	foreign := ring(t, seal.NewKey()).Seal(hookContext, nil)
	if _, err := k.Open(hookContext, foreign); !errors.Is(err, seal.ErrUnknownKey) || !strings.Contains(err.Error(), path) {
		t.Errorf("an unknown key with a damaged file: got error %v, want ErrUnknownKey with the path", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if got, err := k.Open(hookContext, sealed); err != nil || string(got) != "secret" {
		t.Errorf("without the file: opened %q (%v), want %q", got, err, "secret")
	}
}
