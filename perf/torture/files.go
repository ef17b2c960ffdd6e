package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cardwall/perf/process"
)

const (
	filesDisk     = 4096           // size of a disk in MB; its image is sparse
	filesDay      = 26 * time.Hour // longer than a sweep keeps unused files
	filesRecovery = time.Minute    // time limit for uploads to succeed after a fault
	filesSwept    = time.Minute    // time limit for a sweep
)

// files is an installation whose files are stored in a folder.
type files struct {
	*fileWork
	clock  string // name of the file with the offset of the server's clock
	folder string // where the files are stored, directly or by an S3 server
	stored int    // number of stored files before the sweeps
}

// newFiles starts a server that stores files at an address. The folder is that of the files.
func (t *trialRun) newFiles(address, folder string, env ...string) (*files, error) {
	f := &files{clock: filepath.Join(t.dir, "clock"), folder: folder}
	if err := os.WriteFile(f.clock, []byte("0s"), 0o600); err != nil {
		return nil, err
	}
	n, err := t.newServer("data", "", append(env, "CARDWALL_FILES="+address, "CARDWALL_TORTURE_CLOCK="+f.clock,
		"CARDWALL_TORTURE_PAUSE=500ms", "CARDWALL_STORAGE_FREE=1TB")...)
	if err != nil {
		return nil, err
	}
	n.Binary = t.control
	f.fileWork, err = t.newFileWork(n)
	return f, err
}

// newFilesOnDisk starts a server that stores files on a disk of their own.
func (t *trialRun) newFilesOnDisk() (*disk, *files, error) {
	d, err := t.newDisk("disk", filesDisk)
	if err != nil {
		return nil, nil, err
	}
	folder := filepath.Join(d.folder, "files")
	f, err := t.newFiles(folder, folder)
	return d, f, err
}

// run calls round in each round while files are added, removed and read. See finish for the end.
func (f *files) run(round func(int) error, disturb func() error) error {
	stop := f.startWriters()
	defer stop()
	if err := f.eachRound(round); err != nil {
		return err
	}
	stop()
	return f.finish(disturb)
}

// killFiles repeatedly kills a server with SIGKILL while files are added, removed and read.
func killFiles(t *trialRun) error {
	folder := filepath.Join(t.dir, "files")
	f, err := t.newFiles(folder, folder)
	if err != nil {
		return err
	}
	return f.run(func(int) error {
		if err := t.sleep(time.Duration(100+rand.IntN(500)) * time.Millisecond); err != nil {
			return err
		}
		f.Server.Kill()
		return errors.Join(start(t.ctx, f.Server), f.awaitAcknowledged(1))
	}, f.awaitSweep)
}

// cutFiles repeatedly shuts down the filesystem of the files under load, to simulate a power cut. The database is on
// another one, so it has every attachment that was acknowledged.
func cutFiles(t *trialRun) error {
	d, f, err := t.newFilesOnDisk()
	if err != nil {
		return err
	}
	return f.run(func(int) error {
		if err := t.sleep(time.Duration(100+rand.IntN(500)) * time.Millisecond); err != nil {
			return err
		}
		if err := errors.Join(f.Server.Process.Freeze(), d.cut()); err != nil {
			return err
		}
		f.Server.Kill()
		return errors.Join(d.recover(), start(t.ctx, f.Server), f.awaitAcknowledged(1))
	}, f.awaitSweep)
}

// fillFiles repeatedly fills the disk of the files and then frees the space. In every second round, the server is killed
// while the disk is full.
func fillFiles(t *trialRun) error {
	d, f, err := t.newFilesOnDisk()
	if err != nil {
		return err
	}
	return f.run(func(round int) error {
		if err := t.sleep(time.Duration(rand.IntN(300)) * time.Millisecond); err != nil {
			return err
		}
		if err := d.fill(); err != nil {
			return err
		}
		err := f.awaitRefused(5)
		if round%2 == 1 {
			f.Server.Kill()
			err = errors.Join(err, start(t.ctx, f.Server), f.awaitRefused(5))
		}
		return errors.Join(err, d.free(), f.awaitAcknowledged(2*fileWriters))
	}, f.awaitSweep)
}

// failBucket repeatedly lets an S3 server fail in each of several ways. Sometimes it also kills the server.
func failBucket(t *trialRun) error {
	b, err := t.newBucket()
	if err != nil {
		return err
	}
	f, err := t.newFiles(b.address(), b.folder(), "AWS_ACCESS_KEY_ID="+bucketKey, "AWS_SECRET_ACCESS_KEY="+bucketKey)
	if err != nil {
		return err
	}
	err = f.run(func(round int) error {
		if err := t.sleep(time.Duration(100+rand.IntN(300)) * time.Millisecond); err != nil {
			return err
		}
		if round%6 == 5 {
			f.Server.Kill()
			return errors.Join(start(t.ctx, f.Server), f.awaitAcknowledged(2*fileWriters))
		}
		fault := bucketFaults()[round%6]
		if err := b.fail(fault); err != nil {
			return err
		}
		err := t.sleep(2 * time.Second)
		if err == nil && fault != slowly {
			err = f.awaitFailed(2)
		}
		if rand.IntN(2) == 0 { // a server does not start without its bucket
			f.Server.Kill()
			return errors.Join(err, b.heal(), start(t.ctx, f.Server), f.awaitAcknowledged(2*fileWriters))
		}
		return errors.Join(err, b.heal(), f.awaitAcknowledged(2*fileWriters))
	}, func() error { return errors.Join(b.fail(refusing), t.sleep(2*time.Second), b.heal()) })
	if err != nil {
		return err
	}
	// Parts of objects that were never completed.
	parts, err := filesBelow(filepath.Join(b.root, "files", ".sgwtmp", "multipart"))
	if len(parts) > 0 {
		t.fail("the S3 server still has %d unfinished parts, such as %s", len(parts), parts[0])
	}
	return err
}

// finish moves the clock on until a sweep has removed all unused files. It calls disturb when the sweep begins, and then
// kills the server. Afterwards, it compares the files with what was acknowledged.
func (f *files) finish(disturb func() error) error {
	stored, err := filesBelow(f.folder)
	if f.stored = len(stored); err != nil {
		return err
	}
	if err := f.advance(filesDay); err != nil {
		return err
	}
	if err := f.waitUntil("removed attachments were not deleted, or unused files not found", filesSwept, func() bool {
		left, err := process.Run("sqlite3", "-readonly", "-cmd", ".timeout 5000", filepath.Join(f.Server.Data, "cardwall.db"),
			`SELECT (SELECT count(*) FROM attachments WHERE removed_at IS NOT NULL) + (SELECT count(*) FROM blobs b WHERE
				unused_since IS NULL AND NOT EXISTS (SELECT 1 FROM attachments t WHERE t.hash = b.hash))`)
		return err == nil && left == "0"
	}); err != nil {
		return err
	}
	if err := errors.Join(f.advance(2*filesDay), disturb()); err != nil {
		return err
	}
	f.Server.Kill()
	if err := errors.Join(start(f.ctx, f.Server), f.advance(3*filesDay)); err != nil {
		return err
	}
	return f.audit()
}

// awaitSweep waits until a sweep has begun to remove files, for at most three seconds.
func (f *files) awaitSweep() error {
	for deadline := time.Now().Add(3 * time.Second); time.Now().Before(deadline); {
		stored, err := filesBelow(f.folder)
		if err != nil || len(stored) < f.stored {
			return err
		}
		if err := f.sleep(time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

// advance sets the server's clock to a time after the real time.
func (f *files) advance(offset time.Duration) error {
	if err := os.WriteFile(f.clock+".new", []byte(offset.String()), 0o600); err != nil {
		return err
	}
	return os.Rename(f.clock+".new", f.clock)
}

// audit compares the files with what was acknowledged.
func (f *files) audit() error {
	f.counted, f.acknowledged = true, f.count(&f.acked)
	used, err := f.compareRecords()
	if err != nil {
		return err
	}
	if err := f.awaitStored(used); err != nil {
		f.fail("%v", err)
	}
	f.compareContent()
	f.note = fmt.Sprintf("%d files with %d MB, %d of them removed; %d requests refused, %d without a response; "+
		"sweeps removed %d of %d stored files", f.countFiles(func(*sentFile) bool { return true }), f.bytes>>20,
		f.countFiles(func(s *sentFile) bool { return s.removed }), f.count(&f.refused), f.count(&f.cut), f.stored-len(used), f.stored)
	// The server first has to renew its leases, which have expired with the time that was left out.
	problem := ""
	if err := f.waitUntil("cardwall doctor still found problems", filesRecovery, func() bool {
		out, err := f.Server.Run(f.ctx, "doctor", "--all-files")
		if problem = out; err != nil {
			problem = err.Error()
		}
		return problem == "No problems found."
	}); err != nil {
		return fmt.Errorf("%w: %s", err, problem)
	}
	return nil
}

// awaitStored waits until the storage contains exactly the blobs with the given hashes.
func (f *files) awaitStored(used map[string]bool) error {
	var missing, extra []string
	err := f.waitUntil("the storage did not have exactly the files that attachments refer to", filesSwept, func() bool {
		stored, err := filesBelow(f.folder)
		if err != nil {
			extra = []string{err.Error()}
			return false
		}
		extra, missing = nil, nil
		left := maps.Clone(used)
		for _, name := range stored {
			if hash := filepath.Base(name); left[hash] && strings.HasPrefix(name, "org_") {
				delete(left, hash)
			} else {
				extra = append(extra, name)
			}
		}
		missing = slices.Collect(maps.Keys(left))
		return len(missing)+len(extra) == 0
	})
	if err != nil {
		err = fmt.Errorf("%w: missing %q, unused %q", err, missing[:min(len(missing), 2)], extra[:min(len(extra), 2)])
	}
	return err
}

// filesBelow returns the paths of all files in a folder and its subfolders, relative to it. If the folder does not exist,
// there are none.
func filesBelow(folder string) (names []string, err error) {
	err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(folder, path)
		names = append(names, name)
		return err
	})
	return names, err
}

// awaitAcknowledged waits until n more requests have been acknowledged.
func (f *files) awaitAcknowledged(n int) error {
	return f.await("requests were not acknowledged again", n, func() int { return f.count(&f.acked) })
}

// awaitRefused waits until n more requests have been refused.
func (f *files) awaitRefused(n int) error {
	return f.await("no requests were refused", n, func() int { return f.count(&f.refused) })
}

// awaitFailed waits until n more requests have been refused or had no response.
func (f *files) awaitFailed(n int) error {
	return f.await("no requests failed", n, func() int { return f.count(&f.refused) + f.count(&f.cut) })
}

func (f *files) await(problem string, n int, current func() int) error {
	before := current()
	return f.waitUntil(problem, filesRecovery, func() bool { return current() >= before+n })
}
