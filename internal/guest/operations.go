package guest

import (
	"context"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/session"
	"cardwall/internal/store"
)

// The limits of one page, besides those that all requests of a network have. A
// class that adds its ideas from one network at once is let through.
var (
	looksAtPage     = session.Limit{Name: "looks", Most: 3_000, Window: time.Minute}
	writesHere      = session.Limit{Name: "writes from a network", Most: 30, Window: time.Minute}
	writesHereLong  = session.Limit{Name: "writes from a network in an hour", Most: 200, Window: time.Hour}
	writesToPage    = session.Limit{Name: "writes", Most: 120, Window: time.Minute}
	writesToPageDay = session.Limit{Name: "writes in a day", Most: 2_000, Window: 24 * time.Hour}
)

// Options of public pages.
type Options struct {
	Unlimited bool // no limits of attempts
}

// Pages are the public pages of a server: it counts what guests do.
type Pages struct{ attempts *session.Attempts }

// New makes the public pages of a server.
func New(o Options) *Pages { return &Pages{session.NewAttempts(o.Unlimited)} }

// AddOperations registers what guests do. For a document of the interface, which
// calls nothing, p may be nil.
func AddOperations(r *op.Registry, p *Pages) *op.Registry {
	r.In("Public pages", "What people without an account do on the public page of a board.")
	op.Query(r, "look_at_public_page", "POST /public-page", "Look at the public page of a board. Its key is sent in the body, so that it is in no log; while nothing has changed since the answer of a tag, the board is null.", Look, op.Guest, op.Before(p.beforeLook))
	op.Query(r, "look_at_public_card", "POST /public-page/card", "Look at a card on a public page, with its description and its comments.", LookAtCard, op.Guest, op.Before(p.beforeCard))
	op.Command(r, "add_guest_comment", "POST /public-page/comments", "Comment on a card as a guest of a public page that takes comments.", Comment, op.Guest, op.Creates, op.Before(p.beforeComment))
	op.Command(r, "submit_guest_card", "POST /public-page/cards", "Submit a card as a guest of a public page that takes cards.", Submit, op.Guest, op.Creates, op.Before(p.beforeSubmit))
	return r
}

// KeyInput names a public page.
type KeyInput struct {
	Key string `json:"key" minLength:"0" maxLength:"64" doc:"What stands behind /p/ in the page's address." example:"MFRGGZDFMZTWQ2LKNNWG23TPOA"`
}

// GuestKey is what lets the caller in.
func (in KeyInput) GuestKey() string { return in.Key }

// WriteInput is what every guest gives who adds something.
type WriteInput struct {
	KeyInput
	Ticket  string `json:"ticket" maxLength:"64" doc:"That of an answer of look_at_public_page, at least three seconds and at most a day old." example:"AAABnK5mQAB7h2Wc0vJt3sYq1LxP8dEo"`
	Name    string `json:"name" maxLength:"60" doc:"What the guest wants to be called." example:"Rosa"`
	Website string `json:"website,omitempty" maxLength:"200" doc:"Leave it empty: only programs that fill in every field do not." example:""`
}

// check refuses what no person at a page would have sent, and counts it.
func (in WriteInput) check(p *Pages, db *store.DB, caller board.Caller) error {
	page, here := string(caller.Guest.Key), caller.Network
	if in.Website != "" {
		return board.Forbidden("website: this must be left empty, for only programs that fill in every field find it.")
	}
	if err := ticketsOf(db, caller).check(in.Ticket, db.Now()); err != nil {
		return err
	}
	return p.attempts.Take(db,
		session.Subject{Limit: writesHere, Of: page + here}, session.Subject{Limit: writesHereLong, Of: page + here},
		session.Subject{Limit: writesToPage, Of: page}, session.Subject{Limit: writesToPageDay, Of: page})
}

func (p *Pages) look(db *store.DB, caller board.Caller) error {
	return p.attempts.Take(db, session.Subject{Limit: looksAtPage, Of: string(caller.Guest.Key)})
}

func (p *Pages) beforeLook(_ context.Context, db *store.DB, caller board.Caller, in *LookInput) error {
	in.tickets = ticketsOf(db, caller)
	return p.look(db, caller)
}

func (p *Pages) beforeCard(_ context.Context, db *store.DB, caller board.Caller, _ *LookAtCardInput) error {
	return p.look(db, caller)
}

func (p *Pages) beforeComment(_ context.Context, db *store.DB, caller board.Caller, in *CommentInput) error {
	return in.check(p, db, caller)
}

func (p *Pages) beforeSubmit(_ context.Context, db *store.DB, caller board.Caller, in *SubmitInput) error {
	return in.check(p, db, caller)
}
