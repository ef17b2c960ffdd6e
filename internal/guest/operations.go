package guest

import (
	"context"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/session"
	"cardwall/internal/store"
)

// The limits of one page, in addition to the request limits of a network. They
// allow a school class to add its ideas from one network at the same time.
var (
	looksAtPage     = session.Limit{Name: "looks", Most: 3_000, Window: time.Minute}
	writesHere      = session.Limit{Name: "writes from a network", Most: 30, Window: time.Minute}
	writesHereLong  = session.Limit{Name: "writes from a network in an hour", Most: 200, Window: time.Hour}
	writesToPage    = session.Limit{Name: "writes", Most: 120, Window: time.Minute}
	writesToPageDay = session.Limit{Name: "writes in a day", Most: 2_000, Window: 24 * time.Hour}
)

// Options configures Pages.
type Options struct {
	Unlimited bool // disable limits of attempts
}

// Pages limits what guests do on public pages.
type Pages struct{ attempts *session.Attempts }

// New returns the Pages of a server.
func New(o Options) *Pages { return &Pages{session.NewAttempts(o.Unlimited)} }

// AddOperations registers the operations of guests. Calls need p; to generate the
// OpenAPI document it may be nil.
func AddOperations(r *op.Registry, p *Pages) *op.Registry {
	r.In("Public pages", "Operations of people without an account on the public page of a board.")
	op.Query(r, "look_at_public_page", "POST /public-page",
		"Get the public page of a board. The key is sent in the body, so that it is not logged. "+
			"If the page has not changed since the given tag, board is null.",
		Look, op.Guest, op.Before(p.beforeLook))
	op.Query(r, "look_at_public_card", "POST /public-page/card",
		"Get a card on a public page, with its description and comments.",
		LookAtCard, op.Guest, op.Before(p.beforeCard))
	op.Command(r, "add_guest_comment", "POST /public-page/comments",
		"Comment on a card as a guest of a public page that accepts comments.",
		Comment, op.Guest, op.Creates, op.Before(p.beforeComment))
	op.Command(r, "submit_guest_card", "POST /public-page/cards",
		"Submit a card as a guest of a public page that accepts cards.",
		Submit, op.Guest, op.Creates, op.Before(p.beforeSubmit))
	return r
}

// KeyInput identifies a public page.
type KeyInput struct {
	Key string `json:"key" minLength:"0" maxLength:"64" doc:"The part after /p/ in the page's address." example:"MFRGGZDFMZTWQ2LKNNWG23TPOA"`
}

// GuestKey returns the credential of the guest.
func (in KeyInput) GuestKey() string { return in.Key }

// WriteInput is the common input of a guest's changes.
type WriteInput struct {
	KeyInput
	Ticket  string `json:"ticket" maxLength:"64" doc:"Ticket of a response of look_at_public_page, at least three seconds and at most one day old." example:"AAABnK5mQAB7h2Wc0vJt3sYq1LxP8dEo"`
	Name    string `json:"name" maxLength:"60" doc:"Name of the guest." example:"Rosa"`
	Website string `json:"website,omitempty" maxLength:"200" doc:"Must be empty. It detects programs that fill in every field." example:""`
}

// check rejects changes that were not sent by a person at the page, and counts the
// others against the limits.
func (in WriteInput) check(p *Pages, db *store.DB, caller board.Caller) error {
	page, here := string(caller.Guest.Key), caller.Network
	if in.Website != "" {
		return board.Forbidden("website must be empty. It detects programs that fill in every field.")
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
