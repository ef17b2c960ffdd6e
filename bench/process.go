package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// clockTick is the unit of the times in /proc/PID/stat. It is 100 Hz on every Linux that Go runs on.
const clockTick = 10 * time.Millisecond

// process is a program that this one started and has to end.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
	err  error         // how; read it after done
}

// startProcess starts the command and watches for its end.
func startProcess(cmd *exec.Cmd) (*process, error) {
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", filepath.Base(cmd.Path), err)
	}
	p := &process{cmd: cmd, done: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// ended says whether the process is gone.
func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// stop asks the process to end and kills it when it has not after ten seconds, which is an error.
func (p *process) stop() error {
	if p.ended() {
		return nil
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("ask process %d to end: %w", p.pid(), err)
	}
	select {
	case <-p.done:
		return nil
	case <-time.After(10 * time.Second):
	}
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("kill process %d: %w", p.pid(), err)
	}
	<-p.done
	return fmt.Errorf("process %d did not end within 10 s of SIGTERM and was killed", p.pid())
}

// waitFor asks the address for the path every millisecond until it answers 200, the process ends or half a minute has
// gone by.
func (p *process) waitFor(ctx context.Context, addr, path string) error {
	r := request{method: "GET", path: []byte(path), want: 200}
	c := newClient(addr, "", "start")
	defer c.close()
	deadline := time.Now().Add(30 * time.Second)
	for {
		status, _, err := c.do(&r)
		switch {
		case err == nil && status == r.want:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case p.ended():
			return fmt.Errorf("the server ended before it answered: %w", p.err)
		case time.Now().After(deadline):
			return fmt.Errorf("no good answer of %s in 30 s; the last was status %d, error %v", path, status, err)
		}
		time.Sleep(time.Millisecond)
	}
}

// processCPU answers the user and system time that a process has used.
func processCPU(pid int) (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, fmt.Errorf("read processor time: %w", err)
	}
	// The second field is the program's name in brackets and may itself hold blanks and brackets.
	_, rest, ok := strings.Cut(string(stat[max(bytes.LastIndexByte(stat, ')'), 0):]), ") ")
	fields := strings.Fields(rest)
	if !ok || len(fields) < 13 {
		return 0, errors.New("read processor time: /proc/PID/stat has too few fields")
	}
	user, err1 := strconv.ParseInt(fields[11], 10, 64)
	system, err2 := strconv.ParseInt(fields[12], 10, 64)
	if err := errors.Join(err1, err2); err != nil {
		return 0, fmt.Errorf("read processor time: %w", err)
	}
	return time.Duration(user+system) * clockTick, nil
}

// ownCPU answers the user and system time of this process, or 0 when the system does not tell.
func ownCPU() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// folderSize answers the bytes of all files below dir. A file that vanishes meanwhile counts nothing.
func folderSize(dir string) (int64, error) {
	var size int64
	err := filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil && info.Mode().IsRegular() {
			size += info.Size()
		}
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("measure folder: %w", err)
	}
	return size, nil
}

// isMemoryBacked says whether a folder is on tmpfs, where durability costs nothing and means nothing.
func isMemoryBacked(dir string) bool {
	const tmpfs = 0x01021994
	var s syscall.Statfs_t
	return syscall.Statfs(dir, &s) == nil && int64(s.Type) == tmpfs
}
