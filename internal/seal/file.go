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

// FromFile reads the keys from a file. If the file does not exist, FromFile creates it
// with a new key. It never overwrites a file. It returns an error if the file's group
// or other users have any permission on the file. Before it encrypts a value, and when
// it needs an unknown key, the keyring reads the file again if the file has changed.
func FromFile(path string) (*Keyring, error) {
	k := &Keyring{path: path}
	err := k.refresh()
	if errors.Is(err, fs.ErrNotExist) {
		if err = create(path, NewKey()+"\n"); err == nil || errors.Is(err, fs.ErrExist) {
			err = k.refresh() // another process may have created the file
		}
	}
	if err != nil {
		return nil, err
	}
	return k, nil
}

// InFile reports whether the keys are in a file, as Renew and Retire require.
func (k *Keyring) InFile() bool { return k.path != "" }

// Renew adds a new first key to the file. If the file has several keys, an earlier
// rotation is not complete and Renew adds no key. The caller must ensure that no other
// process writes to the file.
func (k *Keyring) Renew() error {
	text, _, err := readFile(k.path)
	if err != nil {
		return err
	}
	if keys := words(text); len(keys) == 1 {
		if err := replace(k.path, NewKey()+"\n"+keys[0]+"\n"); err != nil {
			return err
		}
	}
	return k.refresh()
}

// Retire removes all keys but the first from the file. This keyring can still decrypt
// with the removed keys.
func (k *Keyring) Retire() error {
	text, _, err := readFile(k.path)
	if err != nil {
		return err
	}
	if keys := words(text); len(keys) > 1 {
		if err := replace(k.path, keys[0]+"\n"); err != nil {
			return err
		}
	}
	return k.refresh()
}

// refresh reads the file if it has changed. Keys that were removed from the file stay
// in the keyring for decryption, because a running transaction may have read a value
// that is encrypted with them.
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
		return "", nil, fmt.Errorf("read secret key: %w", err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return "", nil, fmt.Errorf("read secret key: %w", err)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return "", nil, fmt.Errorf("%s can be accessed by other users (mode %04o): run chmod 600 %[1]s, "+
			"and cardwall rotate-key if someone may have read it", path, mode)
	}
	text, err := io.ReadAll(io.LimitReader(f, 64<<10))
	if err != nil {
		return "", nil, fmt.Errorf("read secret key: %w", err)
	}
	return string(text), info, nil
}

// create atomically creates a file. The error wraps fs.ErrExist if the file exists.
func create(path, text string) error {
	temporary := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"."+rand.Text())
	if err := write(temporary, text); err != nil {
		return fmt.Errorf("create secret key: %w", err)
	}
	// Link fails if the file exists; Rename would overwrite it.
	err := errors.Join(os.Link(temporary, path), os.Remove(temporary))
	if err == nil {
		err = syncFolder(path)
	}
	if err != nil {
		return fmt.Errorf("create secret key: %w", err)
	}
	return nil
}

// replace atomically replaces a file.
func replace(path, text string) error {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return fmt.Errorf("write secret key: %w", err)
	}
	// The name is fixed, so that the next replacement removes what an interrupted replacement left behind.
	temporary := path + ".new"
	if err := os.Remove(temporary); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("write secret key: %w", err)
	}
	if err = write(temporary, text); err == nil {
		err = os.Rename(temporary, path)
	}
	if err == nil {
		err = syncFolder(path)
	}
	if err != nil {
		return fmt.Errorf("write secret key: %w", err)
	}
	return nil
}

// write creates a file and syncs it to disk.
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

// syncFolder syncs the folder of a file to disk, so that the file's name is durable.
func syncFolder(path string) error {
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
