package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"cardwall/perf/client"
	"cardwall/perf/document"
)

// The reports are measured with one client on a separate server with two workspaces of 50 boards and 50,000 cards each.
// Searches cover both workspaces.

// reportZone is the time zone of the reports.
const reportZone = "Europe/Zurich"

// reportNames returns the names of the reports in the order of the table.
func reportNames() []string {
	return []string{nameSearchRare, nameSearchMedium, nameSearchCommon, nameDashboard, nameCalendar, nameFilterCards}
}

// measureReports fills a server and measures the requested reports.
func (s *suite) measureReports(ctx context.Context) error {
	if !s.wants(reportNames()...) {
		return nil
	}
	dir := filepath.Join(s.dir, "reports")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return fmt.Errorf("create folder: %w", err)
	}
	srv, err := newInstallation(ctx, s.Binary, dir, "")
	if err != nil {
		return err
	}
	if err := errors.Join(s.measureFilledServer(ctx, srv, dir), srv.Stop()); err != nil {
		return srv.WithLog(err)
	}
	return nil
}

// measureFilledServer imports the workspaces, starts the server and measures the reports.
func (s *suite) measureFilledServer(ctx context.Context, srv *installation, dir string) error {
	second, err := srv.AddWorkspace(ctx, "Second")
	if err != nil {
		return err
	}
	now := time.Now()
	for i, workspace := range []string{srv.workspace, second} {
		s.progress("filling workspace %d of 2 with %d boards of %d cards", i+1, document.Boards, document.Cards)
		path := filepath.Join(dir, "workspace-"+strconv.Itoa(i+1)+".json")
		if err := document.WriteWorkspaceFile(path, srv.owner, i, now); err != nil {
			return err
		}
		if _, err := srv.Run(ctx, "import", "cardwall", path, "--workspace", workspace); err != nil {
			return err
		}
		if err := os.Remove(path); err != nil {
			return fmt.Errorf("remove document: %w", err)
		}
	}
	if _, err := srv.Start(ctx); err != nil {
		return err
	}
	client := func() *client.Client { return client.New(srv.Addr, srv.token, s.names()) }
	c := client()
	defer c.Close()
	for _, name := range reportNames() {
		if !s.wants(name) {
			continue
		}
		reports, err := newReportSource(c, name, srv.workspace, now)
		if err != nil {
			return fmt.Errorf("prepare %s: %w", name, err)
		}
		l := load{name: name, clients: 1, pid: srv.Process.PID(), client: client, source: func(int) source { return reports }}
		if err := s.measureLoad(ctx, &l); err != nil {
			return err
		}
		if srv.Process.Ended() {
			return fmt.Errorf("the server exited during %s: %w", name, srv.Process.Err())
		}
	}
	return nil
}

// reportSource requests one report after another and starts again after the last one.
type reportSource struct {
	requests []reportPath
	current  int // index
}

// reportPath is the path of a report and a string that every correct response contains.
type reportPath struct{ path, text string }

func (s *reportSource) next(r *client.Request) error {
	r.Reset("GET", 200)
	r.Path = append(r.Path, s.requests[s.current].path...)
	return nil
}

func (s *reportSource) check(body []byte) error {
	text := s.requests[s.current].text
	s.current = (s.current + 1) % len(s.requests)
	return mustContain(body, text)
}

// newReportSource returns the requests of a benchmark. It sends each request once and checks the response against the
// imported documents, because an empty report would be fast.
func newReportSource(c *client.Client, name, workspace string, now time.Time) (*reportSource, error) {
	s := &reportSource{}
	var err error
	switch name {
	case nameSearchRare:
		for _, word := range document.RareWords() {
			cards := 2 * document.Boards * document.Cards / document.RareEvery / len(document.RareWords())
			err = errors.Join(err, s.addCards(c, "/search?q="+word, word, cards, 1))
		}
	case nameSearchMedium:
		err = s.addCards(c, "/search?q="+document.MediumWord, document.MediumWord, pageSize, 1)
	case nameSearchCommon:
		err = s.addCards(c, "/search?q="+document.CommonWord, document.CommonWord, pageSize, 1)
	case nameDashboard:
		err = s.addDashboard(c, workspace)
	case nameCalendar:
		for month := range 10 { // the documents cover half a year before and after now
			err = errors.Join(err, s.addMonth(c, workspace, now.AddDate(0, 0, 30*(month-5))))
		}
	case nameFilterCards:
		var filter record
		in := map[string]any{"workspaceId": workspace, "name": "Bugs of the month", "query": "is:open due:month label:" + document.FilterLabel}
		if err := call(c, "POST", "/saved-filters", in, 201, &filter); err != nil {
			return nil, err
		}
		err = s.addCards(c, "/saved-filters/"+filter.ID+"/cards?timeZone="+url.QueryEscape(reportZone), document.FilterLabel, pageSize, 10)
	}
	return s, err
}

// addCards adds a request for a page that must contain the given number of cards, from at least the given number of
// boards.
func (s *reportSource) addCards(c *client.Client, path, text string, cards, boards int) error {
	var found []struct {
		BoardID string `json:"boardId"`
	}
	if err := call(c, "GET", path, nil, 200, &found); err != nil {
		return err
	}
	seen := make(map[string]bool)
	for _, card := range found {
		seen[card.BoardID] = true
	}
	if len(found) != cards || len(seen) < boards {
		return fmt.Errorf("GET %s: got %d cards on %d boards, want %d cards on at least %d boards",
			path, len(found), len(seen), cards, boards)
	}
	s.requests = append(s.requests, reportPath{apiPath + path, text})
	return nil
}

// addDashboard adds a request for the dashboard.
func (s *reportSource) addDashboard(c *client.Client, workspace string) error {
	var found struct {
		Open int `json:"open"`
		Done int `json:"done"`
	}
	path := "/workspaces/" + workspace + "/dashboard?timeZone=" + url.QueryEscape(reportZone)
	if err := call(c, "GET", path, nil, 200, &found); err != nil {
		return err
	}
	if cards := found.Open + found.Done; cards != document.Boards*document.Cards {
		return fmt.Errorf("GET %s: got a count of %d cards, want %d", path, cards, document.Boards*document.Cards)
	}
	s.requests = append(s.requests, reportPath{apiPath + path, `"byBoard"`})
	return nil
}

// addMonth adds a request for a calendar of 30 days.
func (s *reportSource) addMonth(c *client.Client, workspace string, from time.Time) error {
	path := "/workspaces/" + workspace + "/calendar?from=" + from.Format(time.DateOnly) +
		"&to=" + from.AddDate(0, 0, 29).Format(time.DateOnly) + "&timeZone=" + url.QueryEscape(reportZone)
	var found struct {
		Cards []record `json:"cards"`
	}
	if err := call(c, "GET", path, nil, 200, &found); err != nil {
		return err
	}
	// Two thirds of the cards are due at times spread over a year. The calendar also contains
	// cards that start in the month.
	if minimum := document.Boards * document.Cards * 2 / 3 * 30 / 366; len(found.Cards) < minimum*9/10 {
		return fmt.Errorf("GET %s: got %d cards, want about %d or more", path, len(found.Cards), minimum)
	}
	s.requests = append(s.requests, reportPath{apiPath + path, found.Cards[0].ID})
	return nil
}
