package sqldb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
)

// DataVersion implements Engine. It reads the header of the index of the write-ahead log
// (https://sqlite.org/walformat.html, 2.1), which SQLite itself compares to detect commits. Each
// commit changes it, even one of another process. The header is stored twice. If the copies
// differ, a commit is in progress.
//
// The header contains the checksum of the last frame. It is 0 after the recovery of an empty log,
// until the first commit. The version is unknown then, because all such headers are the same.
func (e *sqliteEngine) DataVersion() (version DataVersion) {
	if e.index == nil {
		return version
	}
	var header [2 * len(version)]byte
	_, err := e.index.ReadAt(header[:], 0)
	one, two := DataVersion(header[:len(version)]), DataVersion(header[len(version):])
	checksum := [8]byte(one[24:])
	if err != nil || one != two || checksum == [8]byte{} {
		return version
	}
	return one
}

// openIndex opens the index of the write-ahead log. The caller must close it after all
// connections, because closing it releases SQLite's locks on it (fcntl(2)). On systems
// other than Linux, a read may not see what SQLite has written to the mapped file.
func (e *sqliteEngine) openIndex(ctx context.Context) error {
	if runtime.GOOS != "linux" {
		return nil
	}
	var path string // of the file itself, if the path of the database is that of a link
	found, err := One(ctx, e.writer, "SELECT file FROM pragma_database_list WHERE name = 'main'", nil, &path)
	if err == nil && !found {
		err = errors.New("the database has no file")
	}
	if err == nil {
		e.index, err = os.Open(path + "-shm")
	}
	if err != nil {
		return fmt.Errorf("open the index of the write-ahead log: %w", err)
	}
	return nil
}
