package main

import (
	"cardwall/internal/app"
	"cardwall/internal/board"
)

// This file contains the people and boards of the demo. They belong to a small company
// that makes an app for field notes. Guests, assignees and authors of comments are given
// by first name. An empty name is the demo account.

type demoPerson struct {
	name string
	role board.WorkspaceRole
}

type demoBoard struct {
	name, description string
	visibility        board.Visibility
	guests            []string // guests of the workspace who can comment on the board
	labels            []demoLabel
	lists             []demoList
	statuses          []app.PostStatusUpdateInput // oldest first
	archived, trashed bool
}

type demoLabel struct {
	name  string
	color board.Color
}

type demoList struct {
	name  string
	wip   int // WIP limit; 0 means no limit
	cards []demoCard
}

type demoCard struct {
	title          string
	description    string
	labels         []string
	assignees      []string
	steps          []string // items of the checklist
	stepsDone      int      // number of completed steps, from the first
	comments       []demoComment
	due            int    // days from today; 0 means no due date
	dueTime        string // HH:MM in UTC; empty means all day
	done, archived bool
}

func demoPeople() []demoPerson {
	return []demoPerson{
		{"Amara Okafor", board.WorkspaceAdmin},
		{"Jonas Lindqvist", board.WorkspaceMember},
		{"Mei Tanaka", board.WorkspaceMember},
		{"Rafael Duarte", board.WorkspaceGuest},
	}
}

func demoFilters() []struct{ name, query string } {
	return []struct{ name, query string }{
		{"Due this week", "is:open due:week"},
		{"Open bugs", "is:open label:bug"},
		{"Unassigned", "is:open is:unassigned"},
	}
}

func demoBoards() []demoBoard {
	return []demoBoard{demoLaunch(), demoProduct(), demoHiring(), demoInbox(),
		{name: "Spring campaign", description: "What we did in spring.", archived: true, lists: []demoList{{name: "Done"}}},
		{name: "Old newsletter", trashed: true, lists: []demoList{{name: "Issues"}}},
	}
}

func demoLaunch() demoBoard {
	return demoBoard{
		name: "Launch of the new site", description: "Everything we need before the new site goes live.",
		guests: []string{"Rafael"},
		labels: []demoLabel{{"Content", "sky"}, {"Design", "purple"}, {"Bug", "red"}, {"Infrastructure", "green"},
			{"Legal", "yellow"}},
		lists: []demoList{
			{name: "Ideas", cards: []demoCard{
				{title: "Newsletter for the first hundred customers", labels: []string{"Content"}},
				{title: "Dark mode for the documentation", labels: []string{"Design"}, assignees: []string{"Mei"}},
				{title: "Public performance page",
					comments: []demoComment{{by: "Jonas", text: "The nightly run has the numbers. We only need to chart them."}}},
				{title: "Record a two-minute tour", labels: []string{"Content", "Design"}},
				{title: "Postcards for long-time customers", archived: true},
			}},
			{name: "To do", wip: 6, cards: []demoCard{
				{title: "Write the press release", labels: []string{"Content"}, assignees: []string{""}, due: 5,
					description: "Two paragraphs, **one picture**, and a quote from a customer.\n\n- Embargoed until the day before\n" +
						"- The picture is in the [press folder](https://example.com/press)\n\n> Keep it shorter than the last one.",
					steps: []string{"Draft", "Quote from a customer", "Check the names", "Send to the press list"}, stepsDone: 2,
					comments: []demoComment{
						{by: "Amara", text: "I asked Lena from Harbour Books for a quote. She'll reply by **Thursday**."},
						{by: "", text: "Perfect, I'll leave a gap for it."},
						{by: "Mei", text: "The picture with the notebook works best. It is 2400 px wide and leaves room for a headline."},
					}},
				{title: "Choose the hosting region", labels: []string{"Infrastructure"}, assignees: []string{"Jonas"}, due: 2},
				{title: "Broken link in the footer", labels: []string{"Bug"}, due: -1, assignees: []string{""},
					comments: []demoComment{{by: "Rafael", text: "It's broken on mobile too."}}},
				{title: "Terms of service, second review", labels: []string{"Legal"}, assignees: []string{"Amara"}, due: 9},
				{title: "Alt text for every image", labels: []string{"Content"},
					steps: []string{"Home", "Pricing", "About", "Blog"}, stepsDone: 1},
			}},
			{name: "In progress", wip: 4, cards: []demoCard{
				{title: "Sign-up screens", labels: []string{"Design"}, assignees: []string{"", "Mei"}, due: 1, dueTime: "15:00",
					steps: []string{"Desktop", "Phone", "Empty states", "Errors"}, stepsDone: 3,
					comments: []demoComment{{by: "Mei", text: "Phone is done. I'll finish the errors tomorrow morning."}}},
				{title: "Redirect the old URLs", labels: []string{"Infrastructure"}, assignees: []string{"Jonas"},
					description: "The list is in the shared folder. Use 301, never 302.", due: 4},
				{title: "Pricing page: three plans, one table", labels: []string{"Content", "Design"},
					assignees: []string{"Amara", "Rafael"}, steps: []string{"Copy", "Table", "FAQ"}, stepsDone: 1},
			}},
			{name: "Review", wip: 3, cards: []demoCard{
				{title: "Search responds within 50 ms", labels: []string{"Infrastructure"}, assignees: []string{"Jonas"},
					comments: []demoComment{{by: "Amara", text: "31 ms on my phone, on the train. Ship it."}}},
				{title: "Fonts load without layout shift", labels: []string{"Bug", "Design"}, assignees: []string{"Mei"}, due: 1},
			}},
			{name: "Done", cards: []demoCard{
				{title: "Register the domain", labels: []string{"Infrastructure"}, assignees: []string{"Jonas"}, done: true},
				{title: "Agree on the logo", labels: []string{"Design"}, assignees: []string{"Mei", ""}, done: true,
					steps: []string{"Three drafts", "Vote"}, stepsDone: 2},
				{title: "Interviews with five customers", labels: []string{"Content"}, assignees: []string{"Amara"}, done: true},
				{title: "Privacy notice", labels: []string{"Legal"}, done: true},
			}},
		},
		statuses: []app.PostStatusUpdateInput{
			{Status: board.StatusOnTrack, Title: "Design is agreed", Text: "All pages are designed, and the logo is chosen."},
			{Status: board.StatusAtRisk, Title: "Redirects are taking longer than expected",
				Text: "About **400 old URLs** have no target yet. Jonas has the list and needs two more days."},
		},
	}
}

func demoProduct() demoBoard {
	return demoBoard{
		name: "Product roadmap", description: "What we're building over the next two quarters, and why.",
		labels: []demoLabel{{"Mobile", "blue"}, {"Sync", "teal"}, {"Editor", "orange"}},
		lists: []demoList{
			{name: "Later", cards: []demoCard{{title: "Handwriting to text", labels: []string{"Editor"}},
				{title: "Shared notebooks", labels: []string{"Sync"}}}},
			{name: "Next", cards: []demoCard{
				{title: "Offline for seven days", labels: []string{"Sync", "Mobile"}, assignees: []string{"Jonas"}, due: 24},
				{title: "Tables in notes", labels: []string{"Editor"}, assignees: []string{"Mei"}},
			}},
			{name: "Now", wip: 2, cards: []demoCard{
				{title: "Faster startup on older phones", labels: []string{"Mobile"}, assignees: []string{""}, due: 3},
				{title: "Paste pictures from anywhere", labels: []string{"Editor"}, assignees: []string{"Mei"}, due: 6},
			}},
			{name: "Shipped", cards: []demoCard{{title: "Export to Markdown", labels: []string{"Editor"}, done: true}}},
		},
	}
}

func demoHiring() demoBoard {
	return demoBoard{
		name: "Hiring: support engineer", description: "Applicants and the stage they are in.", visibility: board.Private,
		labels: []demoLabel{{"Remote", "lime"}, {"Lisbon", "pink"}},
		lists: []demoList{
			{name: "Applied", cards: []demoCard{{title: "N. Haddad", labels: []string{"Remote"}},
				{title: "T. Novak", labels: []string{"Lisbon"}}}},
			{name: "Interview", cards: []demoCard{{title: "I. Moreau", labels: []string{"Remote"}, assignees: []string{""}, due: 2,
				dueTime: "09:30"}}},
			{name: "Offer"},
		},
	}
}

func demoInbox() demoBoard {
	return demoBoard{
		name:   "Support inbox",
		labels: []demoLabel{{"Billing", "brown"}, {"Bug", "red"}, {"Question", "gray"}},
		lists: []demoList{
			{name: "New", cards: []demoCard{{title: "Cannot open the March invoice", labels: []string{"Billing"}},
				{title: "Duplicate notes after an import", labels: []string{"Bug"}, assignees: []string{"Jonas"}}}},
			{name: "Waiting", cards: []demoCard{{title: "Is there a student discount?", labels: []string{"Question"},
				assignees: []string{"Amara"}, due: 7}}},
			{name: "Answered", cards: []demoCard{{title: "How do I print a notebook?", labels: []string{"Question"},
				done: true}}},
		},
	}
}
