package board

import "slices"

// Reports count cards that are not archived, in lists that are not archived, on
// boards that are neither archived nor in the trash. Of these, a card is open if it
// is not done. Days are days of one time zone. Overdue and "due in 7 days" match
// the filters overdue and week of the card lists.

// Figures holds counts of cards.
type Figures struct {
	Open       int `json:"open" doc:"Cards that are neither done nor archived." example:"42"`
	Done       int `json:"done" doc:"Cards that are done and not archived." example:"17"`
	Overdue    int `json:"overdue" doc:"Open cards whose due date has passed." example:"3"`
	DueIn7Days int `json:"dueIn7Days" doc:"Open cards that are due today or in the next six days. Cards that were due earlier today also count as overdue." example:"8"`
	Unassigned int `json:"unassigned" doc:"Open cards without an assignee." example:"5"`
	Undated    int `json:"undated" doc:"Open cards without a due date." example:"20"`
}

// Tally holds the counts of cards for one group.
type Tally struct {
	Open    int `json:"open" doc:"Cards that are neither done nor archived." example:"12"`
	Done    int `json:"done" doc:"Cards that are done and not archived." example:"7"`
	Overdue int `json:"overdue" doc:"Open cards whose due date has passed." example:"2"`
}

// Add adds the counts of another group.
func (t *Tally) Add(o Tally) {
	t.Open += o.Open
	t.Done += o.Done
	t.Overdue += o.Overdue
}

// Standing is a card's state at a point in time. Only an open card is Undated,
// Overdue, Soon (due in 7 days) or Stale.
type Standing struct{ Done, Undated, Overdue, Soon, Stale bool }

// Count adds n cards.
func (f *Figures) Count(s Standing, assigned bool, n int) {
	if s.Done {
		f.Done += n
		return
	}
	f.Open += n
	for _, c := range []struct {
		is bool
		to *int
	}{{s.Overdue, &f.Overdue}, {s.Soon, &f.DueIn7Days}, {!assigned, &f.Unassigned}, {s.Undated, &f.Undated}} {
		if c.is {
			*c.to += n
		}
	}
}

// Count adds a card.
func (t *Tally) Count(s Standing) {
	switch {
	case s.Done:
		t.Done++
		return
	case s.Overdue:
		t.Overdue++
	}
	t.Open++
}

// Rest holds the counts of the groups that a breakdown leaves out.
type Rest struct {
	Count int `json:"count" doc:"The number of groups left out." example:"4"`
	Tally
}

// BoardTally holds the counts of a board.
type BoardTally struct {
	BoardID string `json:"boardId" doc:"The board." example:"brd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Name    string `json:"name" doc:"Its name." example:"Launch"`
	Tally
}

// ListTally holds the counts of a list.
type ListTally struct {
	ListID  string `json:"listId" doc:"The list." example:"lst_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	BoardID string `json:"boardId" doc:"The board it is on." example:"brd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Name    string `json:"name" doc:"Its name." example:"In progress"`
	Tally
}

// MemberTally holds the counts of a person.
type MemberTally struct {
	UserID string `json:"userId" doc:"The person." example:"usr_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Name   string `json:"name" doc:"The display name." example:"Ada Lovelace"`
	Tally
}

// LabelTally holds the counts of all labels with the same name and color,
// across boards.
type LabelTally struct {
	Name  string `json:"name" doc:"The name of the labels." example:"Bug"`
	Color Color  `json:"color" enum:"gray,red,orange,yellow,lime,green,teal,sky,blue,purple,pink,brown" doc:"The color of the labels." example:"red"`
	Tally
}

// ByBoard breaks down by board. Each breakdown shows the groups with the most
// open cards and the sum of the rest.
type ByBoard struct {
	Top  []BoardTally `json:"top" doc:"The ten boards with the most open cards, most first."`
	Rest Rest         `json:"rest" doc:"All other boards together."`
}

// ByList breaks down by list.
type ByList struct {
	Top  []ListTally `json:"top" doc:"The ten lists with the most open cards, most first."`
	Rest Rest        `json:"rest" doc:"All other lists together."`
}

// ByMember breaks down by assignee. A card counts for each of its assignees.
type ByMember struct {
	Top  []MemberTally `json:"top" doc:"The ten people with the most open cards, most first. People without cards are left out."`
	Rest Rest          `json:"rest" doc:"All other people together."`
}

// ByLabel breaks down by label. A card counts for each of its labels.
type ByLabel struct {
	Top  []LabelTally `json:"top" doc:"The ten labels with the most open cards, most first. Labels with the same name and color count together. Labels on no card are left out."`
	Rest Rest         `json:"rest" doc:"All other labels together."`
}

// Week is an ISO week (Monday to Sunday).
type Week struct {
	Week      string `json:"week" doc:"The ISO 8601 week." example:"2026-W11"`
	From      string `json:"from" format:"date" doc:"The Monday of the week." example:"2026-03-09"`
	Created   int    `json:"created" doc:"Cards created in the week, including archived ones." example:"9"`
	Completed int    `json:"completed" doc:"Cards done in the week that are still done, including archived ones." example:"7"`
}

// CardGroup holds the number of cards in a group, and the first few of them.
type CardGroup struct {
	Count int    `json:"count" doc:"The number of cards." example:"12"`
	Cards []Card `json:"cards" doc:"The first five."`
}

// Breach is a list with more open cards than its WIP limit.
type Breach struct {
	ListID    string  `json:"listId" doc:"The list." example:"lst_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	BoardID   string  `json:"boardId" doc:"The board it is on." example:"brd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Name      string  `json:"name" doc:"Its name." example:"In progress"`
	OpenCards int     `json:"openCards" doc:"The number of cards that are not archived, including done ones." example:"7"`
	WIPLimit  int     `json:"wipLimit" doc:"The WIP limit." example:"5"`
	WIPMode   WIPMode `json:"wipMode" enum:"soft,hard" doc:"What happens at the limit." example:"soft"`
}

// Breaches holds the lists over their WIP limit, on boards with the feature
// wipLimits switched on.
type Breaches struct {
	Count int      `json:"count" doc:"The number of lists over their limit." example:"1"`
	Lists []Breach `json:"lists" doc:"The ten lists furthest over their limit, furthest first."`
}

// Duration is the median of a duration over cards.
type Duration struct {
	Cards         int    `json:"cards" doc:"The number of cards." example:"64"`
	MedianSeconds *int64 `json:"medianSeconds" doc:"The median, in whole seconds; null for no cards." example:"172800"`
}

// MedianOf returns the median of durations in milliseconds, truncated to whole
// seconds. For an even number it is the mean of the middle two. It sorts millis.
func MedianOf(millis []int64) Duration {
	n := len(millis)
	if n == 0 {
		return Duration{}
	}
	slices.Sort(millis)
	seconds := (millis[(n-1)/2] + millis[n/2]) / 2000
	return Duration{Cards: n, MedianSeconds: &seconds}
}

// Dashboard holds the figures of a workspace, counted over the boards that the
// caller can see.
type Dashboard struct {
	WorkspaceID string  `json:"workspaceId" doc:"The workspace." example:"wsp_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	AsOf        Instant `json:"asOf" format:"date-time" doc:"When the figures were computed." example:"2026-03-12T16:20:00.000Z"`
	TimeZone    string  `json:"timeZone" doc:"The time zone of its days and weeks." example:"Europe/London"`
	Figures
	Weeks     []Week    `json:"weeks" doc:"The last twelve ISO weeks, oldest first; the last is the current one."`
	ByBoard   ByBoard   `json:"byBoard" doc:"By board."`
	ByList    ByList    `json:"byList" doc:"By list."`
	ByMember  ByMember  `json:"byMember" doc:"By assignee."`
	ByLabel   ByLabel   `json:"byLabel" doc:"By label."`
	Stale     CardGroup `json:"stale" doc:"Open cards that have not changed for 14 days, longest unchanged first."`
	Breaches  Breaches  `json:"wipBreaches" doc:"Lists over their WIP limit."`
	LeadTime  Duration  `json:"leadTime" doc:"The time from creation to done, for cards done in the twelve weeks."`
	CycleTime Duration  `json:"cycleTime" doc:"The time from the first move to another list to done, for the same cards. Cards done before their first move are left out."`
}

// CalendarCard is a card as it appears in a calendar.
type CalendarCard struct {
	ID       string `json:"id" doc:"The card's id." example:"crd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	BoardID  string `json:"boardId" doc:"The board it is on." example:"brd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	ListID   string `json:"listId" doc:"The list it is in." example:"lst_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Number   int    `json:"number" doc:"Its number on the board." example:"7"`
	Title    string `json:"title" doc:"The title." example:"Write the press release"`
	Done     bool   `json:"done" doc:"Whether the work is done." example:"false"`
	FirstDay string `json:"firstDay" format:"date" doc:"The first day of its span in the calendar's time zone: its start, or its due date if it has no start." example:"2026-03-10"`
	LastDay  string `json:"lastDay" format:"date" doc:"The last day of its span: its due date, or its start if it has no due date." example:"2026-03-14"`
	Due
}

// BoardState is a board with its latest status.
type BoardState struct {
	ID          string     `json:"id" doc:"The board's id." example:"brd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	WorkspaceID string     `json:"workspaceId" doc:"The workspace it belongs to." example:"wsp_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Name        string     `json:"name" doc:"Its name." example:"Launch"`
	OpenCards   int        `json:"openCards" doc:"The number of cards that are not archived, neither themselves nor with their list." example:"17"`
	UpdatedAt   Instant    `json:"updatedAt" format:"date-time" doc:"When anything on the board last changed." example:"2026-02-01T10:00:00.000Z"`
	URL         string     `json:"url" format:"uri" doc:"The URL of the board in the application." example:"https://cardwall.example.com/boards/brd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Status      *StatusRef `json:"status" doc:"Its latest status update; null for none."`
}

// BoardGroup holds the number of boards in a group, and the first few of them.
type BoardGroup struct {
	Count  int          `json:"count" doc:"The number of boards." example:"7"`
	Boards []BoardState `json:"boards" doc:"The first five."`
}

// Overview summarizes a person's work.
type Overview struct {
	AsOf             Instant    `json:"asOf" format:"date-time" doc:"When the overview was computed." example:"2026-03-12T16:20:00.000Z"`
	TimeZone         string     `json:"timeZone" doc:"The time zone of its days." example:"Europe/London"`
	Overdue          CardGroup  `json:"overdue" doc:"Open cards assigned to the caller whose due date has passed, longest overdue first."`
	DueToday         CardGroup  `json:"dueToday" doc:"Open cards assigned to the caller that are due today, earliest first. Cards that were due earlier today also count as overdue."`
	DueThisWeek      CardGroup  `json:"dueThisWeek" doc:"Open cards assigned to the caller that are due today or in the next six days, earliest first."`
	RecentlyAssigned CardGroup  `json:"recentlyAssigned" doc:"Open cards that were assigned to the caller in the last seven days, latest first."`
	Boards           BoardGroup `json:"boards" doc:"The open boards that the caller can see, most recently changed first."`
}
