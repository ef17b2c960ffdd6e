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
		made [8]string
		wg   sync.WaitGroup
	)
	for i := range made { // several servers start at once
		wg.Go(func() {
			if k, err := seal.FromFile(path); err != nil {
				t.Error(err)
			} else {
				made[i] = k.Current()
			}
		})
	}
	wg.Wait()
	for _, id := range made {
		if id != made[0] {
			t.Fatalf("the servers created different keys: %q", made)
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file has mode %v (%v)", info.Mode(), err)
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("the folder holds %v (%v)", left, err)
	}
	if fromFile(t, path).Current() != made[0] {
		t.Error("the next start created another key")
	}
}

func TestFileThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "secret.key")
	fromFile(t, path)
	for _, mode := range []os.FileMode{0o640, 0o604, 0o620, 0o601} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := seal.FromFile(path); err == nil || !strings.Contains(err.Error(), "chmod 600 "+path) {
			t.Errorf("mode %v: %v", mode, err)
		}
	}
	// A file without a valid key is refused, and kept so that a person can look at
	// it.
	other := filepath.Join(t.TempDir(), "secret.key")
	for _, text := range []string{"", "correct-horse-battery-staple\n"} {
		if err := os.WriteFile(other, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := seal.FromFile(other); err == nil || !strings.Contains(err.Error(), other) || strings.Contains(err.Error(), "horse") {
			t.Errorf("a file with %q: %v", text, err)
		}
		if got, err := os.ReadFile(other); err != nil || string(got) != text {
			t.Errorf("the file was overwritten with %q (%v)", got, err)
		}
	}
	if _, err := seal.FromFile(filepath.Join(t.TempDir(), "none", "secret.key")); err == nil {
		t.Error("a key was created in a folder that does not exist")
	}
}

// A running process continues while another one rotates the key: it opens values
// sealed with the new key, and seals with it.
func TestRunningRingFollowsItsFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "secret.key")
	server, command := fromFile(t, path), fromFile(t, path)
	old := server.Seal(place, []byte("old"))
	if err := command.Renew(); err != nil {
		t.Fatal(err)
	}
	fresh := command.Seal(place, []byte("fresh"))
	if !command.Stale(old) || server.Len() != 1 {
		t.Fatalf("there is no new key: %v, then %v", server, command)
	}
	if got, err := server.Open(place, fresh); err != nil || string(got) != "fresh" {
		t.Errorf("the running ring opened %q (%v)", got, err)
	}
	if err := command.Retire(); err != nil {
		t.Fatal(err)
	}
	// Processes that had the retired key can still use it; later processes cannot.
	for _, k := range []*seal.Keyring{server, command} {
		if got, err := k.Open(place, old); err != nil || string(got) != "old" {
			t.Errorf("after the rotation %v opened %q (%v)", k, got, err)
		}
	}
	if _, err := fromFile(t, path).Open(place, old); !errors.Is(err, seal.ErrUnknownKey) {
		t.Errorf("a new process has the retired key: %v", err)
	}
	// A ring that has not opened a value with the new key also seals with it.
	for range 3 {
		if err := command.Renew(); err != nil {
			t.Fatal(err)
		}
		if sealed := server.Seal(place, nil); command.Stale(sealed) {
			t.Error("the running ring seals with a key that is about to be removed")
		}
		if err := command.Retire(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRenewAndRetireCanRunAgain(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "secret.key")
	k := fromFile(t, path)
	first := k.Current()
	if err := k.Retire(); err != nil || keysIn(t, path) != 1 {
		t.Errorf("with one key Retire left %d (%v)", keysIn(t, path), err)
	}
	// Files that a killed process left behind do no harm.
	if err := os.WriteFile(path+".new", []byte("half a k"), 0o600); err != nil {
		t.Fatal(err)
	}
	var second string
	for range 3 {
		again := fromFile(t, path)
		if err := again.Renew(); err != nil || keysIn(t, path) != 2 {
			t.Fatalf("Renew left %d keys (%v)", keysIn(t, path), err)
		}
		if second == "" {
			second = again.Current()
		}
		if again.Current() != second || second == first || !again.Has(first) {
			t.Errorf("the ring is %v", again)
		}
	}
	for range 2 {
		again := fromFile(t, path)
		if err := again.Retire(); err != nil || keysIn(t, path) != 1 || fromFile(t, path).Current() != second {
			t.Errorf("Retire left %d keys (%v)", keysIn(t, path), err)
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file has mode %v (%v)", info.Mode(), err)
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("the folder holds %v (%v)", left, err)
	}
}

// A running server keeps its keys if the file is removed or damaged.
func TestRingOutlivesItsFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "secret.key")
	k := fromFile(t, path)
	sealed := k.Seal(place, []byte("secret"))
	if err := os.WriteFile(path, []byte("rubbish"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := k.Open(place, k.Seal(place, []byte("more"))); err != nil || string(got) != "more" {
		t.Errorf("with a bad file it opened %q (%v)", got, err)
	}
	foreign := ring(t, seal.NewKey()).Seal(place, nil)
	if _, err := k.Open(place, foreign); !errors.Is(err, seal.ErrUnknownKey) || !strings.Contains(err.Error(), path) {
		t.Errorf("an unknown key with a bad file: %v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if got, err := k.Open(place, sealed); err != nil || string(got) != "secret" {
		t.Errorf("without the file it opened %q (%v)", got, err)
	}
}
