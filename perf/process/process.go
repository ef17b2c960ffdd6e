// Package process starts and stops the programs that a benchmark or a trial needs. It also reads their processor time
// and memory usage from /proc.
package process

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Process is a child process. If this program exits first, the process is killed, unless its command sets another
// Pdeathsig.
type Process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when the process has ended
	err  error         // result of Wait; valid after done is closed
}

// Start starts the command in its own process group, so that Ctrl-C in a terminal reaches only this program.
// If logPath is not empty, standard output and standard error are appended to that file.
func Start(cmd *exec.Cmd, logPath string) (*Process, error) {
	if logPath != "" {
		log, err := os.OpenFile(logPath, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, fmt.Errorf("open log: %w", err)
		}
		defer log.Close()
		cmd.Stdout, cmd.Stderr = log, log
	}
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	if cmd.SysProcAttr.Pdeathsig == 0 {
		cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	}
	cmd.SysProcAttr.Setpgid = true
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", filepath.Base(cmd.Path), err)
	}
	p := &Process{cmd: cmd, done: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// PID returns the process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// CPU returns the user and system time that the process has used.
func (p *Process) CPU() (time.Duration, error) { return CPU(p.PID()) }

// Done returns a channel that is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Ended reports whether the process has ended.
func (p *Process) Ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// Err returns the result of waiting for the process, as exec.Cmd.Wait does. It must not be called before the process
// has ended.
func (p *Process) Err() error { return p.err }

// Stop sends SIGTERM and waits for the process to end. If it has not ended after the timeout, Stop kills it and returns
// an error.
func (p *Process) Stop(timeout time.Duration) error {
	if p.Ended() {
		return nil
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop process %d: %w", p.PID(), err)
	}
	select {
	case <-p.done:
		return nil
	case <-time.After(timeout):
	}
	p.Kill()
	return fmt.Errorf("process %d did not end within %v of SIGTERM and was killed", p.PID(), timeout)
}

// Kill sends SIGKILL and waits for the process to end.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill() // fails if the process has already ended
	<-p.done
}

// Freeze sends SIGSTOP and waits until the process has stopped. A thread in a system call finishes the call, but does
// not return from it.
func (p *Process) Freeze() error {
	if err := syscall.Kill(p.PID(), syscall.SIGSTOP); err != nil {
		return fmt.Errorf("freeze process %d: %w", p.PID(), err)
	}
	for deadline := time.Now().Add(10 * time.Second); !p.Ended() && time.Now().Before(deadline); time.Sleep(100 * time.Microsecond) {
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", p.PID()))
		if err != nil {
			return err
		}
		for _, path := range threads { // if one thread has stopped, all have been signaled
			text, err := os.ReadFile(path)
			if _, rest, found := strings.Cut(string(text), ") "); err == nil && found && strings.HasPrefix(rest, "T") {
				return nil
			}
		}
	}
	return fmt.Errorf("process %d ended, or did not stop within 10 s of SIGSTOP", p.PID())
}

// Thaw continues a frozen process.
func (p *Process) Thaw() error { return syscall.Kill(p.PID(), syscall.SIGCONT) }

// Run runs a program and returns its trimmed output.
func Run(name string, args ...string) (string, error) {
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return strings.TrimSpace(string(out)), nil
}

// LogTail returns the last 15 lines of a log file. If the file cannot be read, it returns the text of the error.
func LogTail(path string) string {
	log, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(log)), "\n")
	return strings.Join(lines[max(len(lines)-15, 0):], "\n")
}

// FreeAddress returns an unused address on the loopback interface, as host:port. It does not reserve the address.
func FreeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find free port: %w", err)
	}
	defer l.Close()
	return l.Addr().String(), nil
}
