package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// network is a bridge with hosts behind it, each in a network namespace of its own. This machine reaches them by the bridge.
type network struct {
	bridge string
	hosts  []*host
}

// host is a network namespace with one address.
type host struct {
	space, link, addr string // link is its cable's end at the bridge
}

// The hosts' addresses are 10.77.N.1, 10.77.N.2 and so on, where N is of this process.
const hostNetwork = "10.77."

// newNetwork makes a network of so many hosts.
func (t *torment) newNetwork(size int) (*network, error) {
	pid := os.Getpid()
	third := hostNetwork + strconv.Itoa(pid%250+1) + "."
	w := &network{bridge: fmt.Sprintf("cwt%d", pid)}
	if _, err := run("ip", "link", "add", w.bridge, "type", "bridge"); err != nil {
		return nil, err
	}
	t.atEnd(func() error {
		_, err := run("ip", "link", "del", w.bridge)
		return err
	})
	steps := [][]string{{"addr", "add", third + "254/24", "dev", w.bridge}, {"link", "set", w.bridge, "up"}}
	for i := range size {
		h := &host{space: fmt.Sprintf("%s%d-%d", namespacePrefix, pid, i+1), link: fmt.Sprintf("cwt%d%c", pid, 'a'+i),
			addr: third + strconv.Itoa(i+1)}
		w.hosts = append(w.hosts, h)
		in := []string{"-n", h.space}
		steps = append(steps,
			[]string{"netns", "add", h.space},
			[]string{"link", "add", h.link, "type", "veth", "peer", "name", "eth0", "netns", h.space},
			[]string{"link", "set", h.link, "master", w.bridge, "up"},
			append(in, "addr", "add", h.addr+"/24", "dev", "eth0"),
			append([]string{"-n", h.space}, "link", "set", "eth0", "up"),
			append([]string{"-n", h.space}, "link", "set", "lo", "up"))
		t.atEnd(func() error {
			if _, err := os.Stat("/run/netns/" + h.space); err != nil {
				return nil // it was not made
			}
			h.clear()
			_, err := run("ip", "netns", "del", h.space)
			return err
		})
	}
	for _, s := range steps {
		if _, err := run("ip", s...); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// part takes the host's cable out: what is sent to it, or by it, is lost without a word.
func (h *host) part() error {
	_, err := run("ip", "link", "set", h.link, "down")
	return err
}

func (h *host) heal() error {
	_, err := run("ip", "link", "set", h.link, "up")
	return err
}

// inside puts a command into the host, as PostgreSQL's account; it ends with this program.
func (h *host) inside(args ...string) []string {
	return append([]string{"ip", "netns", "exec", h.space, "setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups",
		"--pdeathsig=KILL"}, args...)
}

// processes are those that run in a network namespace, all of which this program started.
func processes(space string) (pids []int) {
	said, err := run("ip", "netns", "pids", space)
	if err != nil {
		return nil
	}
	for _, word := range strings.Fields(said) {
		if pid, err := strconv.Atoi(word); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// clear kills all that runs in the host but the processes to spare.
func (h *host) clear(spared ...int) { clearSpace(h.space, spared...) }

func clearSpace(space string, spared ...int) {
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); {
		left := 0
	next:
		for _, pid := range processes(space) {
			for _, s := range spared {
				if pid == s {
					continue next
				}
			}
			left++
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended meanwhile
		}
		if left == 0 {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}
