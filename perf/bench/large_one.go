package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"cardwall/perf/copies"
	"cardwall/perf/document"
	"cardwall/perf/postgres"
)

// The third installation has the boards of the large one, but all in one workspace, and one person sees all of them.
// Reports on this workspace must still be fast.

// copiesForOne adds all copies to the first workspace.
var copiesForOne = copies.Kind{
	Tables: []string{"boards", "lists", "labels", "cards", "card_labels", "card_assignees", "texts", "activity"},
	Same:   []string{"workspace_id", "user_id", "created_by", "actor_id"},
}

// oneReport is a report on the large workspace.
type oneReport struct {
	name string
	most time.Duration // goal for the median
	path func(workspace string, now time.Time) []string
}

func oneReports() []oneReport {
	zone := "timeZone=" + url.QueryEscape(reportZone)
	return []oneReport{
		{nameDashboard, 150 * time.Millisecond, func(workspace string, _ time.Time) []string {
			return []string{apiPath + "/workspaces/" + workspace + "/dashboard?" + zone}
		}},
		{nameOverview, 60 * time.Millisecond, func(string, time.Time) []string {
			return []string{apiPath + "/me/overview?" + zone}
		}},
		{nameCalendar, 150 * time.Millisecond, func(workspace string, now time.Time) (paths []string) {
			for month := range 6 {
				from := now.AddDate(0, 0, 30*(month-3))
				paths = append(paths, apiPath+"/workspaces/"+workspace+"/calendar?from="+from.Format(time.DateOnly)+
					"&to="+from.AddDate(0, 0, 29).Format(time.DateOnly)+"&"+zone)
			}
			return paths
		}},
		{nameSearchPhrase, 100 * time.Millisecond, searchOne(`"` + document.FrequentWords + `"`)},
		{nameSearchNoPhrase, 100 * time.Millisecond, searchOne(`"` + strings.Repeat(document.FrequentWords+" ", 3) + `"`)},
		{nameSearchFiltered, 100 * time.Millisecond, searchOne(document.CommonWord + " is:done")},
		{nameSearchScarce, 100 * time.Millisecond, searchOne(document.MediumWord + " is:done no:assignee")},
	}
}

func searchOne(q string) func(workspace string, now time.Time) []string {
	return func(workspace string, _ time.Time) []string {
		return []string{apiPath + "/search?workspaceId=" + workspace + "&q=" + url.QueryEscape(q)}
	}
}

// oneNames returns the names of the benchmarks without the name of the database.
func oneNames() []string {
	names := []string{nameLargeOne + ", " + nameFirstDashboard}
	for _, r := range oneReports() {
		names = append(names, nameLargeOne+", "+r.name)
	}
	return names
}

func (s *suite) measureOneFile(ctx context.Context, small *installation) error {
	if !s.wants(oneNames()...) {
		return nil
	}
	one := small.another()
	one.Data = filepath.Join(s.dir, "large", "one")
	if err := copies.Folder(one.Data, small.Data); err != nil {
		return fmt.Errorf("copy the small installation: %w", err)
	}
	if err := s.multiplyFile(ctx, one.Data, small.Data, copiesForOne); err != nil {
		return err
	}
	return s.measureOne(ctx, one, "", nil)
}

func (s *suite) measureOnePostgres(ctx context.Context, cluster *postgres.Cluster, small *installation) (err error) {
	if !s.wants(oneNames()...) {
		return nil
	}
	one := small.another()
	if one.Database, err = cluster.CreateDatabase(ctx, "one", "small"); err != nil {
		return err
	}
	if err := s.multiplyPostgres(ctx, one.Database, copiesForOne); err != nil {
		return err
	}
	if err := errors.Join(cluster.Exec(ctx, one.Database, "VACUUM ANALYZE"), cluster.Exec(ctx, cluster.URL, "CHECKPOINT")); err != nil {
		return err
	}
	return s.measureOne(ctx, one, namePostgres, cluster.CPU)
}

// measureOne measures the reports on one large workspace, with one client. It measures the first dashboard after the
// server starts. Once the server has prepared summaries of the boards and the dashboard is fast, it measures each
// report.
func (s *suite) measureOne(ctx context.Context, srv *installation, suffix string, others func() (time.Duration, error)) (err error) {
	defer func() { err = errors.Join(err, srv.Stop()) }()
	if _, err := srv.Start(ctx); err != nil {
		return srv.WithLog(err)
	}
	f := s.newFixture(srv.token, srv.workspace, srv.Addr)
	prefix := nameLargeOne + suffix + ", "
	first, settled, err := s.firstDashboards(ctx, f)
	if err != nil {
		return srv.WithLog(err)
	}
	if s.wants(nameLargeOne + ", " + nameFirstDashboard) {
		s.rows = append(s.rows, row{name: prefix + nameFirstDashboard, value: fmt.Sprintf("%.0f ms", milliseconds(first)),
			ratios: []string{fmt.Sprintf("fast after %.1f s", settled.Seconds())}})
	}
	for _, r := range oneReports() {
		if !s.wants(nameLargeOne + ", " + r.name) {
			continue
		}
		s.progress("measuring %s", prefix+r.name)
		asked := &rotatingSource{paths: r.path(srv.workspace, time.Now()), empty: r.name == nameSearchNoPhrase}
		l := &load{name: prefix + r.name, clients: 1, pid: srv.Process.PID(), others: others, client: f.client,
			source: func(int) source { return asked }}
		found, err := s.runInterleaved(ctx, []*load{l}, 1)
		if err != nil {
			return srv.WithLog(err)
		}
		median := found[0].latency.Quantile(0.5)
		s.rows = append(s.rows, row{name: prefix + r.name, result: found[0], goals: []goal{
			{fmt.Sprintf("p50 ≤ %.0f ms", milliseconds(r.most)), median > 0 && median <= r.most},
			{"no error", found[0].errors == 0},
		}})
	}
	return nil
}

// firstDashboards requests the dashboard until a request takes less than a twentieth of the first one's time, for at
// most five minutes. It checks that the dashboard counts all cards. It returns the time that the first request took,
// even if that request failed, because the first dashboard may take longer than the client waits. It also returns the
// total time until the dashboard was fast.
func (s *suite) firstDashboards(ctx context.Context, f *fixture) (first, settled time.Duration, err error) {
	path := strings.TrimPrefix(oneReports()[0].path(f.workspace, time.Now())[0], apiPath)
	began, want := time.Now(), s.large*document.Boards*document.Cards
	for ctx.Err() == nil {
		var found struct {
			Open int `json:"open"`
			Done int `json:"done"`
		}
		c, start := f.client(), time.Now()
		err := call(c, "GET", path, nil, 200, &found)
		c.Close()
		took := time.Since(start)
		if cards := found.Open + found.Done; err == nil && cards != want {
			return 0, 0, fmt.Errorf("GET %s: got a count of %d cards, want %d", path, cards, want)
		}
		if first == 0 {
			first = took
		}
		switch settled = time.Since(began); {
		case err == nil && took < first/20:
			return first, settled, nil
		case settled > 5*time.Minute:
			return first, settled, err
		}
		sleepUntil(ctx, time.Now().Add(2*time.Second))
	}
	return 0, 0, ctx.Err()
}
