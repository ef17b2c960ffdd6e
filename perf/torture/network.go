package main

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"cardwall/perf/process"
)

// network is a bridge that connects hosts with each other and with this machine. Each host is a network namespace.
type network struct {
	bridge string
	hosts  []*host
}

// host is a network namespace with one address.
type host struct {
	namespace, addr string
	link            string // interface on the bridge
}

// The addresses of the hosts are 10.77.N.1, 10.77.N.2 and so on, where N depends on the process id.
const hostNetwork = "10.77."

// newNetwork creates a network with size hosts.
func (t *trialRun) newNetwork(size int) (*network, error) {
	pid := os.Getpid()
	third := hostNetwork + strconv.Itoa(pid%250+1) + "."
	n := &network{bridge: fmt.Sprintf("cwt%d", pid)}
	if _, err := process.Run("ip", "link", "add", n.bridge, "type", "bridge"); err != nil {
		return nil, err
	}
	t.cleanup(func() error {
		_, err := process.Run("ip", "link", "del", n.bridge)
		return err
	})
	steps := [][]string{{"addr", "add", third + "254/24", "dev", n.bridge}, {"link", "set", n.bridge, "up"}}
	for i := range size {
		h := &host{namespace: fmt.Sprintf("%s%d-%d", namespacePrefix, pid, i+1), link: fmt.Sprintf("cwt%d%c", pid, 'a'+i),
			addr: third + strconv.Itoa(i+1)}
		n.hosts = append(n.hosts, h)
		in := []string{"-n", h.namespace}
		steps = append(steps,
			[]string{"netns", "add", h.namespace},
			[]string{"link", "add", h.link, "type", "veth", "peer", "name", "eth0", "netns", h.namespace},
			[]string{"link", "set", h.link, "master", n.bridge, "up"},
			append(in, "addr", "add", h.addr+"/24", "dev", "eth0"),
			append([]string{"-n", h.namespace}, "link", "set", "eth0", "up"),
			append([]string{"-n", h.namespace}, "link", "set", "lo", "up"))
		t.cleanup(func() error {
			if _, err := os.Stat("/run/netns/" + h.namespace); err != nil {
				return nil // it was not created
			}
			h.killAll()
			_, err := process.Run("ip", "netns", "del", h.namespace)
			return err
		})
	}
	for _, s := range steps {
		if _, err := process.Run("ip", s...); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// disconnect drops all packets to and from the host.
func (h *host) disconnect() error {
	_, err := process.Run("ip", "link", "set", h.link, "down")
	return err
}

// reconnect undoes disconnect.
func (h *host) reconnect() error {
	_, err := process.Run("ip", "link", "set", h.link, "up")
	return err
}

// inside returns the arguments that run a command on the host as the postgres user. The command is killed when this
// program exits.
func (h *host) inside(args ...string) []string {
	return append([]string{"ip", "netns", "exec", h.namespace, "setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups",
		"--pdeathsig=KILL"}, args...)
}

// processes returns the ids of the processes in a network namespace. This run or an earlier one started all of them.
func processes(namespace string) (pids []int) {
	out, err := process.Run("ip", "netns", "pids", namespace)
	if err != nil {
		return nil
	}
	for _, id := range strings.Fields(out) {
		if pid, err := strconv.Atoi(id); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// killAll kills all processes of the host except the given ones.
func (h *host) killAll(except ...int) { killNamespace(h.namespace, except...) }

// killNamespace kills all processes in a network namespace except the given ones.
func killNamespace(namespace string, except ...int) {
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); {
		remaining := 0
		for _, pid := range processes(namespace) {
			if slices.Contains(except, pid) {
				continue
			}
			remaining++
			_ = syscall.Kill(pid, syscall.SIGKILL) // fails if the process has already ended
		}
		if remaining == 0 {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}
