package login

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/oauth2"
)

// File is the file with the logins of a person. Only the person can read it.
type File struct{ path string }

// content is the content of a file.
type content struct {
	Current string             `json:"current"` // base URL of the last login
	Servers map[string]*server `json:"servers"` // by base URL
}

type server struct {
	ClientID  string        `json:"clientId"`
	TokenURL  string        `json:"tokenUrl"`
	RevokeURL string        `json:"revokeUrl"`
	Token     *oauth2.Token `json:"token"`
}

// Open returns the file in the person's configuration folder. It need not exist.
func Open() (*File, error) {
	folder, err := os.UserConfigDir()
	if err != nil {
		return nil, fmt.Errorf("find the configuration folder: %w", err)
	}
	return At(filepath.Join(folder, "cardwall", "logins.json")), nil
}

// At returns the file with a path.
func At(path string) *File { return &File{path} }

// Current returns the base URL of the last login, or "".
func (f *File) Current() (string, error) {
	c, err := f.read()
	return c.Current, err
}

func (f *File) read() (c content, err error) {
	text, err := os.ReadFile(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return content{Servers: map[string]*server{}}, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &c)
	}
	if err != nil {
		return c, fmt.Errorf("read the logins: %w", err)
	}
	if c.Servers == nil {
		c.Servers = map[string]*server{}
	}
	maps.DeleteFunc(c.Servers, func(_ string, s *server) bool { return s == nil || s.Token == nil }) // edited by hand
	return c, nil
}

// change changes the content. Readers see the old or the new content, and never a part.
func (f *File) change(fn func(c *content)) error {
	c, err := f.read()
	if err != nil {
		return err
	}
	fn(&c)
	text, err := json.Marshal(c, jsontext.WithIndent("  "), json.Deterministic(true))
	if err != nil {
		return err
	}
	folder := filepath.Dir(f.path)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("create the folder of the logins: %w", err)
	}
	next, err := os.CreateTemp(folder, "logins-*") // with mode 0600
	if err != nil {
		return fmt.Errorf("write the logins: %w", err)
	}
	_, err = next.Write(append(text, '\n'))
	if err = errors.Join(err, next.Close()); err == nil {
		err = os.Rename(next.Name(), f.path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write the logins: %w", err), os.Remove(next.Name()))
	}
	return nil
}
