package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// disk is a filesystem (XFS) in a file, that can be cut off and filled.
type disk struct {
	image, folder string
	mounted       bool
}

// newDisk makes and mounts a filesystem of so many megabytes; XFS wants 300.
func (t *torment) newDisk(name string, megabytes int) (*disk, error) {
	d := &disk{image: filepath.Join(t.dir, name+".image"), folder: filepath.Join(t.dir, name)}
	file, err := os.Create(d.image)
	if err != nil {
		return nil, fmt.Errorf("make disk: %w", err)
	}
	if err := errors.Join(file.Truncate(int64(megabytes)<<20), file.Close(), os.Mkdir(d.folder, 0o755)); err != nil {
		return nil, fmt.Errorf("make disk: %w", err)
	}
	if _, err := run("mkfs.xfs", "-q", d.image); err != nil {
		return nil, err
	}
	t.atEnd(d.unmount)
	return d, d.mount()
}

func (d *disk) mount() error {
	_, err := run("mount", "-o", "loop", d.image, d.folder)
	d.mounted = err == nil
	return err
}

// unmount takes the filesystem away, once nobody has a file open there.
func (d *disk) unmount() (err error) {
	for deadline := time.Now().Add(10 * time.Second); d.mounted; {
		if _, err = run("umount", d.folder); err == nil || time.Now().After(deadline) {
			d.mounted = false
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	return err
}

// cut ends the filesystem as a power cut would: what is not synced is gone, even the filesystem's own log in memory.
func (d *disk) cut() error {
	_, err := run("xfs_io", "-x", "-c", "shutdown", d.folder)
	return err
}

// recover mounts the filesystem again after a cut, as after a start of the machine.
func (d *disk) recover() error {
	if err := d.unmount(); err != nil {
		return err
	}
	return d.mount()
}

// ballast is the file that fills a disk.
func (d *disk) ballast() string { return filepath.Join(d.folder, "ballast") }

// fill takes all of the room that is left.
func (d *disk) fill() error {
	file, err := os.Create(d.ballast())
	if err != nil {
		return fmt.Errorf("fill disk: %w", err)
	}
	defer file.Close()
	at := int64(0)
	for piece := int64(64 << 20); piece >= 4096; {
		err := syscall.Fallocate(int(file.Fd()), 0, at, piece)
		switch {
		case err == nil:
			at += piece
		case errors.Is(err, syscall.ENOSPC):
			piece /= 2
		default:
			return fmt.Errorf("fill disk: %w", err)
		}
	}
	return nil
}

// free gives the room back.
func (d *disk) free() error { return os.Remove(d.ballast()) }

// strace runs beside a process and answers some of its system calls in the kernel's stead.
type strace struct{ proc *process }

// failSyncs has every sync of the process and its threads fail with EIO, until stop is called.
func (t *torment) failSyncs(pid int) (*strace, error) {
	cmd := command("strace", "-f", "-qq", "-p", strconv.Itoa(pid), "-e", "trace=fsync,fdatasync", "-e",
		"inject=fsync,fdatasync:error=EIO", "-e", "signal=none")
	p, err := startProcess(cmd, filepath.Join(t.dir, "strace.log"))
	if err != nil {
		return nil, err
	}
	s := &strace{p}
	return s, t.until("strace does not hold the server", 10*time.Second, func() bool { return p.ended() || traced(pid) })
}

// stop lets the process go.
func (s *strace) stop() error { return s.proc.stop(10 * time.Second) }
