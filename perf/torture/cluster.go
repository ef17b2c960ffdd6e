package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"cardwall/perf/process"
)

// cluster is a PostgreSQL cluster on three hosts, managed by Patroni. A standby must confirm each commit of the primary
// and takes over if the primary is lost. Etcd runs on the same hosts and stores which host is the primary.
type cluster struct {
	*trialRun
	*network
	etcd    []*process.Process
	patroni []*process.Process
	home    string // folder with the data and logs
}

// ttl, loopWait and retryTimeout are Patroni settings, in seconds. They determine how soon a lost primary is replaced.
// The lease of a primary lasts ttl, and the primary renews it every loopWait. A primary that cannot renew its lease
// steps down before the lease expires, after at most loopWait + 2 * retryTimeout.
const (
	clusterSize  = 3
	ttl          = 15
	loopWait     = 3
	retryTimeout = 6

	steadyTime = 8 * time.Second // how long all hosts must be running before the cluster counts as healthy
)

// newCluster starts a cluster and waits until a standby confirms commits.
func (t *trialRun) newCluster() (*cluster, error) {
	net, err := t.newNetwork(clusterSize)
	if err != nil {
		return nil, err
	}
	account, err := postgresUser()
	if err != nil {
		return nil, err
	}
	c := &cluster{trialRun: t, network: net, home: filepath.Join(t.dir, "cluster"), etcd: make([]*process.Process, clusterSize),
		patroni: make([]*process.Process, clusterSize)}
	for i, path := range append([]string{c.home}, c.folder(0), c.folder(1), c.folder(2)) {
		if err := os.Mkdir(path, 0o700); err != nil {
			return nil, err
		}
		if err := os.Chown(path, int(account.Uid), int(account.Gid)); err != nil {
			return nil, fmt.Errorf("create folder %d: %w", i, err)
		}
	}
	// Etcd is not under test. Its data is in memory, so that it does not wait for the disk.
	memory := c.memory()
	if err := os.Mkdir(memory, 0o755); err != nil {
		return nil, err
	}
	limits := fmt.Sprintf("size=512m,uid=%d,gid=%d", account.Uid, account.Gid)
	if _, err := process.Run("mount", "-t", "tmpfs", "-o", limits, "tmpfs", memory); err != nil {
		return nil, err
	}
	t.cleanups = append([]func() error{func() error { // runs after the hosts are removed, because their etcd has open files here
		_, err := process.Run("umount", memory)
		return err
	}}, t.cleanups...)
	for i := range c.hosts {
		if err := c.startEtcd(i); err != nil {
			return nil, err
		}
	}
	for i := range c.hosts {
		if err := c.startPatroni(i); err != nil {
			return nil, err
		}
		if i == 0 { // the first host creates the database, and the others copy it
			if err := t.waitUntil("no host became the primary", 2*time.Minute, func() bool { return c.primary() == 0 }); err != nil {
				return nil, fmt.Errorf("%w:\n%s", err, process.LogTail(c.folder(0)+".patroni.log"))
			}
		}
	}
	return c, c.awaitHealthy(2 * time.Minute)
}

func (c *cluster) folder(i int) string { return filepath.Join(c.home, fmt.Sprintf("host-%d", i+1)) }

func (c *cluster) memory() string { return filepath.Join(c.dir, "etcd") }

func (c *cluster) startEtcd(i int) (err error) {
	h := c.hosts[i]
	var peers []string
	for n, other := range c.hosts {
		peers = append(peers, fmt.Sprintf("h%d=http://%s:2380", n, other.addr))
	}
	own := "http://" + h.addr
	args := h.inside("etcd", "--name", fmt.Sprintf("h%d", i), "--data-dir", filepath.Join(c.memory(), fmt.Sprintf("host-%d", i+1)),
		"--listen-peer-urls", own+":2380", "--initial-advertise-peer-urls", own+":2380",
		"--listen-client-urls", own+":2379", "--advertise-client-urls", own+":2379",
		// With pre-vote, a returning member does not force an election. This is the default since etcd 3.5.
		"--initial-cluster", strings.Join(peers, ","), "--initial-cluster-state", "new", "--initial-cluster-token", "cardwall",
		"--heartbeat-interval", "250", "--election-timeout", "2500", "--pre-vote=true", "--enable-v2=true", "--logger", "zap",
		"--log-level", "error")
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = "/"
	c.etcd[i], err = process.Start(cmd, c.folder(i)+".etcd.log")
	return err
}

func (c *cluster) startPatroni(i int) error {
	file := c.folder(i) + ".yml"
	text, err := c.configuration(i)
	if err != nil {
		return err
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		return err
	}
	args := c.hosts[i].inside("patroni", file)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = "/"
	c.patroni[i], err = process.Start(cmd, c.folder(i)+".patroni.log")
	return err
}

// configuration returns the Patroni configuration of a host. It uses version 2 of the etcd API, with which a primary
// renews its lock only if it still holds the lock. With version 3, Patroni 3.0.2 (Debian 12) overwrites the lock after
// a partition, which results in two primaries.
func (c *cluster) configuration(i int) (string, error) {
	programs, err := postgresPrograms()
	if err != nil {
		return "", err
	}
	var etcd []string
	for _, h := range c.hosts {
		etcd = append(etcd, h.addr+":2379")
	}
	addr, folder := c.hosts[i].addr, c.folder(i)
	return fmt.Sprintf(`scope: cardwall
name: h%d
restapi: {listen: '%s:8008', connect_address: '%s:8008'}
etcd: {hosts: '%s'}
bootstrap:
  dcs:
    ttl: %d
    loop_wait: %d
    retry_timeout: %d
    maximum_lag_on_failover: 1048576
    synchronous_mode: true
    synchronous_mode_strict: true
    postgresql:
      use_pg_rewind: true
      use_slots: true
      parameters:
        wal_level: replica
        wal_log_hints: 'on'
        max_connections: 100
        synchronous_commit: 'on'
        wal_keep_size: 256MB
        wal_sender_timeout: 5s
        wal_receiver_timeout: 5s
        wal_receiver_status_interval: 1s
        tcp_user_timeout: 5s
        shared_buffers: 64MB
  initdb: [{encoding: UTF8}, {locale: C.UTF-8}, {auth: trust}]
postgresql:
  listen: '%s:5432'
  connect_address: '%s:5432'
  data_dir: %s/data
  bin_dir: %s
  pgpass: %s/pgpass
  authentication:
    superuser: {username: postgres, password: none}
    replication: {username: replicator, password: none}
    rewind: {username: postgres, password: none}
  remove_data_directory_on_rewind_failure: true
  remove_data_directory_on_diverged_timelines: true
  parameters: {unix_socket_directories: %s}
  pg_hba: ['local all all trust', 'host all all %s0.0/16 trust', 'host replication all %s0.0/16 trust', 'host all all 127.0.0.1/32 trust']
`, i, addr, addr, strings.Join(etcd, ","), ttl, loopWait, retryTimeout, addr, addr, folder, programs, folder, folder,
		hostNetwork, hostNetwork), nil
}

// member is the state of a host as Patroni reports it.
type member struct {
	Name, Role, State string
	Timeline          int
}

// members returns the state of all hosts, as reported by the first host that responds. It returns nil if none responds.
func (c *cluster) members() []member {
	client := http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	for _, h := range c.hosts {
		res, err := client.Get("http://" + h.addr + ":8008/cluster")
		if err != nil {
			continue
		}
		var out struct{ Members []member }
		err = json.NewDecoder(res.Body).Decode(&out)
		_ = res.Body.Close()
		if err == nil && len(out.Members) > 0 {
			return out.Members
		}
	}
	return nil
}

// primary returns the index of the primary, or -1 if there is none.
func (c *cluster) primary() int {
	client := http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	for i, h := range c.hosts {
		res, err := client.Get("http://" + h.addr + ":8008/primary")
		if err != nil {
			continue
		}
		_ = res.Body.Close()
		if res.StatusCode == http.StatusOK {
			return i
		}
	}
	return -1
}

// awaitHealthy waits until, for steadyTime, there have been one primary and one synchronous standby, and the other
// hosts have followed the primary.
func (c *cluster) awaitHealthy(timeout time.Duration) error {
	var all []member
	var since time.Time
	err := c.waitUntil("the cluster did not become healthy", timeout, func() bool {
		all = c.members()
		leaders, synchronous, others, timelines := 0, 0, 0, map[int]bool{}
		for _, m := range all {
			timelines[m.Timeline] = true
			switch {
			case m.State != "running" && m.State != "streaming":
			case m.Role == "leader":
				leaders++
			case m.Role == "sync_standby":
				synchronous++
			default:
				others++
			}
		}
		switch {
		case leaders != 1 || synchronous != 1 || others != clusterSize-2 || len(timelines) != 1:
			since = time.Time{}
		case since.IsZero():
			since = time.Now()
		}
		return !since.IsZero() && time.Since(since) >= steadyTime
	})
	if err != nil {
		return fmt.Errorf("%w: %+v", err, all)
	}
	return nil
}

// address returns the database URL for servers. The URL connects to the primary.
func (c *cluster) address() string {
	var all []string
	for _, h := range c.hosts {
		all = append(all, h.addr+":5432")
	}
	return "postgres://postgres@" + strings.Join(all, ",") + "/postgres?sslmode=disable&target_session_attrs=read-write"
}
