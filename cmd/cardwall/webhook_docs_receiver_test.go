package main

import (
	"context"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"cardwall/internal/apptest"
	"cardwall/internal/hook"
	"cardwall/perf/fleet"
)

// pageProgram returns the program in the given language from docs/webhooks.md, with the port of
// address.
func pageProgram(t *testing.T, language, address string) string {
	t.Helper()
	page, err := os.ReadFile(webhooksPage)
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile("(?ms)^```" + language + "\n(.*?)^```$").FindSubmatch(page)
	if m == nil {
		t.Fatalf("the page has no program in %s", language)
	}
	_, port, _ := net.SplitHostPort(address)
	text := strings.Replace(string(m[1]), "9000", port, 1)
	if !strings.Contains(text, port) {
		t.Fatalf("the program in %s does not use port 9000", language)
	}
	return text
}

// nodeModules returns the folder with the npm packages of the tools folder. If the packages are not
// installed, it installs them with make.
func nodeModules(t *testing.T) string {
	t.Helper()
	folder, err := filepath.Abs("../../tools/node_modules")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := exec.LookPath("node"); err != nil {
		missing(t, "node")
	}
	if _, err := os.Stat(filepath.Join(folder, "standardwebhooks", "package.json")); err == nil {
		return folder
	}
	// Remove the stamp of an earlier installation, so that make reinstalls the packages.
	_ = os.Remove(filepath.Join(folder, ".installed"))
	if out, err := exec.CommandContext(t.Context(), "make", "-C", "../..",
		"tools/node_modules/.installed").CombinedOutput(); err != nil {
		t.Logf("make: %v\n%s", err, out)
		missing(t, "the npm package standardwebhooks")
	}
	return folder
}

// webhookReceivers runs the receivers in Go and JavaScript from docs/webhooks.md, which use the
// Standard Webhooks libraries. They must accept the deliveries of a server and reject invalid ones.
func webhookReceivers(t *testing.T, binary string) {
	modules := nodeModules(t)
	c := &crashServer{t: t, binary: binary, data: t.TempDir()}
	c.command("user", "add", "--email", "ada@example.com", "--name", "Ada")
	workspace := c.command("workspace", "add", "--owner", "ada@example.com", "--name", "Hooks")
	c.client = fleet.NewClient(c.command("token", "add", "--user", "ada@example.com", "--name", "hooks", "--scopes",
		"read,write,admin"), fleet.RequestTimeout)
	c.base = startProcess(t, binary, "--data", c.data, "--webhook-allow", "127.0.0.1").base
	board := c.mustSend("POST", "/boards", "", map[string]any{"workspaceId": workspace, "name": "Hooks"})
	list := c.mustSend("POST", "/boards/"+board+"/lists", "", map[string]any{"name": "Cards"})
	receivers := map[string]*pageReceiver{"go": nil, "js": nil}
	for language := range receivers {
		r := &pageReceiver{t: t, address: apptest.ReserveAddress(t), folder: t.TempDir()}
		r.subscribe(c, board)
		r.start(language, modules)
		receivers[language] = r
	}
	c.mustSend("POST", "/cards", "", map[string]any{"listId": list, "title": "Mill"})
	for language, r := range receivers {
		printed := "card.created " + r.awaitDelivery(c) + " 3\n"
		apptest.Await(t, language+" prints "+printed, func() (*apptest.Buffer, bool) { // perhaps after it has responded
			return r.out, strings.Contains(r.out.String(), printed)
		})
		now := time.Now()
		for _, test := range []struct {
			name, secret, signed, sent string
			at                         time.Time
			want                       int
		}{
			{"a delivery", r.secret, delivery, delivery, now, http.StatusNoContent},
			{"a changed body", r.secret, delivery, strings.Replace(delivery, "crd_1", "crd_2", 1), now, http.StatusUnauthorized},
			{"another secret", testSecret("a"), delivery, delivery, now, http.StatusUnauthorized},
			{"an old delivery", r.secret, delivery, delivery, now.Add(-time.Hour), http.StatusUnauthorized},
			{"a delivery from the future", r.secret, delivery, delivery, now.Add(time.Hour), http.StatusUnauthorized},
		} {
			if got := r.send(http.DefaultClient, test.secret, test.signed, test.sent, test.at); got != test.want {
				t.Errorf("%s, %s: got status %d, want %d", language, test.name, got, test.want)
			}
		}
	}
}

// pageReceiver runs a program from docs/webhooks.md.
type pageReceiver struct {
	t                                *testing.T
	address, folder, webhook, secret string
	out                              *apptest.Buffer
}

// subscribe creates a webhook on a board for the receiver.
func (r *pageReceiver) subscribe(c *crashServer, board string) {
	var res struct{ Data struct{ ID, Secret string } }
	if err := c.do("POST", "/webhooks", "", map[string]any{"url": "http://" + r.address + "/cardwall",
		"events": []string{"card.created"}, "boardId": board}, &res); err != nil {
		r.t.Fatal(err)
	}
	r.webhook, r.secret = res.Data.ID, res.Data.Secret
}

// start builds and starts the program, and waits until it listens.
func (r *pageReceiver) start(language, modules string) {
	r.t.Helper()
	file := filepath.Join(r.folder, "receiver."+map[string]string{"go": "go", "js": "mjs"}[language])
	if err := os.WriteFile(file, []byte(pageProgram(r.t, language, r.address)), 0o600); err != nil {
		r.t.Fatal(err)
	}
	ctx := context.WithoutCancel(r.t.Context())
	cmd := exec.CommandContext(ctx, "node", file)
	if language == "go" {
		binary := filepath.Join(r.folder, "receiver")
		if out, err := exec.CommandContext(ctx, "go", "build", "-o", binary, file).CombinedOutput(); err != nil {
			r.t.Fatalf("build: %v\n%s", err, out)
		}
		cmd = exec.CommandContext(ctx, binary)
	} else if err := os.Symlink(modules, filepath.Join(r.folder, "node_modules")); err != nil {
		r.t.Fatal(err)
	}
	cmd.Env = envWithoutSettings("CARDWALL_WEBHOOK_SECRET=" + r.secret)
	_, r.out = start(r.t, cmd)
	waitUntilListening(r.t, r.address)
}

// awaitDelivery waits until the delivery log has one successful delivery and returns its id.
func (r *pageReceiver) awaitDelivery(c *crashServer) string {
	r.t.Helper()
	type deliveries []struct{ ID, Status, Reason string }
	return apptest.Await(r.t, "the delivery log has one successful delivery", func() (deliveries, bool) {
		var log struct{ Data deliveries }
		c.get("/api/public/v1/webhooks/"+r.webhook+"/deliveries", &log)
		return log.Data, len(log.Data) == 1 && log.Data[0].Status == "delivered"
	})[0].ID
}

// send sends the body sent with the signature of the body signed, and returns the status.
func (r *pageReceiver) send(client *http.Client, secret, signed, sent string, at time.Time) int {
	r.t.Helper()
	signature, err := hook.Sign([]string{secret}, deliveryID, at.Unix(), []byte(signed))
	if err != nil {
		r.t.Fatal(err)
	}
	q, err := http.NewRequestWithContext(r.t.Context(), http.MethodPost, "http://"+r.address+"/cardwall",
		strings.NewReader(sent))
	if err != nil {
		r.t.Fatal(err)
	}
	q.Header = http.Header{hook.HeaderID: {deliveryID}, hook.HeaderTimestamp: {strconv.FormatInt(at.Unix(), 10)},
		hook.HeaderSignature: {signature}}
	res, err := client.Do(q)
	if err != nil {
		r.t.Fatal(err)
	}
	_ = res.Body.Close()
	return res.StatusCode
}
