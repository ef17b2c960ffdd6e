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
)

// The reports are measured with one client at a time on a server of their own, so that the other measures stay what
// they are: a workspace of 50 boards and 50,000 cards, and another one as large, in which the search looks too.

// reportZone is the time zone that the reports are asked for in.
const reportZone = "Europe/Zurich"

// fillTime bounds the import of one workspace.
const fillTime = 10 * time.Minute

// reportMeasures lists the reports in the order of the table.
func reportMeasures() []string {
	return []string{nameSearchRare, nameSearchMiddling, nameSearchCommon, nameDashboard, nameCalendar, nameFilterCards}
}

// measureReports fills a server and measures the reports that were asked for.
func (s *suite) measureReports(ctx context.Context) error {
	if !s.wants(reportMeasures()...) {
		return nil
	}
	dir := filepath.Join(s.dir, "reports")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return fmt.Errorf("make folder: %w", err)
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

func (s *suite) measureFilledServer(ctx context.Context, srv *installation, dir string) error {
	second, err := srv.AddWorkspace(ctx, "Second")
	if err != nil {
		return err
	}
	now := time.Now()
	for i, workspace := range []string{srv.workspace, second} {
		s.progress("filling workspace %d of 2 with %d boards of %d cards", i+1, reportBoards, reportCards)
		path := filepath.Join(dir, "workspace-"+strconv.Itoa(i+1)+".json")
		if err := writeDocumentFile(path, srv.owner, i, now); err != nil {
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
	for _, name := range reportMeasures() {
		if !s.wants(name) {
			continue
		}
		asked, err := newReportSource(c, name, srv.workspace, now)
		if err != nil {
			return fmt.Errorf("prepare %s: %w", name, err)
		}
		l := load{name: name, clients: 1, pid: srv.Process.PID(), client: client, source: func(int) source { return asked }}
		if err := s.measureLoad(ctx, &l); err != nil {
			return err
		}
		if srv.Process.Ended() {
			return fmt.Errorf("the server ended during %s: %w", name, srv.Process.Err())
		}
	}
	return nil
}

// reportSource asks for one report after the other, and begins anew after the last.
type reportSource struct {
	asked []reportPath
	turn  int
}

// reportPath is a request and a text that each good answer to it has.
type reportPath struct{ path, text string }

func (s *reportSource) next(r *client.Request) error {
	r.Reset("GET", 200)
	r.Path = append(r.Path, s.asked[s.turn].path...)
	return nil
}

func (s *reportSource) check(answer []byte) error {
	text := s.asked[s.turn].text
	s.turn = (s.turn + 1) % len(s.asked)
	return mustContain(answer, text)
}

// newReportSource makes the requests of a measure. It makes each of them once and refuses an answer that does not hold
// what the documents promise, because a report of nothing is fast.
func newReportSource(c *client.Client, name, workspace string, now time.Time) (*reportSource, error) {
	s := &reportSource{}
	var err error
	switch name {
	case nameSearchRare:
		for _, word := range rareWords() {
			cards := 2 * reportBoards * reportCards / rareEvery / len(rareWords())
			err = errors.Join(err, s.addCards(c, "/search?q="+word, word, cards, 1))
		}
	case nameSearchMiddling:
		err = s.addCards(c, "/search?q="+middlingWord, middlingWord, pageSize, 1)
	case nameSearchCommon:
		err = s.addCards(c, "/search?q="+commonWord, commonWord, pageSize, 1)
	case nameDashboard:
		err = s.addDashboard(c, workspace)
	case nameCalendar:
		for month := range 10 { // the documents reach half a year to either side
			err = errors.Join(err, s.addMonth(c, workspace, now.AddDate(0, 0, 30*(month-5))))
		}
	case nameFilterCards:
		var made record
		in := map[string]any{"workspaceId": workspace, "name": "Bugs of the month", "query": "is:open due:month label:" + reportLabel}
		if err := call(c, "POST", "/saved-filters", in, 201, &made); err != nil {
			return nil, err
		}
		err = s.addCards(c, "/saved-filters/"+made.ID+"/cards?timeZone="+url.QueryEscape(reportZone), reportLabel, pageSize, 10)
	}
	return s, err
}

// addCards adds a request for a page, which has to show so many cards of at least so many boards.
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
		return fmt.Errorf("GET %s: %d cards of %d boards instead of %d cards of at least %d", path, len(found), len(seen), cards, boards)
	}
	s.asked = append(s.asked, reportPath{apiPath + path, text})
	return nil
}

func (s *reportSource) addDashboard(c *client.Client, workspace string) error {
	var found struct {
		Open int `json:"open"`
		Done int `json:"done"`
	}
	path := "/workspaces/" + workspace + "/dashboard?timeZone=" + url.QueryEscape(reportZone)
	if err := call(c, "GET", path, nil, 200, &found); err != nil {
		return err
	}
	if cards := found.Open + found.Done; cards != reportBoards*reportCards {
		return fmt.Errorf("GET %s: %d cards are counted instead of %d", path, cards, reportBoards*reportCards)
	}
	s.asked = append(s.asked, reportPath{apiPath + path, `"byBoard"`})
	return nil
}

func (s *reportSource) addMonth(c *client.Client, workspace string, from time.Time) error {
	path := "/workspaces/" + workspace + "/calendar?from=" + from.Format(time.DateOnly) +
		"&to=" + from.AddDate(0, 0, 29).Format(time.DateOnly) + "&timeZone=" + url.QueryEscape(reportZone)
	var found struct {
		Cards []record `json:"cards"`
	}
	if err := call(c, "GET", path, nil, 200, &found); err != nil {
		return err
	}
	// Two thirds of all cards are due in a year; some more start in the month.
	if least := reportBoards * reportCards * 2 / 3 * 30 / 366; len(found.Cards) < least*9/10 {
		return fmt.Errorf("GET %s: %d cards instead of about %d or more", path, len(found.Cards), least)
	}
	s.asked = append(s.asked, reportPath{apiPath + path, found.Cards[0].ID})
	return nil
}
