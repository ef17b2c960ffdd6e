package sqldb

import (
	"errors"
	"os"
	"path/filepath"
)

// SyncFolder makes the names of the files in the folder of path durable.
func SyncFolder(path string) error {
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
