package attach

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"cardwall/internal/board"
	"cardwall/internal/file"
)

// A manifest lists the blobs that a backup needs, one on each line in the format of sha256sum, in
// the order of their names. In a folder with the blobs, sha256sum --check can check them.

// ManifestLine returns the line of a blob in a manifest.
func ManifestLine(b board.Blob) string { return b.Hash + "  " + blobName(b) + "\n" }

// CheckManifest returns an error if a file cannot be read or is not a manifest. An empty file is a
// manifest without blobs.
func CheckManifest(path string) error {
	m, err := openManifest(path)
	if err != nil {
		return err
	}
	for m.next() {
	}
	return errors.Join(m.err, m.file.Close())
}

// manifest reads the names in a manifest one after another.
type manifest struct {
	file    *os.File
	lines   *bufio.Reader
	name    string // the current one; empty before the first
	line    int    // the number of its line
	current bool   // whether there is a current name
	err     error  // why there are no more names, unless at the end
}

func openManifest(path string) (*manifest, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the list of files: %w", err)
	}
	return &manifest{file: f, lines: bufio.NewReader(f)}, nil
}

// next reads the next name and reports whether there is one.
func (m *manifest) next() bool {
	before := m.name
	line, err := m.lines.ReadSlice('\n')
	if err == io.EOF && len(line) == 0 {
		m.current = false
		return false
	}
	const hash = 64 // length in characters
	if err == nil && len(line) > hash+3 {
		m.name = string(line[hash+2 : len(line)-1])
		b, ok := blobOf(m.name)
		m.current = ok && m.name > before && ManifestLine(b) == string(line)
	} else {
		m.current = false
	}
	if m.line++; !m.current {
		m.err = fmt.Errorf("%s is not a list of files, or is damaged in line %d", m.file.Name(), m.line)
	}
	return m.current
}

// Prune removes the blobs from a folder that none of the manifests at the given paths names, and
// returns their number. It ignores files that are not named like a blob. If a manifest cannot be
// read, Prune removes nothing and returns an error.
func Prune(ctx context.Context, folder *file.Folder, manifests []string) (removed int, err error) {
	var open []*manifest
	defer func() {
		for _, m := range open {
			err = errors.Join(err, m.file.Close())
		}
	}()
	for _, path := range manifests {
		if err := CheckManifest(path); err != nil {
			return 0, err
		}
		m, err := openManifest(path)
		if err != nil {
			return 0, err
		}
		open = append(open, m)
		m.next()
	}
	err = folder.List(ctx, "org_", func(i file.Info) error {
		if !nameOfBlob.MatchString(i.Name) {
			return nil
		}
		for _, m := range open {
			for m.current && m.name < i.Name {
				m.next()
			}
			if m.err != nil {
				return m.err
			}
			if m.current && m.name == i.Name {
				return nil
			}
		}
		removed++
		return folder.Remove(ctx, i.Name)
	})
	return removed, err
}
