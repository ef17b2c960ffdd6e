package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"cardwall/internal/attach"
	"cardwall/internal/dbtool"
	"cardwall/internal/file"
	"cardwall/internal/sqldb"
	"cardwall/internal/store"
)

const (
	noFiles     = "none"   // value of --files-to and --files-from that copies no files
	filesFolder = "files"  // folder of attached files beside backups
	listSuffix  = ".files" // of the list of files, after the file name of its backup
)

// folderForFiles returns the folder that receives the attached files, or "" if they are not
// copied. target is the target of the backup if it is a folder, otherwise "".
func (c *backupCommand) folderForFiles(g *globals, target string) (string, error) {
	storage := g.filesAddress()
	switch {
	case c.FilesTo == noFiles:
		return "", nil
	case file.IsBucket(c.FilesTo):
		return "", errors.New("--files-to must be a folder")
	case c.FilesTo != "" && sameFolder(c.FilesTo, storage):
		return "", fmt.Errorf("--files-to must not be the folder in which the server stores files, %s", storage)
	case c.FilesTo != "" || target == "" || file.IsBucket(storage):
		return c.FilesTo, nil
	}
	if folder := filepath.Join(target, filesFolder); !sameFolder(folder, storage) {
		return folder, nil
	}
	return "", nil // the target is the data folder
}

// sameFolder reports whether two paths name the same folder, whether it exists or not.
func sameFolder(a, b string) bool {
	first, firstErr := os.Stat(a)
	second, secondErr := os.Stat(b)
	if firstErr == nil && secondErr == nil {
		return os.SameFile(first, second)
	}
	a, firstErr = filepath.Abs(a)
	b, secondErr = filepath.Abs(b)
	return firstErr == nil && secondErr == nil && a == b
}

// checkList returns an error if the list of files of a backup would replace a file that is not such
// a list.
func checkList(list string) error {
	if _, err := os.Lstat(list); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := attach.CheckManifest(list); err != nil {
		return fmt.Errorf("choose another file for the backup: %w", err)
	}
	return nil
}

// writeList writes the list of the files that a backup needs.
func writeList(ctx context.Context, backup, list string) error {
	f := &outputFile{path: list}
	if _, err := f.Write(nil); err != nil { // a list without files is empty
		return fmt.Errorf("write the list of files: %w", err)
	}
	w := bufio.NewWriter(f)
	err := dbtool.EachUsedBlob(ctx, backup, func(u store.UsedBlob) error {
		_, err := w.WriteString(attach.ManifestLine(u.Blob))
		return err
	})
	if err = f.end(errors.Join(err, w.Flush())); err == nil {
		err = sqldb.SyncFolder(list)
	}
	if err != nil {
		return fmt.Errorf("write the list of files: %w", err)
	}
	return nil
}

// copyFiles copies the files that a backup needs between two storages. It prints how many there
// are with print. It opens no storage if the backup needs no files. If files are missing or
// damaged, it returns an *attach.CopyError after it has copied all others.
func (g *globals) copyFiles(ctx context.Context, backup, from, to string, print func(string)) (err error) {
	count, size, err := dbtool.CountUsedBlobs(ctx, backup)
	if err != nil {
		return err
	}
	if count == 0 {
		print("There are no attached files.")
		return nil
	}
	source, closeSource, err := file.OpenToRead(ctx, from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeSource()) }()
	target, closeTarget, err := file.Open(ctx, to)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeTarget()) }()
	if !file.IsBucket(to) {
		err = errors.Join(target.RemoveUnfinished(ctx, time.Now().Add(-store.RemovedLifetime)), sqldb.SyncFolder(to))
		if err != nil {
			return err
		}
	}
	done, err := attach.Copy(ctx, attach.CopyOptions{
		From: source, To: target, Count: count, Size: size, Progress: g.reportProgress,
		Each: func(ctx context.Context, fn func(store.UsedBlob) error) error {
			return dbtool.EachUsedBlob(ctx, backup, fn)
		},
	})
	print(fmt.Sprintf("Attached files in %s: %d, of which %d are new.", to, done.Present+done.Blobs, done.Blobs))
	return err
}

// notCopied returns a sentence for the operator that says where attached files are.
func (g *globals) notCopied() string {
	return fmt.Sprintf("Attached files are not in the backup. Copy them from %s after the backup.", g.filesAddress())
}

// pruneFiles removes the files from a folder that no backup in the target folder needs. It removes
// nothing if a backup has no list of files, because a former version of the program has written it.
func (g *globals) pruneFiles(ctx context.Context, target, folder string) (err error) {
	entries, err := os.ReadDir(target)
	if err != nil {
		return err
	}
	var lists []string
	for _, e := range entries {
		path := filepath.Join(target, e.Name())
		switch {
		case e.IsDir():
		case strings.HasSuffix(path, listSuffix):
			lists = append(lists, path)
		case strings.HasSuffix(path, backupSuffix):
			if _, err := os.Stat(path + listSuffix); err != nil {
				g.reportProgress(fmt.Sprintf("No attached files were removed from %s, because %s has no list of files.", folder, path))
				return nil
			}
		}
	}
	if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
		return nil // there were no files yet
	}
	blobs, err := file.OpenFolder(folder)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, blobs.Close()) }()
	removed, err := attach.Prune(ctx, blobs, lists)
	if removed > 0 {
		g.print("Removed %d files from %s that no backup needs.", removed, folder)
	}
	if err != nil {
		return fmt.Errorf("remove files that no backup needs: %w", err)
	}
	return nil
}

// folderWithFiles returns the folder from which a restore copies the attached files, or "" if it
// does not.
func (c *restoreCommand) folderWithFiles() (string, error) {
	switch {
	case c.FilesFrom == noFiles:
		return "", nil
	case file.IsBucket(c.FilesFrom):
		return "", errors.New("--files-from must be a folder")
	case c.FilesFrom != "":
		info, err := os.Stat(c.FilesFrom)
		if err == nil && !info.IsDir() {
			err = fmt.Errorf("%s is not a folder", c.FilesFrom)
		}
		if err != nil {
			return "", fmt.Errorf("--files-from: %w", err)
		}
		return c.FilesFrom, nil
	case c.File == "-":
		return "", nil
	}
	folder := filepath.Join(filepath.Dir(c.File), filesFolder)
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return "", nil //nolint:nilerr // there is no such folder, so no files are copied
	}
	return folder, nil
}

// restoreFiles copies the files that a backup needs to the storage. It returns what is wrong with
// those that are missing or damaged, and an error if the restore must stop.
func (c *restoreCommand) restoreFiles(ctx context.Context, g *globals, backup, folder string) (incomplete, err error) {
	storage := g.filesAddress()
	if folder == "" {
		count, _, err := dbtool.CountUsedBlobs(ctx, backup)
		if count > 0 {
			g.print("Attached files that the backup needs were not copied: %d. Copy them to %s.", count, storage)
		}
		return nil, err
	}
	err = g.copyFiles(ctx, backup, folder, storage, func(message string) { g.print("%s", message) })
	var missing *attach.CopyError
	if errors.As(err, &missing) {
		return err, nil
	}
	if err != nil {
		err = fmt.Errorf("the database was not restored, because its files could not be copied; run the command again to continue: %w", err)
	}
	return nil, err
}
