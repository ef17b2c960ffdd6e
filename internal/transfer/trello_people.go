package transfer

import (
	"cmp"
	"fmt"
	"strings"

	"cardwall/internal/board"
)

// people matches the people in a file to people in a workspace.
type people struct {
	byEmail   map[string]*board.Member
	byName    map[string][]*board.Member
	found     map[string]*board.Member     // matched people, by Trello's ids; nil for people not in the workspace
	names     map[string]string            // names of all people in the file, by Trello's ids
	unmatched map[string]*board.ImportNote // dropped assignments of people who are not in the workspace
	order     []string                     // keys of unmatched, in order of first occurrence
}

func newPeople(members []board.Member) *people {
	p := &people{byEmail: map[string]*board.Member{}, byName: map[string][]*board.Member{}, found: map[string]*board.Member{},
		names: map[string]string{}, unmatched: map[string]*board.ImportNote{}}
	for i := range members {
		m := &members[i]
		if m.Email != nil {
			p.byEmail[*m.Email] = m
		}
		name := strings.ToLower(m.Name)
		p.byName[name] = append(p.byName[name], m)
	}
	return p
}

// match looks up a person in the file among the members of the workspace: by email
// address if the file has one, and otherwise by a full name or user name that only
// one person has.
func (p *people) match(m trelloMember) {
	if _, ok := p.found[m.ID]; ok || m.ID == "" {
		return
	}
	p.names[m.ID] = cmp.Or(board.CleanLine(m.FullName), board.CleanLine(m.Username), "someone")
	p.found[m.ID] = nil
	if m.Email != "" {
		if address, err := board.NormalEmail(m.Email); err == nil {
			p.found[m.ID] = p.byEmail[address]
		}
		return
	}
	for _, name := range []string{board.CleanLine(m.FullName), board.CleanLine(m.Username)} {
		if same := p.byName[strings.ToLower(name)]; name != "" && len(same) == 1 {
			p.found[m.ID] = same[0]
			return
		}
	}
}

func (p *people) member(id string) *board.Member { return p.found[id] }

func (p *people) name(id string) string {
	return excerpt(cmp.Or(p.names[id], "someone"), maxExampleLength)
}

// addUnmatched records that a card is assigned to a person who is not in the
// workspace.
func (p *people) addUnmatched(id, card string) {
	if p.unmatched[id] == nil {
		p.unmatched[id] = &board.ImportNote{}
		p.order = append(p.order, id)
	}
	n := p.unmatched[id]
	n.Count++
	if len(n.Examples) <= maxExamples { // one more than the report shows, so that the report adds "…"
		n.Examples = append(n.Examples, card)
	}
}

func (p *plan) noteUnassigned() {
	for _, id := range p.people.order {
		n := p.people.unmatched[id]
		p.report.notes(fmt.Sprintf("Assignments to %s, who is not in the workspace", p.people.name(id)), n.Count, n.Examples...)
	}
}

// planPeople matches all people in the file. A person gets a role on the board if
// the person had an active membership on Trello and cannot otherwise see the board.
func (p *plan) planPeople() {
	for _, m := range p.file.Members {
		p.people.match(m)
	}
	for _, a := range p.file.Actions {
		p.people.match(a.MemberCreator)
	}
	if p.caller == "" && p.board.Visibility != board.VisibleToWorkspace {
		for _, m := range p.members { // store.Draft.Board adds the same role
			if m.Role == board.WorkspaceOwner {
				p.roles[m.ID] = board.RoleAdmin
			}
		}
	}
	for _, m := range p.file.Memberships {
		u := p.people.member(m.IDMember)
		if u == nil || m.Deactivated || p.canSee(u.ID) {
			continue
		}
		if len(p.roles) >= p.limits.BoardMembers {
			p.report.note("Members over the limit for a board", u.Name)
			continue
		}
		switch m.MemberType {
		case "admin":
			p.roles[u.ID] = board.RoleAdmin
		case "observer":
			p.roles[u.ID] = board.RoleViewer
		default:
			p.roles[u.ID] = board.RoleEditor
		}
	}
}

// canSee reports whether a person who was matched to the file can see the board.
func (p *plan) canSee(userID string) bool {
	for _, m := range p.people.found {
		if m != nil && m.ID == userID {
			return board.RoleOn(m.Role, p.roles[userID], p.board.Visibility) != board.RoleNone
		}
	}
	return false
}

// history holds facts about the records of a file that only its actions contain.
// The keys are Trello's ids.
type history struct {
	boardCreated string
	created      map[string]creation // creation of each card
	done         map[string]string   // times when cards were last marked as done
	closed       map[string]string   // times when cards and lists were last archived
	itemDone     map[string]string   // times when checklist items were last completed
	comments     []*trelloAction
	powerUps     []string
	otherActions map[string]int // number of other actions, by type
}

type creation struct{ date, member string }

// readHistory reads the actions, which may be in any order.
func readHistory(actions []trelloAction) history {
	h := history{created: map[string]creation{}, done: map[string]string{}, closed: map[string]string{},
		itemDone: map[string]string{}, otherActions: map[string]int{}}
	for i := range actions {
		a := &actions[i]
		d := &a.Data
		card := d.Card.value.ID
		switch a.Type {
		case "commentCard", "copyCommentCard":
			h.comments = append(h.comments, a)
			continue
		case "enablePlugin":
			h.powerUps = append(h.powerUps, d.Plugin.value.Name)
			continue
		case "createCard", "copyCard", "emailCard", "convertToCardFromCheckItem", "moveCardToBoard":
			if b, ok := h.created[card]; !ok || a.Date < b.date {
				h.created[card] = creation{a.Date, a.author()}
			}
		case "createBoard", "copyBoard":
			h.boardCreated = a.Date
		case "updateCard":
			if d.Card.value.Closed && d.Old.value.Closed != nil {
				latest(h.closed, card, a.Date)
			}
			if d.Card.value.DueComplete && d.Old.value.DueComplete != nil {
				latest(h.done, card, a.Date)
			}
		case "updateList":
			if d.List.value.Closed && d.Old.value.Closed != nil {
				latest(h.closed, d.List.value.ID, a.Date)
			}
		case "updateCheckItemStateOnCard":
			if d.CheckItem.value.State == "complete" {
				latest(h.itemDone, d.CheckItem.value.ID, a.Date)
			}
		}
		h.otherActions[board.CleanLine(a.Type)]++
	}
	return h
}

func (a *trelloAction) author() string { return cmp.Or(a.IDMemberCreator, a.MemberCreator.ID) }

// latest stores a date unless the stored one is later. All dates in a file are in
// UTC and in the same format, so they can be compared as strings.
func latest(in map[string]string, id, date string) {
	if date > in[id] {
		in[id] = date
	}
}
