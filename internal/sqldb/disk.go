package sqldb

import (
	"errors"
	"os"
	"path/filepath"
)

// SyncFolder syncs the folder of path, which makes the names of its files durable.
func SyncFolder(path string) error {
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
