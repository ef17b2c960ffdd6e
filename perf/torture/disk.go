package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"cardwall/perf/process"
)

// disk is an XFS filesystem in a file. It can be shut down and filled.
type disk struct {
	image, folder string
	mounted       bool
}

// newDisk creates and mounts a filesystem of the given size. XFS needs at least 300 MB.
func (t *trialRun) newDisk(name string, megabytes int) (*disk, error) {
	d := &disk{image: filepath.Join(t.dir, name+".image"), folder: filepath.Join(t.dir, name)}
	file, err := os.Create(d.image)
	if err != nil {
		return nil, fmt.Errorf("create disk: %w", err)
	}
	if err := errors.Join(file.Truncate(int64(megabytes)<<20), file.Close(), os.Mkdir(d.folder, 0o755)); err != nil {
		return nil, fmt.Errorf("create disk: %w", err)
	}
	if _, err := process.Run("mkfs.xfs", "-q", d.image); err != nil {
		return nil, err
	}
	t.cleanup(d.unmount)
	return d, d.mount()
}

func (d *disk) mount() error {
	_, err := process.Run("mount", "-o", "loop", d.image, d.folder)
	d.mounted = err == nil
	return err
}

// unmount unmounts the filesystem. It retries for ten seconds if a file is open.
func (d *disk) unmount() (err error) {
	for deadline := time.Now().Add(10 * time.Second); d.mounted; {
		if _, err = process.Run("umount", d.folder); err == nil || time.Now().After(deadline) {
			d.mounted = false
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	return err
}

// cut shuts down the filesystem to simulate a power cut. Everything that has not been synced is lost, including the
// part of the filesystem's log that is still in memory.
func (d *disk) cut() error {
	_, err := process.Run("xfs_io", "-x", "-c", "shutdown", d.folder)
	return err
}

// recover mounts the filesystem again after a cut, as a machine does when it boots.
func (d *disk) recover() error {
	if err := d.unmount(); err != nil {
		return err
	}
	return d.mount()
}

// filler returns the path of the file that fills the disk.
func (d *disk) filler() string { return filepath.Join(d.folder, "filler") }

// fill allocates all free space on the disk.
func (d *disk) fill() error {
	file, err := os.Create(d.filler())
	if err != nil {
		return fmt.Errorf("fill disk: %w", err)
	}
	defer file.Close()
	offset := int64(0)
	for size := int64(64 << 20); size >= 4096; {
		err := syscall.Fallocate(int(file.Fd()), 0, offset, size)
		switch {
		case err == nil:
			offset += size
		case errors.Is(err, syscall.ENOSPC):
			size /= 2
		default:
			return fmt.Errorf("fill disk: %w", err)
		}
	}
	return nil
}

// free frees the space that fill has allocated.
func (d *disk) free() error { return os.Remove(d.filler()) }

// failSyncs makes every sync of a process fail with EIO until the returned tracer is stopped.
func (t *trialRun) failSyncs(pid int) (*process.Process, error) {
	cmd := exec.Command("strace", "-f", "-qq", "-p", strconv.Itoa(pid), "-e", "trace=fsync,fdatasync", "-e",
		"inject=fsync,fdatasync:error=EIO", "-e", "signal=none")
	p, err := process.Start(cmd, filepath.Join(t.dir, "strace.log"))
	if err != nil {
		return nil, err
	}
	return p, t.waitUntil("strace did not attach to the server", 10*time.Second, func() bool { return p.Ended() || process.Traced(pid) })
}
