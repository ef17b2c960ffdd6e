package transfer

import (
	"cmp"
	"fmt"
	"strings"

	"cardwall/internal/board"
)

// people finds the people of a workspace for those whom a file names.
type people struct {
	byEmail map[string]*board.Member
	byName  map[string][]*board.Member
	found   map[string]*board.Member // by Trello's id; nil for who is not here
	names   map[string]string        // of everybody in the file
	gone    map[string]*Note         // what those who are not here were assigned to
	order   []string                 // of gone
}

func newPeople(members []board.Member) *people {
	p := &people{byEmail: map[string]*board.Member{}, byName: map[string][]*board.Member{}, found: map[string]*board.Member{},
		names: map[string]string{}, gone: map[string]*Note{}}
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

// meet looks for a person: by email when the file has one, else by a full or
// user name that one person alone has.
func (p *people) meet(m trelloMember) {
	if _, ok := p.found[m.ID]; ok || m.ID == "" {
		return
	}
	p.names[m.ID] = cmp.Or(board.CleanLine(m.FullName), board.CleanLine(m.Username), "somebody")
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

func (p *people) of(id string) *board.Member { return p.found[id] }

func (p *people) name(id string) string {
	return excerpt(cmp.Or(p.names[id], "somebody"), exampleLength)
}

// missed notes that somebody who is not here had a card.
func (p *people) missed(id, card string) {
	if p.gone[id] == nil {
		p.gone[id] = &Note{}
		p.order = append(p.order, id)
	}
	n := p.gone[id]
	n.Count++
	if len(n.Examples) <= examplesKept { // one more, so that the report knows of more
		n.Examples = append(n.Examples, card)
	}
}

func (p *plan) noteUnassigned() {
	for _, id := range p.people.order {
		n := p.people.gone[id]
		p.report.notes(fmt.Sprintf("Assigned to %s, who is not in the workspace", p.people.name(id)), n.Count, n.Examples...)
	}
}

// planPeople meets everybody in the file, and gives those a role on the board
// who had one on Trello and do not see the board through the workspace.
func (p *plan) planPeople() {
	for _, m := range p.file.Members {
		p.people.meet(m)
	}
	for _, a := range p.file.Actions {
		p.people.meet(a.MemberCreator)
	}
	if p.caller == "" && p.board.Visibility != board.VisibleToWorkspace {
		for _, m := range p.members { // as TransferBoard does
			if m.Role == board.WorkspaceOwner {
				p.roles[m.ID] = board.RoleAdmin
			}
		}
	}
	for _, m := range p.file.Memberships {
		u := p.people.of(m.IDMember)
		if u == nil || m.Deactivated || p.sees(u.ID) {
			continue
		}
		if len(p.roles) >= p.limits.BoardMembers {
			p.report.note("People beyond those whom a board can be shared with", u.Name)
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

// sees tells whether a person of the workspace sees the board.
func (p *plan) sees(userID string) bool {
	for _, m := range p.people.found {
		if m != nil && m.ID == userID {
			return board.RoleOn(m.Role, p.roles[userID], p.board.Visibility) != board.RoleNone
		}
	}
	return false
}

// history is what the actions of a file say about its records, by Trello's ids.
type history struct {
	boardCreated string
	born         map[string]birth  // of cards
	done         map[string]string // when a card was last marked complete
	closed       map[string]string // when a card or list was last archived
	itemDone     map[string]string
	comments     []*trelloAction
	powerUps     []string
	others       map[string]int // by their type
}

type birth struct{ date, member string }

// readHistory reads the actions, whatever their order.
func readHistory(actions []trelloAction) history {
	h := history{born: map[string]birth{}, done: map[string]string{}, closed: map[string]string{}, itemDone: map[string]string{}, others: map[string]int{}}
	for i := range actions {
		a := &actions[i]
		d := &a.Data
		card := d.Card.is.ID
		switch a.Type {
		case "commentCard", "copyCommentCard":
			h.comments = append(h.comments, a)
			continue
		case "enablePlugin":
			h.powerUps = append(h.powerUps, d.Plugin.is.Name)
			continue
		case "createCard", "copyCard", "emailCard", "convertToCardFromCheckItem", "moveCardToBoard":
			if b, ok := h.born[card]; !ok || a.Date < b.date {
				h.born[card] = birth{a.Date, a.author()}
			}
		case "createBoard", "copyBoard":
			h.boardCreated = a.Date
		case "updateCard":
			if d.Card.is.Closed && d.Old.is.Closed != nil {
				latest(h.closed, card, a.Date)
			}
			if d.Card.is.DueComplete && d.Old.is.DueComplete != nil {
				latest(h.done, card, a.Date)
			}
		case "updateList":
			if d.List.is.Closed && d.Old.is.Closed != nil {
				latest(h.closed, d.List.is.ID, a.Date)
			}
		case "updateCheckItemStateOnCard":
			if d.CheckItem.is.State == "complete" {
				latest(h.itemDone, d.CheckItem.is.ID, a.Date)
			}
		}
		h.others[board.CleanLine(a.Type)]++
	}
	return h
}

func (a *trelloAction) author() string { return cmp.Or(a.IDMemberCreator, a.MemberCreator.ID) }

// latest keeps the later of two dates; all are written in UTC alike.
func latest(in map[string]string, id, date string) {
	if date > in[id] {
		in[id] = date
	}
}
