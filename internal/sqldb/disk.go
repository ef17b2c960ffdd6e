package sqldb

import (
	"errors"
	"os"
	"path/filepath"
)

// SyncFolder syncs the folder that contains path, which makes the names of the files in
// it durable.
func SyncFolder(path string) error {
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
