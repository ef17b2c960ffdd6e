package transfer

import (
	"cmp"
	"fmt"
	"strings"

	"cardwall/internal/board"
)

// people matches the people in a file to people of a workspace.
type people struct {
	byEmail map[string]*board.Member
	byName  map[string][]*board.Member
	found   map[string]*board.Member     // by Trello's id; nil if not in the workspace
	names   map[string]string            // of everyone in the file
	gone    map[string]*board.ImportNote // dropped assignments of people who are not in the workspace
	order   []string                     // order of the keys of gone
}

func newPeople(members []board.Member) *people {
	p := &people{byEmail: map[string]*board.Member{}, byName: map[string][]*board.Member{}, found: map[string]*board.Member{},
		names: map[string]string{}, gone: map[string]*board.ImportNote{}}
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

// meet looks up a person: by email address if the file has one, else by a full
// name or user name that only one person has.
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

// missed records that a card was assigned to a person who is not in the
// workspace.
func (p *people) missed(id, card string) {
	if p.gone[id] == nil {
		p.gone[id] = &board.ImportNote{}
		p.order = append(p.order, id)
	}
	n := p.gone[id]
	n.Count++
	if len(n.Examples) <= examplesKept { // one more than shown, so that the report knows that there are more
		n.Examples = append(n.Examples, card)
	}
}

func (p *plan) noteUnassigned() {
	for _, id := range p.people.order {
		n := p.people.gone[id]
		p.report.notes(fmt.Sprintf("Assigned to %s, who is not in the "+
			"workspace", p.people.name(id)), n.Count, n.Examples...)
	}
}

// planPeople matches everyone in the file. People who had a role on the Trello
// board, and cannot see the board through the workspace, get a role on it.
func (p *plan) planPeople() {
	for _, m := range p.file.Members {
		p.people.meet(m)
	}
	for _, a := range p.file.Actions {
		p.people.meet(a.MemberCreator)
	}
	if p.caller == "" && p.board.Visibility != board.VisibleToWorkspace {
		for _, m := range p.members { // as in store.Draft.Board
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
			p.report.note("People beyond the limit of members of a board", u.Name)
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

// sees reports whether a person of the workspace can see the board.
func (p *plan) sees(userID string) bool {
	for _, m := range p.people.found {
		if m != nil && m.ID == userID {
			return board.RoleOn(m.Role, p.roles[userID], p.board.Visibility) != board.RoleNone
		}
	}
	return false
}

// history holds what the actions of a file say about its records, by Trello's
// ids.
type history struct {
	boardCreated string
	born         map[string]birth  // creation of cards
	done         map[string]string // when a card was last marked as done
	closed       map[string]string // when a card or list was last archived
	itemDone     map[string]string
	comments     []*trelloAction
	powerUps     []string
	others       map[string]int // other actions by type
}

type birth struct{ date, member string }

// readHistory reads the actions, which may be in any order.
func readHistory(actions []trelloAction) history {
	h := history{born: map[string]birth{}, done: map[string]string{}, closed: map[string]string{}, itemDone: map[string]string{},
		others: map[string]int{}}
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

// latest keeps the later of two dates. All are in UTC and in the same format.
func latest(in map[string]string, id, date string) {
	if date > in[id] {
		in[id] = date
	}
}
