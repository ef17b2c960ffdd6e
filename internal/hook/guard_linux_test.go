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

	"cardwall/internal/apptest"
	"cardwall/internal/hook"
)

const (
	hostileAddresses = 10_000
	// inNamespace is the environment variable that marks the child process with its own network.
	inNamespace = "CARDWALL_TEST_GUARD_NAMESPACE"
	// The child process reports its result to the parent with these strings.
	noNamespace = "no namespace: "
	childPassed = "the child test passed"
)

// inOwnNetwork runs a test in a child process of the same binary with its own network and mount
// namespaces. All traffic is routed to one device or to loopback.
func inOwnNetwork(t *testing.T, test func(*testing.T)) {
	if os.Getenv(inNamespace) != "" {
		makeNetwork(t)
		if test(t); !t.Failed() {
			fmt.Println(childPassed)
		}
		return
	}
	unsupported := func(reason string) {
		if os.Getenv("CI") == "true" {
			t.Fatalf("CI needs network namespaces and iproute2: %s", reason)
		}
		t.Skipf("the guard is not tested, because this machine lacks network namespaces or iproute2: %s", reason)
	}
	child := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v", "-test.count=1")
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
		unsupported(err.Error())
	}
	err := child.Wait()
	if _, reason, found := strings.Cut(out.String(), noNamespace); found {
		unsupported(reason)
	}
	if err != nil || !strings.Contains(out.String(), childPassed) {
		t.Fatalf("child process: %v\n%s", err, out.String())
	}
}

func TestHostileAddressesSendNoPacket(t *testing.T) {
	inOwnNetwork(t, requestHostileAddresses)
}

func TestSearchListIsUsedOnlyForAllowedRanges(t *testing.T) {
	inOwnNetwork(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "resolv.conf")
		if err := os.WriteFile(file, []byte("nameserver 127.0.0.1\nsearch corp.example.com\noptions ndots:5\n"),
			0o644); err != nil {
			t.Fatal(err)
		}
		// The mount must not propagate to the host.
		err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, "")
		if err == nil {
			err = syscall.Mount(file, "/etc/resolv.conf", "", syscall.MS_BIND, "")
		}
		if err != nil {
			t.Fatalf("%smount resolv.conf: %v", noNamespace, err)
		}
		var queried []string
		z := zone(func(name string, _ int) []netip.Addr {
			queried = append(queried, name)
			if name == "n8n.corp.example.com" || name == "db.prod.corp.example.com" {
				return addresses("10.0.0.8")
			}
			return nil
		})
		closed := newGuard(t, z)
		wantFault(t, "db.prod", closed.Check(t.Context(), "https://db.prod"), "does not exist")
		closed.Dial(t.Context(), "tcp", "db.prod:443")
		for _, name := range queried {
			if name != "db.prod" {
				t.Errorf("DNS was queried for %q, want %q", name, "db.prod")
			}
		}
		if len(queried) != 4 {
			t.Errorf("DNS was queried for %q, want A and AAAA of one name, by Check and by Dial", queried)
		}
		if err := newGuard(t, z, "10.0.0.0/24").Check(t.Context(), "http://n8n:5678"); err != nil {
			t.Error(err)
		}
	})
}

// makeNetwork configures loopback and one device to which all other traffic is routed. The device is
// a veth, because kernels for virtual machines often lack dummy devices. Its other end is not used.
// ARP, multicast and link-local addresses are disabled, so that the kernel itself sends nothing.
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

// sent returns the numbers of packets that lo and out0 have sent or dropped.
func sent(t *testing.T) (n [2]int) {
	t.Helper()
	for i, device := range []string{"lo", "out0"} {
		// /sys/class/net shows the network of the namespace in which it was mounted, so it is not used here.
		text, err := os.ReadFile("/proc/self/net/dev")
		if err != nil {
			t.Fatal(err)
		}
		_, rest, found := strings.Cut(string(text), device+":")
		fields := strings.Fields(rest)
		if !found || len(fields) < 16 {
			t.Fatalf("got no counters for %s in %s", device, text)
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

// requestHostileAddresses parses and checks addresses and sends requests to them. It then compares the
// kernel's packet counters with those before.
func requestHostileAddresses(t *testing.T) {
	generator := &hostile{
		rand: rand.New(rand.NewPCG(20, 26)), names: map[string][]netip.Addr{}, rebound: map[string]bool{},
	}
	g := newGuard(t, generator.zone)
	transport := &http.Transport{DialContext: g.Dial, DisableKeepAlives: true}
	client := &http.Client{Transport: transport}
	before := sent(t)
	counts, failures := map[string]int{}, 0
	for range hostileAddresses {
		address, rebinding := generator.address()
		_, parseErr := g.Parse(address)
		checkErr := g.Check(t.Context(), address)
		result := "refused by Parse"
		switch {
		case rebinding:
			result = "refused only by Dial"
			if parseErr != nil || checkErr != nil {
				t.Errorf("%q, which is still public: got error %v, want none", address, checkErr)
			}
		case checkErr == nil:
			t.Errorf("Check %q: got no error, want one", address)
		case parseErr == nil:
			result = "refused by Check"
		}
		counts[result]++
		response, err := client.Get(address)
		if err == nil {
			response.Body.Close()
		}
		// Some addresses never reach Dial, because net/http cannot parse them.
		var refused *hook.Refused
		if errors.As(err, &refused) {
			counts["refused by Dial in a request"]++
		} else if u, urlErr := url.Parse(address); urlErr == nil && (u.Scheme == "http" || u.Scheme == "https") &&
			u.Host != "" || rebinding {
			t.Errorf("request to %q: got error %v, want a Refused", address, err)
		}
		if t.Failed() {
			if failures++; failures == 5 {
				break
			}
		}
	}
	after := sent(t)
	if after != before {
		t.Errorf("packets sent by lo and out0: got %d, want %d as before the requests", after, before)
	}
	for result, n := range counts {
		// Each result must occur often, or the test proves little.
		if n < hostileAddresses/20 && failures == 0 {
			t.Errorf("got %d addresses %s, want at least %d", n, result, hostileAddresses/20)
		}
	}
	if len(counts) != 4 && failures == 0 {
		t.Errorf("got results %v, want four different ones", counts)
	}
	t.Logf("%d addresses: %v", hostileAddresses, counts)

	// Check the counters themselves: a connection to an accepted address must increase them, and so
	// must a connection to loopback that bypasses the guard.
	for _, accepted := range []string{"8.8.8.8:443", "[2606:4700::1111]:443", "public.example.com:443"} {
		before := sent(t)
		ctx, cancel := context.WithCancel(t.Context())
		dialed := make(chan error, 1)
		go func() {
			_, err := g.Dial(ctx, "tcp", accepted)
			dialed <- err
		}()
		apptest.Eventually(t, accepted+" gets packets on out0", func() bool { return sent(t)[1] > before[1] })
		cancel()
		var refused *hook.Refused
		if err := <-dialed; err == nil || errors.As(err, &refused) {
			t.Errorf("%s: got error %v, want a dial that ends without a response", accepted, err)
		}
	}
	for _, local := range []string{"127.0.0.1:443", "[::1]:443"} {
		before := sent(t)
		if conn, err := net.Dial("tcp", local); err == nil {
			conn.Close()
		}
		if after := sent(t); after[0] == before[0] {
			t.Errorf("%s: got no packets on lo, so its counter proves nothing", local)
		}
	}
}

// hostile generates forbidden addresses and resolves the names in them.
type hostile struct {
	rand    *rand.Rand
	names   map[string][]netip.Addr
	rebound map[string]bool // public at the first lookup, which Check makes, and private later
}

// These ranges were copied by hand from the IANA registries, independently of the table in the code.
var (
	hostile4 = strings.Fields(`0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24
		192.0.2.0/24 192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15
		198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4 168.63.129.16/32 169.254.169.254/32
		100.100.100.200/32 127.0.0.1/32`)
	hostile6 = strings.Fields(`::/128 ::1/128 ::/96 ::ffff:0:0:0/96 64:ff9b::/96 64:ff9b:1::/48 100::/64 100:0:0:1::/64
		2001::/23 2001::/32 2001:2::/48 2001:10::/28 2001:20::/28 2001:db8::/32 2002::/16 2620:4f:8000::/48 3fff::/20
		5f00::/16 fc00::/7 fd00:ec2::254/128 fe80::/10 fec0::/10 ff00::/8 ff02::1/128 4000::/3 8000::/1`)
)

// pick returns a random element.
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

// embedded returns an IPv6 address that contains an IPv4 address.
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

// address returns an address that an attacker could enter to reach a forbidden target. It also reports
// whether the address contains a name that is public only at the first lookup.
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

// spelled returns an IPv4 address in a random notation that some programs accept.
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
