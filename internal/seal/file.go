package seal

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// FromFile reads the keys in a file, or makes the file with a new key when
// there is none; it never overwrites one. It refuses a file that others can
// read. The ring reads the file again when it meets a key that it does not have.
func FromFile(path string) (*Keyring, error) {
	k := &Keyring{path: path}
	err := k.refresh()
	if errors.Is(err, fs.ErrNotExist) {
		if err = create(path, NewKey()+"\n"); err == nil || errors.Is(err, fs.ErrExist) {
			err = k.refresh() // it may be another's
		}
	}
	if err != nil {
		return nil, err
	}
	return k, nil
}

// InFile tells whether the keys are in a file, which Renew and Retire write.
func (k *Keyring) InFile() bool { return k.path != "" }

// Renew puts a new key first in the file, before the one that is there. It does
// nothing when the file has several: then what an earlier Renew began is not
// ended yet. Nobody else may write the file meanwhile.
func (k *Keyring) Renew() error {
	text, _, err := readFile(k.path)
	if err != nil {
		return err
	}
	if have := words(text); len(have) == 1 {
		if err := replace(k.path, NewKey()+"\n"+have[0]+"\n"); err != nil {
			return err
		}
	}
	return k.refresh()
}

// Retire leaves the first key alone in the file. The ring goes on opening with
// the others for as long as it lives.
func (k *Keyring) Retire() error {
	text, _, err := readFile(k.path)
	if err != nil {
		return err
	}
	if have := words(text); len(have) > 1 {
		if err := replace(k.path, have[0]+"\n"); err != nil {
			return err
		}
	}
	return k.refresh()
}

// refresh reads the file unless it is still as it was. Keys that are no longer
// in it still open: a reader may hold what was sealed before.
func (k *Keyring) refresh() error {
	if k.path == "" {
		return nil
	}
	k.reading.Lock()
	defer k.reading.Unlock()
	if info, err := os.Stat(k.path); err == nil && same(info, k.read) {
		return nil
	}
	text, info, err := readFile(k.path)
	if err != nil {
		return err
	}
	keys, err := parse(text)
	if err != nil {
		return fmt.Errorf("%s: %w", k.path, err)
	}
	if old := k.keys.Load(); old != nil {
		keys = appendNew(keys, *old...)
	}
	k.keys.Store(&keys)
	k.read = info
	return nil
}

func same(a, b os.FileInfo) bool {
	return b != nil && os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}

func readFile(path string) (string, os.FileInfo, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", nil, fmt.Errorf("read the secret key: %w", err)
	}
	defer func() { _ = f.Close() }() // only read
	info, err := f.Stat()
	if err != nil {
		return "", nil, fmt.Errorf("read the secret key: %w", err)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return "", nil, fmt.Errorf("%s can be read by others (mode %04o): run chmod 600 %[1]s, and cardwall rotate-key if someone may have read it", path, mode)
	}
	text, err := io.ReadAll(io.LimitReader(f, 64<<10))
	if err != nil {
		return "", nil, fmt.Errorf("read the secret key: %w", err)
	}
	return string(text), info, nil
}

// create makes a file, whole or not at all, and fails with fs.ErrExist when
// there is one.
func create(path, text string) error {
	temporary := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"."+rand.Text())
	if err := write(temporary, text); err != nil {
		return fmt.Errorf("make the secret key: %w", err)
	}
	// A link, because a rename overwrites.
	err := errors.Join(os.Link(temporary, path), os.Remove(temporary))
	if err == nil {
		err = syncFolder(path)
	}
	if err != nil {
		return fmt.Errorf("make the secret key: %w", err)
	}
	return nil
}

// replace writes a file anew, whole or not at all.
func replace(path, text string) error {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return fmt.Errorf("write the secret key: %w", err)
	}
	// Always the same name: no key is left lying when this was interrupted.
	temporary := path + ".new"
	if err := os.Remove(temporary); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("write the secret key: %w", err)
	}
	if err = write(temporary, text); err == nil {
		err = os.Rename(temporary, path)
	}
	if err == nil {
		err = syncFolder(path)
	}
	if err != nil {
		return fmt.Errorf("write the secret key: %w", err)
	}
	return nil
}

// write puts a new file on disk.
func write(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// syncFolder puts the name of a file on disk.
func syncFolder(path string) error {
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
