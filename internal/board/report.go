package board

import "slices"

// Reports count cards on boards that are neither archived nor in the trash. Weeks and
// durations include archived cards. All other counts leave out archived cards and the
// cards of archived lists; of the rest, a card is open if it is not done. Days are days
// of one time zone. Overdue and "due in 7 days" match the overdue and week filters of
// card lists.

// Figures holds counts of cards.
type Figures struct {
	Open       int `json:"open" doc:"The number of cards that are neither done nor archived." example:"42"`
	Done       int `json:"done" doc:"The number of cards that are done and not archived." example:"17"`
	Overdue    int `json:"overdue" doc:"The number of open cards whose due date has passed." example:"3"`
	DueIn7Days int `json:"dueIn7Days" doc:"The number of open cards that are due today or in the next six days. Cards that were due earlier today also count as overdue." example:"8"`
	Unassigned int `json:"unassigned" doc:"The number of open cards without an assignee." example:"5"`
	Undated    int `json:"undated" doc:"The number of open cards without a due date." example:"20"`
}

// Tally holds the counts of cards for one group.
type Tally struct {
	Open    int `json:"open" doc:"The number of cards that are neither done nor archived." example:"12"`
	Done    int `json:"done" doc:"The number of cards that are done and not archived." example:"7"`
	Overdue int `json:"overdue" doc:"The number of open cards whose due date has passed." example:"2"`
}

// Add adds the counts of another group.
func (t *Tally) Add(o Tally) {
	t.Open += o.Open
	t.Done += o.Done
	t.Overdue += o.Overdue
}

// CardState is a card's state at a point in time. Only an open card is Undated,
// Overdue or Soon (due in 7 days).
type CardState struct{ Done, Undated, Overdue, Soon bool }

// Count adds n cards in the given state.
func (f *Figures) Count(s CardState, assigned bool, n int) {
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

// Count adds a card in the given state.
func (t *Tally) Count(s CardState) {
	switch {
	case s.Done:
		t.Done++
		return
	case s.Overdue:
		t.Overdue++
	}
	t.Open++
}

// Rest holds the counts of the groups that a breakdown omits.
type Rest struct {
	Count int `json:"count" doc:"The number of omitted groups." example:"4"`
	Tally
}

// BoardTally holds the counts of a board.
type BoardTally struct {
	BoardID string `json:"boardId" doc:"The id of the board." example:"brd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Name    string `json:"name" doc:"The board's name." example:"Launch"`
	Tally
}

// ListTally holds the counts of a list.
type ListTally struct {
	ListID  string `json:"listId" doc:"The id of the list." example:"lst_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	BoardID string `json:"boardId" doc:"The id of the board that the list is on." example:"brd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Name    string `json:"name" doc:"The list's name." example:"In progress"`
	Tally
}

// MemberTally holds the counts of a person.
type MemberTally struct {
	UserID string `json:"userId" doc:"The person's user id." example:"usr_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Name   string `json:"name" doc:"The person's display name." example:"Ada Lovelace"`
	Tally
}

// LabelTally holds the counts of all labels with the same name and color,
// across boards.
type LabelTally struct {
	Name  string `json:"name" doc:"The name that the labels share." example:"Bug"`
	Color Color  `json:"color" enum:"gray,red,orange,yellow,lime,green,teal,sky,blue,purple,pink,brown" doc:"The color that the labels share." example:"red"`
	Tally
}

// ByBoard holds counts by board. Each breakdown has the groups with the most open
// cards and the sum of the others.
type ByBoard struct {
	Top  []BoardTally `json:"top" doc:"The ten boards with the most open cards, most first."`
	Rest Rest         `json:"rest" doc:"The totals of all other boards."`
}

// ByList holds counts by list.
type ByList struct {
	Top  []ListTally `json:"top" doc:"The ten lists with the most open cards, most first."`
	Rest Rest        `json:"rest" doc:"The totals of all other lists."`
}

// ByMember holds counts by assignee. A card counts for each of its assignees.
type ByMember struct {
	Top  []MemberTally `json:"top" doc:"The ten people with the most open cards, most first. People without cards are omitted."`
	Rest Rest          `json:"rest" doc:"The totals of all other people."`
}

// ByLabel holds counts by label. A card counts for each of its labels.
type ByLabel struct {
	Top  []LabelTally `json:"top" doc:"The ten labels with the most open cards, most first. Labels with the same name and color count as one. Labels without cards are omitted."`
	Rest Rest         `json:"rest" doc:"The totals of all other labels."`
}

// Week is an ISO week (Monday to Sunday).
type Week struct {
	Week      string `json:"week" doc:"The ISO 8601 week." example:"2026-W11"`
	From      string `json:"from" format:"date" doc:"The Monday of the week." example:"2026-03-09"`
	Created   int    `json:"created" doc:"The number of cards created in the week, including archived ones." example:"9"`
	Completed int    `json:"completed" doc:"The number of cards completed in the week that are still done, including archived ones." example:"7"`
}

// CardGroup holds the number of cards in a group, and the first few of them.
type CardGroup struct {
	Count int    `json:"count" doc:"The number of cards in the group." example:"12"`
	Cards []Card `json:"cards" doc:"The first five cards of the group."`
}

// Breach is a list with more open cards than its WIP limit.
type Breach struct {
	ListID    string  `json:"listId" doc:"The id of the list." example:"lst_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	BoardID   string  `json:"boardId" doc:"The id of the board that the list is on." example:"brd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Name      string  `json:"name" doc:"The list's name." example:"In progress"`
	OpenCards int     `json:"openCards" doc:"The number of cards in the list that are not archived, including done ones." example:"7"`
	WIPLimit  int     `json:"wipLimit" doc:"The list's WIP limit." example:"5"`
	WIPMode   WIPMode `json:"wipMode" enum:"soft,hard" doc:"What happens at the WIP limit." example:"soft"`
}

// Breaches holds the lists over their WIP limit, on boards with the wipLimits
// feature enabled.
type Breaches struct {
	Count int      `json:"count" doc:"The number of lists over their WIP limit." example:"1"`
	Lists []Breach `json:"lists" doc:"The ten lists that are furthest over their WIP limit, furthest first."`
}

// Duration is the median of a duration over a number of cards.
type Duration struct {
	Cards         int    `json:"cards" doc:"The number of cards that the median is computed from." example:"64"`
	MedianSeconds *int64 `json:"medianSeconds" doc:"The median, in whole seconds; null if there are no cards." example:"172800"`
}

// MedianOf returns the median of durations in milliseconds, truncated to whole
// seconds. For an even number of durations, the median is the mean of the middle two.
// MedianOf reorders millis.
func MedianOf(millis []int64) Duration {
	n := len(millis)
	if n == 0 {
		return Duration{}
	}
	low, high := nth(millis, (n-1)/2), nth(millis, n/2)
	seconds := (low + high) / 2000
	return Duration{Cards: n, MedianSeconds: &seconds}
}

// nth returns the element that would be at index k if all were sorted. It reorders all.
// It takes linear time on average (quickselect). For hundreds of thousands of elements,
// that is a tenth of the time of sorting.
func nth(all []int64, k int) int64 {
	for len(all) > 12 {
		first, middle, last := all[0], all[len(all)/2], all[len(all)-1]
		pivot := max(min(first, middle), min(max(first, middle), last))
		low, high := 0, len(all)-1
		for low <= high {
			for all[low] < pivot {
				low++
			}
			for all[high] > pivot {
				high--
			}
			if low <= high {
				all[low], all[high] = all[high], all[low]
				low, high = low+1, high-1
			}
		}
		switch {
		case k <= high:
			all = all[:high+1]
		case k >= low:
			all, k = all[low:], k-low
		default:
			return pivot
		}
	}
	slices.Sort(all)
	return all[k]
}

// Dashboard holds the figures of a workspace, counted over the boards that the
// caller can see.
type Dashboard struct {
	WorkspaceID string  `json:"workspaceId" doc:"The id of the workspace." example:"wsp_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	AsOf        Instant `json:"asOf" format:"date-time" doc:"When the figures were computed." example:"2026-03-12T16:20:00.000Z"`
	TimeZone    string  `json:"timeZone" doc:"The time zone of the days and weeks." example:"Europe/London"`
	Figures
	Weeks     []Week    `json:"weeks" doc:"The last twelve ISO weeks, including the current one, oldest first."`
	ByBoard   ByBoard   `json:"byBoard" doc:"The number of cards by board."`
	ByList    ByList    `json:"byList" doc:"The number of cards by list."`
	ByMember  ByMember  `json:"byMember" doc:"The number of cards by assignee."`
	ByLabel   ByLabel   `json:"byLabel" doc:"The number of cards by label."`
	Stale     CardGroup `json:"stale" doc:"Open cards that have not changed for 14 days, longest unchanged first."`
	Breaches  Breaches  `json:"wipBreaches" doc:"Lists over their WIP limit."`
	LeadTime  Duration  `json:"leadTime" doc:"The time from creation to completion, for cards completed in the twelve weeks."`
	CycleTime Duration  `json:"cycleTime" doc:"The time from the first move to another list until completion, for the same cards. Cards that were completed before their first move are omitted."`
}

// CalendarCard is a card as it appears in a calendar.
type CalendarCard struct {
	ID       string `json:"id" doc:"The card's id." example:"crd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	BoardID  string `json:"boardId" doc:"The id of the board that the card is on." example:"brd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	ListID   string `json:"listId" doc:"The id of the list that the card is in." example:"lst_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Number   int    `json:"number" doc:"The card's number on the board." example:"7"`
	Title    string `json:"title" doc:"The card's title." example:"Write the press release"`
	Done     bool   `json:"done" doc:"Whether the card is done." example:"false"`
	FirstDay string `json:"firstDay" format:"date" doc:"The first day of the card in the calendar's time zone: its start date, or its due date if it has no start date." example:"2026-03-10"`
	LastDay  string `json:"lastDay" format:"date" doc:"The last day of the card: its due date, or its start date if it has no due date." example:"2026-03-14"`
	Due
}

// BoardState is a board with its latest status.
type BoardState struct {
	ID          string     `json:"id" doc:"The board's id." example:"brd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	WorkspaceID string     `json:"workspaceId" doc:"The id of the workspace that the board belongs to." example:"wsp_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Name        string     `json:"name" doc:"The board's name." example:"Launch"`
	OpenCards   int        `json:"openCards" doc:"The number of cards on the board that are neither archived nor in an archived list, including done ones." example:"17"`
	Unfinished  int        `json:"unfinishedCards" doc:"The number of open cards on the board: those that are neither done, archived nor in an archived list." example:"12"`
	UpdatedAt   Instant    `json:"updatedAt" format:"date-time" doc:"When anything on the board last changed." example:"2026-02-01T10:00:00.000Z"`
	URL         string     `json:"url" format:"uri" doc:"The URL of the board in the application." example:"https://cardwall.example.com/boards/brd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Status      *StatusRef `json:"status" doc:"The board's latest status update; null if there is none."`
}

// BoardGroup holds the number of boards in a group, and the first few of them.
type BoardGroup struct {
	Count  int          `json:"count" doc:"The number of boards in the group." example:"7"`
	Boards []BoardState `json:"boards" doc:"The first five boards of the group."`
}

// Overview summarizes a person's work.
type Overview struct {
	AsOf             Instant    `json:"asOf" format:"date-time" doc:"When the overview was computed." example:"2026-03-12T16:20:00.000Z"`
	TimeZone         string     `json:"timeZone" doc:"The time zone of the days." example:"Europe/London"`
	Overdue          CardGroup  `json:"overdue" doc:"Open cards assigned to the caller whose due date has passed, longest overdue first."`
	DueToday         CardGroup  `json:"dueToday" doc:"Open cards assigned to the caller that are due today, earliest first. Cards that were due earlier today also count as overdue."`
	DueThisWeek      CardGroup  `json:"dueThisWeek" doc:"Open cards assigned to the caller that are due today or in the next six days, earliest first."`
	RecentlyAssigned CardGroup  `json:"recentlyAssigned" doc:"Open cards that were assigned to the caller in the last seven days, most recently assigned first."`
	Boards           BoardGroup `json:"boards" doc:"The open boards that the caller can see, most recently changed first."`
}
