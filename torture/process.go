package main

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

// process is a program that this one started and has to end. It ends by itself when this one does.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
}

// startProcess starts the command, with what it prints in a log file.
func startProcess(cmd *exec.Cmd, logPath string) (*process, error) {
	log, err := os.OpenFile(logPath, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	cmd.SysProcAttr.Setpgid = true // an interrupt at the terminal is for this program alone
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", filepath.Base(cmd.Path), err)
	}
	p := &process{cmd: cmd, done: make(chan struct{})}
	go func() {
		_ = cmd.Wait()
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

// freeze stops the process. A thread that is in the kernel ends its call there, and does not come back from it.
func (p *process) freeze() error {
	if err := syscall.Kill(p.pid(), syscall.SIGSTOP); err != nil {
		return fmt.Errorf("stop process %d: %w", p.pid(), err)
	}
	for deadline := time.Now().Add(10 * time.Second); !p.ended() && time.Now().Before(deadline); time.Sleep(100 * time.Microsecond) {
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", p.pid()))
		if err != nil {
			return err
		}
		for _, path := range threads { // the first that stops has told all others to
			text, err := os.ReadFile(path)
			if _, rest, found := strings.Cut(string(text), ") "); err == nil && found && strings.HasPrefix(rest, "T") {
				return nil
			}
		}
	}
	return fmt.Errorf("process %d does not stop", p.pid())
}

// kill ends the process with SIGKILL and waits for its end.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
}

// stop asks the process to end and kills it when it has not after so long, which is an error.
func (p *process) stop(patience time.Duration) error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("ask process %d to end: %w", p.pid(), err)
	}
	select {
	case <-p.done:
		return nil
	case <-time.After(patience):
	}
	p.kill()
	return fmt.Errorf("process %d did not end within %v of SIGTERM and was killed", p.pid(), patience)
}

// run runs a command that ends by itself, and answers what it prints.
func run(name string, args ...string) (string, error) {
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return strings.TrimSpace(string(out)), nil
}

// openFiles counts the file handles of a process.
func openFiles(pid int) (int, error) {
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		return 0, fmt.Errorf("count file handles: %w", err)
	}
	return len(entries), nil
}

// freeAddress answers a port of the loopback interface that nobody listens at.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find free port: %w", err)
	}
	defer l.Close()
	return l.Addr().String(), nil
}

// lastLines answers the end of a log.
func lastLines(path string) string {
	log, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(log)), "\n")
	return strings.Join(lines[max(len(lines)-8, 0):], "\n")
}

// command is a program of the system's with its arguments.
func command(name string, args ...string) *exec.Cmd { return exec.Command(name, args...) }

// traced says whether all threads of a process are held by a tracer.
func traced(pid int) bool {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	if err != nil || len(threads) == 0 {
		return false
	}
	for _, path := range threads {
		text, err := os.ReadFile(path)
		if err == nil && strings.Contains(string(text), "TracerPid:\t0\n") {
			return false
		}
	}
	return true
}
