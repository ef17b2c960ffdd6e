package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"go.yaml.in/yaml/v3"

	"cardwall/internal/apptest"
)

// readDeploy reads a file in the deploy folder.
func readDeploy(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../deploy", name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// alert is a Prometheus alerting rule.
type alert struct {
	Alert, Expr, For    string
	Labels, Annotations map[string]string
}

// alerts returns all alerting rules in the deploy folder.
func alerts(t *testing.T) (all []alert) {
	t.Helper()
	var file struct {
		Groups []struct {
			Name  string
			Rules []alert
		}
	}
	d := yaml.NewDecoder(bytes.NewReader(readDeploy(t, "prometheus/alerts.yaml")))
	d.KnownFields(true)
	if err := d.Decode(&file); err != nil {
		t.Fatal(err)
	}
	for _, g := range file.Groups {
		all = append(all, g.Rules...)
	}
	return all
}

// dashboardQueries returns the Prometheus queries of the dashboard, by panel or variable.
func dashboardQueries(t *testing.T) map[string][]string {
	t.Helper()
	var d struct {
		Panels []struct {
			Title, Type string
			Targets     []struct{ Expr string }
		}
		Templating struct {
			List []struct{ Name, Definition string }
		}
	}
	if err := json.Unmarshal(readDeploy(t, "grafana/cardwall.json"), &d); err != nil {
		t.Fatal(err)
	}
	found, rows := map[string][]string{}, 0
	for _, p := range d.Panels {
		if p.Type == "row" {
			rows++
			continue
		}
		if len(p.Targets) == 0 {
			t.Errorf("the panel %q has no query", p.Title)
		}
		for _, target := range p.Targets {
			found[p.Title] = append(found[p.Title], target.Expr)
		}
	}
	if rows != 7 || len(found) < 30 {
		t.Errorf("the dashboard has %d rows and %d panels with queries, want 7 rows and at least 30 panels", rows, len(found))
	}
	for _, v := range d.Templating.List {
		if v.Definition != "" {
			found["variable "+v.Name] = []string{v.Definition}
		}
	}
	return found
}

// The dashboard and the alerts use only metrics that servers export. Together, they use every
// cardwall_ metric.
func TestDashboardAndAlertsMatchTheMetrics(t *testing.T) {
	names := metricNames(t)
	names["up"] = "Set by Prometheus."
	metric := regexp.MustCompile(`\b(?:cardwall|go|process)_[a-z0-9_]+\b|\bup\b`)
	used := map[string]bool{}
	check := func(user, expr string) {
		t.Helper()
		found := metric.FindAllString(regexp.MustCompile(`"[^"]*"`).ReplaceAllString(expr, ""), -1)
		if len(found) == 0 {
			t.Errorf("%s does not use any metric: %s", user, expr)
		}
		if strings.Count(expr, "(") != strings.Count(expr, ")") || strings.Count(expr, "{") != strings.Count(expr, "}") {
			t.Errorf("%s has unbalanced brackets: %s", user, expr)
		}
		for _, name := range found {
			base := name
			for _, suffix := range []string{"_bucket", "_sum", "_count"} {
				if trimmed, ok := strings.CutSuffix(name, suffix); ok && names[name] == "" {
					base = trimmed
				}
			}
			if used[base] = true; names[base] == "" {
				t.Errorf("%s uses %s, which no server exports", user, name)
			}
		}
	}
	for panel, queries := range dashboardQueries(t) {
		for _, q := range queries {
			check("the panel "+panel, q)
		}
	}
	for _, a := range alerts(t) {
		check(a.Alert, a.Expr)
	}
	for name := range names {
		if strings.HasPrefix(name, "cardwall_") && !used[name] {
			t.Errorf("%s is exported, but neither the dashboard nor an alert uses it", name)
		}
	}
}

// docs/operating.md explains every alert, and only alerts that exist.
func TestAlertsAreExplained(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/operating.md")
	if err != nil {
		t.Fatal(err)
	}
	explained := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^### (Cardwall\w+)\n\*(page|ticket)\.\* \S`).FindAllStringSubmatch(string(text), -1) {
		explained[m[1]] = m[2]
	}
	for _, a := range alerts(t) {
		if explained[a.Alert] != a.Labels["severity"] {
			t.Errorf("docs/operating.md: the severity of %s is %q, want %q", a.Alert, explained[a.Alert], a.Labels["severity"])
		}
		delete(explained, a.Alert)
		if want := "docs/operating.md#" + strings.ToLower(a.Alert); a.Annotations["runbook"] != want ||
			a.Annotations["summary"] == "" {
			t.Errorf("%s has annotations %v, want a summary and the runbook %s", a.Alert, a.Annotations, want)
		}
	}
	for name := range explained {
		t.Errorf("docs/operating.md explains %s, which is not an alert", name)
	}
}

// The compose file and its load balancer list the same servers, and each server has the required
// settings.
func TestComposeFile(t *testing.T) {
	t.Parallel()
	var file struct {
		Services map[string]struct {
			Image       string
			Environment map[string]string
			Volumes     []string
			Networks    any
			ReadOnly    bool `yaml:"read_only"`
			Tmpfs       any
		}
		Networks, Volumes map[string]any
	}
	if err := yaml.Unmarshal(readDeploy(t, "compose/compose.yaml"), &file); err != nil {
		t.Fatal(err)
	}
	var servers []string
	for name, s := range file.Services {
		if s.Image != "cardwall" {
			continue
		}
		servers = append(servers, "server "+name+" "+name+":8080")
		for _, shared := range []string{"CARDWALL_DATABASE", "CARDWALL_SECRET_KEY", "CARDWALL_BASE_URL",
			"CARDWALL_TRUSTED_PROXIES"} {
			if s.Environment[shared] == "" {
				t.Errorf("%s does not set %s", name, shared)
			}
		}
		if !s.ReadOnly {
			t.Errorf("the root filesystem of %s is writable", name)
		}
		if s.Tmpfs != nil || !slices.Contains(s.Volumes, name+":/data") {
			t.Errorf("%s does not store /data on its own volume", name)
		}
	}
	slices.Sort(servers)
	var balanced []string
	for _, line := range regexp.MustCompile(`(?m)^\tserver .*$`).FindAllString(string(readDeploy(t,
		"compose/haproxy.cfg")), -1) {
		balanced = append(balanced, strings.TrimSpace(line))
	}
	if len(servers) != 3 || !slices.Equal(servers, balanced) {
		t.Errorf("the compose file has servers %v and the load balancer %v, want the same three", servers, balanced)
	}
}

// requireProgram returns the path of a program. If it is not installed, the test is skipped, or
// fails in CI.
func requireProgram(t *testing.T, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil && os.Getenv("CI") == "true" {
		t.Fatalf("%s is not installed", program)
	}
	if err != nil {
		t.Skipf("%s is not installed", program)
	}
	return path
}

// systemd-analyze accepts the units and gives the services a good security rating.
func TestUnitFile(t *testing.T) {
	t.Parallel()
	analyze := requireProgram(t, "systemd-analyze")
	var files []string
	folder := t.TempDir()
	for _, name := range []string{"cardwall.service", "cardwall-backup.service", "cardwall-backup.timer"} {
		// The program need not be installed on the test machine.
		unit := bytes.ReplaceAll(readDeploy(t, "systemd/"+name), []byte("/usr/local/bin/cardwall"), []byte("/bin/true"))
		files = append(files, filepath.Join(folder, name))
		if err := os.WriteFile(filepath.Join(folder, name), unit, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.CommandContext(t.Context(), analyze, append([]string{"verify"}, files...)...).CombinedOutput()
	// Versions of systemd before 254 warn about two unknown settings.
	output := regexp.MustCompile(`(?m)^.*Unknown key( name)? 'Restart(Steps|MaxDelaySec)' in section .?Service.?, `+
		`ignoring\.\n`).ReplaceAllString(string(out), "")
	if err != nil || strings.Contains(output, folder+"/cardwall") || strings.Contains(output, "cardwall.service:") ||
		strings.Contains(output, "cardwall-backup") {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
	for _, file := range files[:2] {
		if out, err := exec.CommandContext(t.Context(), analyze, "security", "--offline=true", "--threshold=15",
			file).CombinedOutput(); err != nil {
			t.Errorf("systemd-analyze security: %v\n%s", err, out)
		}
	}
}

// systemd restarts a failing server indefinitely.
func TestUnitRestartsWithoutLimit(t *testing.T) {
	t.Parallel()
	unit := string(readDeploy(t, "systemd/cardwall.service"))
	unitSection, service, ok := strings.Cut(unit, "\n[Service]\n")
	if !ok || !strings.Contains(unitSection, "\nStartLimitIntervalSec=0\n") {
		t.Error("the unit does not set StartLimitIntervalSec=0")
	}
	for _, line := range []string{"Restart=on-failure", "RestartSec=1", "RestartSteps=8", "RestartMaxDelaySec=60"} {
		if !strings.Contains(service, "\n"+line+"\n") {
			t.Errorf("the unit does not contain %s", line)
		}
	}
}

// promtool accepts the alerts, and they fire as the cases in testdata expect.
func TestAlertsFireAsExpected(t *testing.T) {
	t.Parallel()
	promtool := requireProgram(t, "promtool")
	folder := t.TempDir()
	cases, err := os.ReadFile("testdata/alerts-cases.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{"alerts.yaml": readDeploy(t, "prometheus/alerts.yaml"),
		"cases.yaml": cases} {
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"check", "rules", "alerts.yaml"}, {"test", "rules", "cases.yaml"}} {
		cmd := exec.CommandContext(t.Context(), promtool, args...)
		cmd.Dir = folder
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("promtool %v: %v\n%s", args, err, out)
		}
	}
}

// The image contains only the program, CA certificates and an empty folder. This test runs the
// program as the image's user, in a root folder with only the program and the empty folder. It
// checks the server's health as a container engine would.
func TestSystemProgramRunsInAnEmptyRoot(t *testing.T) {
	t.Parallel()
	const account = 65532
	image := string(readDeploy(t, "Dockerfile"))
	for _, line := range []string{
		"CGO_ENABLED=0 go build -trimpath", "FROM scratch", "USER 65532:65532", "ENV CARDWALL_ADDR=:8080 CARDWALL_DATA=/data",
		"VOLUME /data",
		`CMD ["/cardwall", "health"]`, `ENTRYPOINT ["/cardwall"]`, `CMD ["serve"]`,
	} {
		if !strings.Contains(image, line) {
			t.Errorf("the Dockerfile does not contain %s", line)
		}
	}
	root, err := os.MkdirTemp("", "cardwall-root-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(root) })
	text, err := os.ReadFile(program(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "cardwall"), text, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(root, "data"), 0o700); err != nil {
		t.Fatal(err)
	}
	sandbox := &syscall.SysProcAttr{Chroot: root}
	if os.Geteuid() == 0 {
		for _, path := range []string{root, filepath.Join(root, "data")} {
			if err := os.Chown(path, account, account); err != nil {
				t.Fatal(err)
			}
		}
		sandbox.Credential = &syscall.Credential{Uid: account, Gid: account}
	} else { // only root can change the user, so map the current user to account in a new user namespace
		sandbox.Cloneflags = syscall.CLONE_NEWUSER
		sandbox.UidMappings = []syscall.SysProcIDMap{{ContainerID: account, HostID: os.Getuid(), Size: 1}}
		sandbox.GidMappings = []syscall.SysProcIDMap{{ContainerID: account, HostID: os.Getgid(), Size: 1}}
	}
	_, port, _ := net.SplitHostPort(apptest.ReserveAddress(t))
	command := func(args ...string) (*exec.Cmd, *bytes.Buffer) {
		cmd := exec.CommandContext(t.Context(), "/cardwall", args...)
		cmd.Dir, cmd.SysProcAttr = "/", sandbox
		cmd.Env = []string{"CARDWALL_ADDR=:" + port, "CARDWALL_DATA=/data"}
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		return cmd, &out
	}
	if cmd, out := command("health"); cmd.Run() == nil || !strings.Contains(out.String(), "does not respond") {
		t.Errorf("without a server, health printed %q, want an error that contains \"does not respond\"", out)
	}
	server, log := command("serve")
	wait := apptest.Start(t, server)
	apptest.Await(t, "the server is healthy", func() (printed string, healthy bool) {
		cmd, out := command("health")
		err := cmd.Run()
		return out.String(), err == nil && strings.TrimSpace(out.String()) == "ready"
	})
	if cmd, out := command("user", "add", "--email", "ada@example.com", "--name", "Ada", "--time-zone",
		"Europe/Berlin"); cmd.Run() != nil {
		t.Errorf("user add failed while the server was running: %s", out)
	}
	if err := server.Process.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	if err := wait(); err != nil {
		t.Errorf("the server exited with error %v, want none:\n%s", err, log)
	}
	if _, err := os.Stat(filepath.Join(root, "data/cardwall.db")); err != nil {
		t.Error(err)
	}
}

// The health command prints one line, and its exit status gives the result of the check.
func TestHealth(t *testing.T) {
	t.Parallel()
	s := newStation(t, filepath.Join(t.TempDir(), "cardwall.db"))
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(s.base, "http://"))
	for addr, want := range map[string]int{"127.0.0.1:" + port: 0, ":" + port: 0, "0.0.0.0:" + port: 0, "127.0.0.1:1": 1,
		"nowhere": 1} {
		var out, stderr bytes.Buffer
		status := run([]string{"health", "--addr", addr}, strings.NewReader(""), &out, &stderr)
		if status != want || (out.String() == "ready\n") != (want == 0) || strings.Count(stderr.String(), "\n") != want {
			t.Errorf("health --addr %s: status %d, printed %q and %q; want status %d and one line", addr, status, &out, fmt.Sprint(&stderr), want)
		}
	}
}
