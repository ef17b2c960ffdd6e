// Package process starts and stops the programs that a measurement or a trial needs, and reads from /proc how much
// processor time and memory they use.
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

// Process is a program that this one started and must stop. It is killed if this program dies first.
type Process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when the process has ended
	err  error         // how it ended; valid after done is closed
}

// Start starts the command in a process group of its own, so that Ctrl-C in a terminal reaches only this program.
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

// Err returns how the process ended. It must not be called before Done is closed.
func (p *Process) Err() error { return p.err }

// Stop sends SIGTERM and waits for the end of the process. A process that is still there after the timeout is killed,
// which is an error.
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

// Kill sends SIGKILL and waits for the end of the process.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.done
}

// Freeze sends SIGSTOP and returns when the process has stopped. A thread inside a system call finishes the call but
// does not return from it.
func (p *Process) Freeze() error {
	if err := syscall.Kill(p.PID(), syscall.SIGSTOP); err != nil {
		return fmt.Errorf("freeze process %d: %w", p.PID(), err)
	}
	for deadline := time.Now().Add(10 * time.Second); !p.Ended() && time.Now().Before(deadline); time.Sleep(100 * time.Microsecond) {
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", p.PID()))
		if err != nil {
			return err
		}
		for _, path := range threads { // the first thread that stops has already notified the others
			text, err := os.ReadFile(path)
			if _, rest, found := strings.Cut(string(text), ") "); err == nil && found && strings.HasPrefix(rest, "T") {
				return nil
			}
		}
	}
	return fmt.Errorf("process %d did not stop within 10 s of SIGSTOP", p.PID())
}

// Thaw continues a frozen process.
func (p *Process) Thaw() error { return syscall.Kill(p.PID(), syscall.SIGCONT) }

// Run runs a program to its end and returns its trimmed output.
func Run(name string, args ...string) (string, error) {
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return strings.TrimSpace(string(out)), nil
}

// LogTail returns the last 15 lines of a log file, or why it cannot be read.
func LogTail(path string) string {
	log, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(log)), "\n")
	return strings.Join(lines[max(len(lines)-15, 0):], "\n")
}

// FreeAddress returns an unused port of the loopback interface as host:port.
func FreeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find free port: %w", err)
	}
	defer l.Close()
	return l.Addr().String(), nil
}
