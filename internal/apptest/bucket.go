package apptest

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Bucket is a bucket on an S3 server that runs for a test.
type Bucket struct {
	Address string // for file.Open
	Host    string // of the server
	Folder  string // of the bucket's objects
}

const bucketKey, bucketSecret = "cardwall-test", "cardwall-test-secret"

// setCredentials sets the credentials of buckets for this process. Parallel tests cannot use
// t.Setenv.
var setCredentials = sync.OnceValue(func() error {
	if err := os.Setenv("AWS_ACCESS_KEY_ID", bucketKey); err != nil {
		return err
	}
	return os.Setenv("AWS_SECRET_ACCESS_KEY", bucketSecret)
})

// StartBucket starts versitygw, an S3 server that stores objects in a folder, until the end
// of the test. `make test-go` builds it. Without it, StartBucket skips the test, except in
// CI.
func StartBucket(t testing.TB) *Bucket {
	t.Helper()
	program, err := filepath.Abs("../../tools/bin/versitygw")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(program); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("versitygw is missing: %v", err)
		}
		t.Skip("versitygw is missing: run make tools/bin/versitygw")
	}
	if err := setCredentials(); err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := os.Mkdir(folder+"/files", 0o700); err != nil {
		t.Fatal(err)
	}
	host := ReserveAddress(t)
	cmd := exec.CommandContext(t.Context(), program, "--access", bucketKey, "--secret", bucketSecret, "--port", host,
		"--quiet", "posix", "--sidecar", t.TempDir(), folder)
	var log strings.Builder
	cmd.Stdout, cmd.Stderr = &log, &log
	wait := Start(t, cmd)
	ended := make(chan error, 1)
	go func() { ended <- wait() }()
	Eventually(t, "versitygw listens", func() bool {
		select {
		case err := <-ended:
			t.Fatalf("versitygw ended with %v:\n%s", err, log.String())
		default:
		}
		conn, err := net.Dial("tcp", host)
		return err == nil && conn.Close() == nil
	})
	return &Bucket{Address: "s3://files/cards?region=us-east-1&endpoint=http://" + host, Host: host, Folder: folder + "/files"}
}
