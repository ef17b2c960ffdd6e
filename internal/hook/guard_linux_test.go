package hook_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"cardwall/internal/hook"
)

const (
	hostileAddresses = 10_000
	// inNamespace is set in the child process, which has its own network.
	inNamespace = "CARDWALL_TEST_GUARD_NAMESPACE"
	// Prefixes of the line with which the child reports its result to the parent.
	noNamespace = "no namespace: "
	childPassed = "nothing wrong in here"
)

// inOwnNetwork runs a test in a child process (this binary again) with its own network and mounts: all
// traffic is routed to one device or to loopback.
func inOwnNetwork(t *testing.T, test func(*testing.T)) {
	if os.Getenv(inNamespace) != "" {
		makeNetwork(t)
		if test(t); !t.Failed() {
			fmt.Println(childPassed)
		}
		return
	}
	missing := func(why string) {
		if os.Getenv("CI") == "true" {
			t.Fatalf("CI needs network namespaces and iproute2: %s", why)
		}
		t.Skipf("SKIPPED: the guard was not tested in its own network, because this machine lacks network namespaces or iproute2: %s", why)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	child := exec.CommandContext(ctx, "/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v", "-test.count=1")
	child.Env = append(os.Environ(), inNamespace+"=1")
	child.WaitDelay = time.Second
	child.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWNS}
	if os.Getuid() != 0 {
		child.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		child.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		child.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	var out bytes.Buffer
	child.Stdout, child.Stderr = &out, &out
	if err := child.Start(); err != nil {
		missing(err.Error())
	}
	err := child.Wait()
	if _, why, found := strings.Cut(out.String(), noNamespace); found {
		missing(why)
	}
	if err != nil || !strings.Contains(out.String(), childPassed) {
		t.Fatalf("%v\n%s", err, out.String())
	}
}

func TestHostileAddressesSendNoPacket(t *testing.T) {
	inOwnNetwork(t, callHostileAddresses)
}

func TestSearchListIsUsedOnlyForAllowedRanges(t *testing.T) {
	inOwnNetwork(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "resolv.conf")
		if err := os.WriteFile(file, []byte("nameserver 127.0.0.1\nsearch corp.example.com\noptions ndots:5\n"),
			0o644); err != nil {
			t.Fatal(err)
		}
		// The mount must not propagate to the machine.
		err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, "")
		if err == nil {
			err = syscall.Mount(file, "/etc/resolv.conf", "", syscall.MS_BIND, "")
		}
		if err != nil {
			t.Fatalf("%smount resolv.conf: %v", noNamespace, err)
		}
		var asked []string
		z := zone(func(name string, _ int) []netip.Addr {
			asked = append(asked, name)
			if name == "n8n.corp.example.com" || name == "db.prod.corp.example.com" {
				return addresses("10.0.0.8")
			}
			return nil
		})
		closed := newGuard(t, z)
		wantFault(t, "db.prod", closed.Check(t.Context(), "https://db.prod"), "does not exist")
		closed.Dial(t.Context(), "tcp", "db.prod:443")
		for _, name := range asked {
			if name != "db.prod" {
				t.Errorf("DNS was queried for %q, want %q", name, "db.prod")
			}
		}
		if len(asked) != 4 {
			t.Errorf("DNS was queried for %q, want A and AAAA of one name by Check and Dial", asked)
		}
		if err := newGuard(t, z, "10.0.0.0/24").Check(t.Context(), "http://n8n:5678"); err != nil {
			t.Error(err)
		}
	})
}

// makeNetwork configures loopback and one device to which everything else is routed. The device
// is a veth and not a dummy, because kernels for virtual machines lack dummy devices. Nothing
// uses the other end. Without ARP, multicast and link-local addresses, the kernel itself sends
// nothing.
func makeNetwork(t *testing.T) {
	t.Helper()
	for _, line := range []string{
		"link set lo up",
		"link add out0 type veth peer name far0",
		"link set out0 arp off multicast off addrgenmode none",
		"link set far0 arp off multicast off addrgenmode none",
		"link set far0 up",
		"link set out0 up",
		"addr add 9.9.9.2/32 dev out0",
		"addr add 2620:fe::2/128 dev out0 nodad",
		"route add default dev out0",
		"-6 route add default dev out0",
	} {
		if out, err := exec.Command("ip", strings.Fields(line)...).CombinedOutput(); err != nil {
			t.Fatalf("%sip %s: %v %s", noNamespace, line, err, out)
		}
	}
}

// sent returns the number of packets that lo and out0 sent or dropped.
func sent(t *testing.T) (n [2]int) {
	t.Helper()
	for i, device := range []string{"lo", "out0"} {
		// Do not use /sys/class/net: it shows the network in which it was mounted.
		text, err := os.ReadFile("/proc/self/net/dev")
		if err != nil {
			t.Fatal(err)
		}
		_, rest, found := strings.Cut(string(text), device+":")
		fields := strings.Fields(rest)
		if !found || len(fields) < 16 {
			t.Fatalf("no counters of %s in %s", device, text)
		}
		for _, column := range []int{9, 11} { // sent and dropped
			k, err := strconv.Atoi(fields[column])
			if err != nil {
				t.Fatal(err)
			}
			n[i] += k
		}
	}
	return n
}

// callHostileAddresses parses, checks and calls addresses, and then compares the kernel's
// packet counters.
func callHostileAddresses(t *testing.T) {
	made := &hostile{rand: rand.New(rand.NewPCG(20, 26)), names: map[string][]netip.Addr{}, rebound: map[string]bool{}}
	g := newGuard(t, made.zone)
	transport := &http.Transport{DialContext: g.Dial, DisableKeepAlives: true}
	client := &http.Client{Transport: transport, Timeout: 20 * time.Second}
	before := sent(t)
	start := time.Now()
	kinds, wrong := map[string]int{}, 0
	for range hostileAddresses {
		address, rebinding := made.address()
		_, parsed := g.Parse(address)
		checked := g.Check(t.Context(), address)
		why := "refused by Parse"
		switch {
		case rebinding:
			why = "refused at the dial alone"
			if parsed != nil || checked != nil {
				t.Errorf("%q, which is still public, was rejected: %v", address, checked)
			}
		case checked == nil:
			t.Errorf("Check accepted %q", address)
		case parsed == nil:
			why = "refused by Check"
		}
		kinds[why]++
		answer, err := client.Get(address)
		if err == nil {
			answer.Body.Close()
		}
		// The others never reached a dial, because net/http cannot parse them.
		var refused *hook.Refused
		if errors.As(err, &refused) {
			kinds["dialled and refused"]++
		} else if u, unread := url.Parse(address); unread == nil && (u.Scheme == "http" || u.Scheme == "https") &&
			u.Host != "" || rebinding {
			t.Errorf("%q was called: %v", address, err)
		}
		if t.Failed() {
			if wrong++; wrong == 5 {
				break
			}
		}
	}
	after := sent(t)
	if after != before {
		t.Errorf("lo and out0 have sent %d packets, and %d before", after, before)
	}
	for why, n := range kinds {
		// Each reason must occur often, or the test proves little.
		if n < hostileAddresses/20 && wrong == 0 {
			t.Errorf("only %d of the addresses were %s", n, why)
		}
	}
	if len(kinds) != 4 && wrong == 0 {
		t.Errorf("the addresses were %v, want all four kinds", kinds)
	}
	t.Logf("%d addresses in %s: %v", hostileAddresses, time.Since(start).Round(time.Millisecond), kinds)

	// Check the counters themselves: an accepted address sends packets, and so does a connection
	// to loopback that bypasses the guard.
	for _, accepted := range []string{"8.8.8.8:443", "[2606:4700::1111]:443", "public.example.com:443"} {
		for wait := 100 * time.Millisecond; ; wait *= 2 {
			before := sent(t)
			ctx, cancel := context.WithTimeout(t.Context(), wait)
			_, err := g.Dial(ctx, "tcp", accepted)
			cancel()
			var timeout net.Error
			late := errors.As(err, &timeout) && timeout.Timeout()
			if after := sent(t); late && after[1] > before[1] {
				break
			}
			if wait > 10*time.Second { // a busy machine may need this long
				t.Errorf("%s: %v, want a time-out and something that out0 sent, otherwise its counter proves nothing", accepted, err)
				break
			}
		}
	}
	for _, local := range []string{"127.0.0.1:443", "[::1]:443"} {
		before := sent(t)
		if conn, err := net.Dial("tcp", local); err == nil {
			conn.Close()
		}
		if after := sent(t); after[0] == before[0] {
			t.Errorf("%s was dialled, but lo sent nothing: its counter proves nothing", local)
		}
	}
}

// hostile generates addresses and resolves their names.
type hostile struct {
	rand    *rand.Rand
	names   map[string][]netip.Addr
	rebound map[string]bool // public at the first lookup, by Check, and private after it
}

// Written by hand from the IANA registries, independently of the table in the code.
var (
	hostile4 = strings.Fields(`0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24
		192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24
		224.0.0.0/4 240.0.0.0/4 168.63.129.16/32 169.254.169.254/32 100.100.100.200/32 127.0.0.1/32`)
	hostile6 = strings.Fields(`::/128 ::1/128 ::/96 ::ffff:0:0:0/96 64:ff9b::/96 64:ff9b:1::/48 100::/64 100:0:0:1::/64 2001::/23 2001::/32
		2001:2::/48 2001:10::/28 2001:20::/28 2001:db8::/32 2002::/16 2620:4f:8000::/48 3fff::/20 5f00::/16 fc00::/7 fd00:ec2::254/128
		fe80::/10 fec0::/10 ff00::/8 ff02::1/128 4000::/3 8000::/1`)
)

func pick[T any](h *hostile, from ...T) T { return from[h.rand.IntN(len(from))] }

// in returns a random address of a range.
func (h *hostile) in(text string) netip.Addr {
	p := netip.MustParsePrefix(text)
	b := p.Addr().AsSlice()
	for bit := p.Bits(); bit < len(b)*8; bit++ {
		if h.rand.IntN(2) == 1 {
			b[bit/8] |= 0x80 >> (bit % 8)
		}
	}
	addr, _ := netip.AddrFromSlice(b)
	return addr
}

// embedded embeds an IPv4 address in an IPv6 address.
func (h *hostile) embedded(v4 netip.Addr) netip.Addr {
	a := v4.As4()
	hex := fmt.Sprintf("%02x%02x:%02x%02x", a[0], a[1], a[2], a[3])
	teredo := binary.BigEndian.Uint32(a[:]) ^ 0xffffffff
	return netip.MustParseAddr(pick(h,
		"::ffff:"+hex, "::"+hex, "64:ff9b::"+hex, "64:ff9b:1::"+hex, "2002:"+hex+"::1", "::ffff:0:"+hex,
		fmt.Sprintf("2001:0:808:808:0:1:%x:%x", teredo>>16, teredo&0xffff),
		"2606:4700::5efe:"+hex, "2606:4700::200:5efe:"+hex, "2606:4700:1:2:0:5efe:"+hex,
	))
}

// zone returns the addresses of a name.
func (h *hostile) zone(name string, nth int) []netip.Addr {
	if name == "public.example.com" || h.rebound[name] && nth == 0 {
		return addresses("8.8.8.8", "2606:4700::1111")
	}
	return h.names[name]
}

// address returns an address that an attacker may enter to reach a forbidden target, and
// reports whether it is a name that is public at the first lookup only.
func (h *hostile) address() (text string, rebinding bool) {
	v4, v6 := h.in(pick(h, hostile4...)), h.in(pick(h, hostile6...))
	if h.rand.IntN(3) == 0 {
		v6 = h.embedded(v4)
	}
	if h.rand.IntN(3) == 0 { // a name
		name := fmt.Sprintf("n%d.example.com", len(h.names))
		switch h.rand.IntN(5) {
		case 0:
			h.names[name] = []netip.Addr{v4}
		case 1:
			h.names[name] = []netip.Addr{v6}
		case 2:
			h.names[name] = []netip.Addr{v4, v6}
		default:
			h.rebound[name] = true
			h.names[name] = pick(h, []netip.Addr{v4}, []netip.Addr{v6}, []netip.Addr{v6, v4})
		}
		return "https://" + name + "/", h.rebound[name]
	}
	host := pick(h, v4.String(), h.spelled(v4), h.spelled(v4), "["+v6.String()+"]", "["+v6.String()+"]",
		"["+v6.StringExpanded()+"]",
		"["+v6.String()+"%25"+pick(h, "lo", "out0", "1")+"]",
		pick(h, "localhost", "LOCALHOST", "ｌｏｃａｌｈｏｓｔ", "a.localhost", "localhost.", "db.internal", "printer.local",
			"ip6-localhost"))
	return pick(h, "https://", "https://", "https://", "https://", "HTTPS://", "http://", "https://8.8.8.8@",
		"https://a:b@", "https://public.example.com\\@", "ftp://") +
		host + pick(h, "", "", "", ":443", ":80", ":0443", ":22", ":6379", ":") +
		pick(h, "/", "", "/a?b=c", "/#a", "?a@8.8.8.8", "/\\8.8.8.8", "#@8.8.8.8/"), false
}

// spelled returns an IPv4 address in a spelling that some programs accept.
func (h *hostile) spelled(addr netip.Addr) string {
	a := addr.As4()
	n := binary.BigEndian.Uint32(a[:])
	wide := strings.NewReplacer("0", "０", "1", "１", "2", "２", "3", "３", "4", "４", "5", "５", "6", "６", "7", "７", "8",
		"８", "9", "９")
	plain := addr.String()
	return pick(h,
		fmt.Sprint(n), fmt.Sprintf("0x%x", n), fmt.Sprintf("0X%X", n), fmt.Sprintf("0%o", n),
		fmt.Sprintf("0%o.0%o.0%o.0%o", a[0], a[1], a[2], a[3]), fmt.Sprintf("0x%x.0x%x.0x%x.0x%x", a[0], a[1], a[2], a[3]),
		fmt.Sprintf("%d.%d", a[0], n&0xffffff), fmt.Sprintf("%d.%d.%d", a[0], a[1], n&0xffff),
		fmt.Sprintf("0x%x.%d", a[0], n&0xffffff),
		fmt.Sprintf("%03d.%03d.%03d.%03d", a[0], a[1], a[2], a[3]), fmt.Sprintf("%d.%d.%d.0%o", a[0], a[1], a[2], a[3]),
		fmt.Sprintf("%d.%d.%d.%d", int(a[0])+256, a[1], a[2], a[3]),
		wide.Replace(plain), wide.Replace(fmt.Sprint(n)), strings.ReplaceAll(plain, ".", "。"),
		strings.ReplaceAll(plain, ".", "．"),
		plain+".", "."+plain, strings.Replace(plain, ".", "..", 1), "["+plain+"]", strings.ReplaceAll(plain, ".", "%2e"),
		"%31"+plain[1:],
		plain[:1]+"\t"+plain[1:], plain+"\u200b", plain+"%00", plain+" ",
	)
}
