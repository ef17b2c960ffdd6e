package transfer

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"cardwall/internal/board"
)

// planContext holds the facts about the workspace and the server that a plan depends
// on.
type planContext struct {
	workspaceID string
	caller      string // id of the importing person; empty for the operator
	limits      board.Limits
	now         board.Instant
	newID       func(prefix string) string
}

// plan is the board that will be created from a Trello file. It is complete before
// anything is written.
type plan struct {
	planContext
	file    *trelloBoard
	members []board.Member // all members of the workspace
	people  *people
	history history
	report  Report
	files   *downloadedFiles // nil if attached files become links
	board   board.Board
	roles   map[string]board.Role // roles on the board, by user id
	lists   []board.List
	labels  []board.Label
	cards   []*plannedCard
	byList  map[string]*board.List  // by Trello's ids
	byLabel map[string]*board.Label // by Trello's ids
	byCard  map[string]*plannedCard // by Trello's ids
	ranks   map[string]string       // rank of the last card in each list, by the list's new id
}

type plannedCard struct {
	board.Card
	source     *trelloCard
	checklists []board.Checklist
	comments   []board.Comment

	attachments []board.Attachment
}

func newPlan(file *trelloBoard, members []board.Member, c planContext) *plan {
	return &plan{
		planContext: c, file: file, members: members, people: newPeople(members), history: readHistory(file.Actions),
		roles:  map[string]board.Role{},
		byList: map[string]*board.List{}, byLabel: map[string]*board.Label{}, byCard: map[string]*plannedCard{},
		ranks: map[string]string{},
	}
}

// build fills the plan from the file. It returns an error only if a limit is
// exceeded.
func (p *plan) build() error {
	if err := p.checkLimits(); err != nil {
		return err
	}
	p.planBoard()
	for _, step := range []func() error{p.planLists, p.planLabels, p.planCards} {
		if err := step(); err != nil {
			return err
		}
	}
	p.planChecklists()
	p.planAttachments()
	p.planComments()
	p.noteUnassigned()
	p.noteSkipped()
	p.report.Boards = []board.ImportedBoard{p.count()}
	return nil
}

func (p *plan) checkLimits() error {
	open, openLists := 0, 0
	closed := map[string]bool{}
	for _, l := range p.file.Lists {
		if closed[l.ID] = l.Closed; !l.Closed {
			openLists++
		}
	}
	for _, c := range p.file.Cards {
		if !c.Closed && !closed[c.IDList] {
			open++
		}
	}
	for _, l := range []struct {
		noun         string
		count, limit int
	}{
		{"cards (not counting archived ones)", open, p.limits.OpenCards},
		{"cards (including archived ones)", len(p.file.Cards), p.limits.AllCards},
		{"open lists", openLists, p.limits.OpenLists},
		{"labels", len(p.file.Labels), p.limits.Labels},
	} {
		if l.count > l.limit {
			return board.Refuse(board.CodeLimitReached, "There can be at most %d %s on a board; the "+
				"file has %d.", l.limit, l.noun, l.count)
		}
	}
	return nil
}

func (p *plan) planBoard() {
	f := p.file
	creationDate, _ := p.instant(p.history.boardCreated)
	created := cmp.Or(creationDate, instantOfID(f.ID, p.now), p.now)
	p.board = board.Board{
		ID: p.newID("brd_"), WorkspaceID: p.workspaceID, Name: p.title("board", f.Name), Description: p.text(f.Name, f.Desc),
		Visibility: board.VisibleToWorkspace, Features: board.NewBoardFeatures(), CreatedAt: created, UpdatedAt: p.now,
	}
	if p.caller != "" {
		p.board.CreatedBy = &p.caller
		p.roles[p.caller] = board.RoleAdmin
	}
	if f.Closed {
		p.board.ArchivedAt = p.since(f.DateClosed, f.DateLastActivity)
	}
	switch f.Prefs.PermissionLevel {
	case "private":
		p.board.Visibility = board.Private
	case "public":
		p.report.note("Public boards, now visible only to the workspace", f.Name)
	}
	p.planPeople()
}

// since returns the first of the dates that can be parsed, or the current time.
func (p *plan) since(dates ...string) *board.Instant {
	at := p.now
	for _, d := range dates {
		if i, ok := p.instant(d); ok {
			at = i
			break
		}
	}
	return &at
}

// instant parses a date. It returns false if there is no date, or if the date is
// invalid or not in the years 1900 to 2999, which it notes in the report.
func (p *plan) instant(s string) (board.Instant, bool) {
	if s == "" {
		return 0, false
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil || t.UTC().Year() < 1900 || t.UTC().Year() > 2999 {
		p.report.note("Dates that could not be parsed", s)
		return 0, false
	}
	return board.InstantOf(t), true
}

// instantOfID returns the time embedded in a Trello id, whose first eight
// hexadecimal digits are Unix seconds. It returns 0 if the id has no plausible time.
func instantOfID(id string, now board.Instant) board.Instant {
	if len(id) != 24 {
		return 0
	}
	seconds, err := strconv.ParseUint(id[:8], 16, 32)
	at := board.Instant(seconds * 1000)
	if err != nil || at < 1_200_000_000_000 || at > now { // the lower bound is in 2008, before Trello existed
		return 0
	}
	return at
}

func (p *plan) planLists() error {
	for _, l := range sortedByPos(p.file.Lists, func(l *trelloList) float64 { return l.Pos }) {
		planned := board.List{Name: p.title("list", l.Name), WIPMode: board.WIPSoft, CreatedAt: cmp.Or(instantOfID(l.ID, p.now),
			p.board.CreatedAt)}
		if l.Closed {
			planned.ArchivedAt = p.since(p.history.closed[l.ID], l.DateClosed, p.file.DateLastActivity)
		}
		if l.SoftLimit != nil && *l.SoftLimit >= 1 && *l.SoftLimit <= maxWIPLimit && *l.SoftLimit == math.Trunc(*l.SoftLimit) {
			limit := int(*l.SoftLimit)
			planned.WIPLimit = &limit
		}
		if _, ok := p.byList[l.ID]; ok {
			p.report.note("Lists with a duplicate id, imported without cards", l.Name)
		}
		if err := p.addList(planned); err != nil {
			return err
		}
		if _, ok := p.byList[l.ID]; !ok {
			p.byList[l.ID] = &p.lists[len(p.lists)-1]
		}
	}
	return nil
}

func (p *plan) addList(l board.List) error {
	var last string
	if n := len(p.lists); n > 0 {
		last = p.lists[n-1].Rank
	}
	var err error
	l.ID, l.BoardID, l.UpdatedAt = p.newID("lst_"), p.board.ID, l.CreatedAt
	if l.Rank, err = board.RankBetween(last, ""); err != nil {
		return err
	}
	p.lists = append(p.lists, l)
	return nil
}

// sortedByPos returns pointers to the elements of all, sorted by pos. The sort is
// stable.
func sortedByPos[T any](all []T, pos func(*T) float64) []*T {
	out := make([]*T, len(all))
	for i := range all {
		out[i] = &all[i]
	}
	slices.SortStableFunc(out, func(a, b *T) int { return cmp.Compare(pos(a), pos(b)) })
	return out
}

func (p *plan) planLabels() error {
	for _, l := range p.file.Labels {
		if _, ok := p.byLabel[l.ID]; ok {
			p.report.note("Labels with a duplicate id", l.Name)
			continue
		}
		p.addLabel(l)
	}
	return nil
}

func (p *plan) addLabel(l trelloLabel) {
	color, exact := trelloColor(l.Color)
	if !exact {
		p.report.note("Unknown colors, now gray", l.Color)
	}
	name, truncated := truncate(board.CleanLine(l.Name), p.limits.Title)
	if truncated {
		p.report.note("Names over the length limit, truncated", l.Name)
	}
	created := cmp.Or(instantOfID(l.ID, p.now), p.board.CreatedAt)
	planned := board.Label{ID: p.newID("lbl_"), BoardID: p.board.ID, Name: name, Color: color, CreatedAt: created, UpdatedAt: created}
	p.labels = append(p.labels, planned)
	p.byLabel[l.ID] = &planned
}

// trelloColor returns the board color for a Trello color, ignoring its shade. It
// returns false for an unknown color.
func trelloColor(s string) (board.Color, bool) {
	base := s
	for _, shade := range []string{"_light", "_dark"} {
		if n := len(s) - len(shade); n > 0 && s[n:] == shade {
			base = s[:n]
		}
	}
	switch base {
	case "black", "":
		return "gray", true
	case "green", "yellow", "orange", "red", "purple", "blue", "sky", "lime", "pink":
		return board.Color(base), true
	}
	return "gray", slices.Contains(board.Colors[:], board.Color(base))
}

// title returns the name of an object as a valid title. The noun describes the
// object in the report.
func (p *plan) title(noun, s string) string {
	name := board.CleanLine(s)
	if name == "" {
		p.report.note(fmt.Sprintf("Empty %s names, now Untitled", noun), "")
		return "Untitled"
	}
	p.noteRepairs(s, name)
	name, truncated := truncate(name, p.limits.Title)
	if truncated {
		p.report.note("Names over the length limit, truncated", name)
	}
	return name
}

// text returns a description or comment without control characters, truncated to
// the limit. The name is that of its board or card, for the report.
func (p *plan) text(name, s string) string {
	clean := plainText(s)
	p.noteRepairs(s, clean)
	clean, truncated := truncate(clean, p.limits.Text)
	if truncated {
		p.report.note("Descriptions and comments over the length limit, truncated", name)
	}
	return clean
}
