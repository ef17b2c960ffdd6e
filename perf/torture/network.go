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

// network is a bridge that connects hosts, each in its own network namespace, with each other and with this machine.
type network struct {
	bridge string
	hosts  []*host
}

// host is a network namespace with one address.
type host struct {
	namespace, link, addr string // link is its interface at the bridge
}

// The addresses of the hosts are 10.77.N.1, 10.77.N.2 and so on, where N depends on the process id.
const hostNetwork = "10.77."

// newNetwork creates a network with size hosts.
func (t *trialRun) newNetwork(size int) (*network, error) {
	pid := os.Getpid()
	third := hostNetwork + strconv.Itoa(pid%250+1) + "."
	w := &network{bridge: fmt.Sprintf("cwt%d", pid)}
	if _, err := process.Run("ip", "link", "add", w.bridge, "type", "bridge"); err != nil {
		return nil, err
	}
	t.cleanup(func() error {
		_, err := process.Run("ip", "link", "del", w.bridge)
		return err
	})
	steps := [][]string{{"addr", "add", third + "254/24", "dev", w.bridge}, {"link", "set", w.bridge, "up"}}
	for i := range size {
		h := &host{namespace: fmt.Sprintf("%s%d-%d", namespacePrefix, pid, i+1), link: fmt.Sprintf("cwt%d%c", pid, 'a'+i),
			addr: third + strconv.Itoa(i+1)}
		w.hosts = append(w.hosts, h)
		in := []string{"-n", h.namespace}
		steps = append(steps,
			[]string{"netns", "add", h.namespace},
			[]string{"link", "add", h.link, "type", "veth", "peer", "name", "eth0", "netns", h.namespace},
			[]string{"link", "set", h.link, "master", w.bridge, "up"},
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
	return w, nil
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

// inside returns the arguments that run a command in the host, as the account of PostgreSQL. The command is killed when
// this program ends.
func (h *host) inside(args ...string) []string {
	return append([]string{"ip", "netns", "exec", h.namespace, "setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups",
		"--pdeathsig=KILL"}, args...)
}

// processes returns the processes in a network namespace. This program started all of them.
func processes(namespace string) (pids []int) {
	out, err := process.Run("ip", "netns", "pids", namespace)
	if err != nil {
		return nil
	}
	for _, word := range strings.Fields(out) {
		if pid, err := strconv.Atoi(word); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// killAll kills all processes of the host except those listed.
func (h *host) killAll(except ...int) { killNamespace(h.namespace, except...) }

func killNamespace(namespace string, except ...int) {
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); {
		left := 0
		for _, pid := range processes(namespace) {
			if slices.Contains(except, pid) {
				continue
			}
			left++
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
		}
		if left == 0 {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}
