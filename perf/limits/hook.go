package limits

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"

	"cardwall/perf/process"
)

// HookCommand is the first command-line argument of a program that runs as the bare client, with which deliveries are
// compared. StartHooks starts its own program with this argument, and main must then call RunHooks.
const HookCommand = "limit-hooks"

const (
	hookClients = 64  // goroutines of the bare client
	hookPadding = 620 // length of the padding that makes a body about as long as that of a changed card
)

// StartHooks starts this program a second time as the bare client, which sends requests to the addresses, and returns
// the process. The client exits when this program does. The caller must stop it.
func StartHooks(dir string, addresses []string) (*process.Process, error) {
	file := filepath.Join(dir, "addresses")
	if err := os.WriteFile(file, []byte(strings.Join(addresses, "\n")), 0o600); err != nil {
		return nil, fmt.Errorf("write addresses: %w", err)
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	cmd := exec.Command(self, HookCommand, file)
	cmd.Stderr = os.Stderr
	if _, err := cmd.StdinPipe(); err != nil { // the client exits when this program closes the pipe
		return nil, fmt.Errorf("start bare client: %w", err)
	}
	return process.Start(cmd, "")
}

// RunHooks runs the bare client until its standard input is closed or a request fails. The file lists the URLs of
// the receivers.
func RunHooks(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	addresses := bytes.Fields(text)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: hookClients, DisableCompression: true}}
	var serial atomic.Int64
	errs := make(chan error, hookClients)
	for range hookClients {
		go func() {
			for {
				n := serial.Add(1)
				id := fmt.Sprintf("itg_%026d:v%d", n, n)
				body := fmt.Appendf(nil, `{"id":"%s","data":"%0*d"}`, id, hookPadding, 0)
				r, err := http.NewRequest(http.MethodPost, string(addresses[n%int64(len(addresses))]), bytes.NewReader(body))
				if err != nil {
					errs <- err
					return
				}
				r.Header.Set("Content-Type", "application/json")
				r.Header.Set("Webhook-Id", id)
				r.Header.Set("Webhook-Timestamp", "1795250816")
				r.Header.Set("Webhook-Signature", "v1,MZrixAOckpyUvqG36l88FYXv8QSqiH3R8YM1oOy73EA=")
				res, err := client.Do(r)
				if err != nil {
					errs <- err
					return
				}
				_, err = io.Copy(io.Discard, res.Body)
				if err := errors.Join(err, res.Body.Close()); err != nil {
					errs <- err
					return
				}
			}
		}()
	}
	ended := make(chan error, 1)
	go func() {
		_, err := io.Copy(io.Discard, os.Stdin)
		ended <- err
	}()
	select {
	case err := <-errs:
		return err
	case err := <-ended:
		return err
	}
}
