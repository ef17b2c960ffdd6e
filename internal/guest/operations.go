package guest

import (
	"context"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/session"
	"cardwall/internal/store"
)

// Limits per page, in addition to the request limits per network. The limits on writes
// from one network are high enough for a school class that adds cards.
var (
	viewsPerMinute         = session.Limit{Name: "views", Most: 3_000, Window: time.Minute}
	networkWritesPerMinute = session.Limit{Name: "writes from a network", Most: 30, Window: time.Minute}
	networkWritesPerHour   = session.Limit{Name: "writes from a network in an hour", Most: 200, Window: time.Hour}
	pageWritesPerMinute    = session.Limit{Name: "writes", Most: 120, Window: time.Minute}
	pageWritesPerDay       = session.Limit{Name: "writes in a day", Most: 2_000, Window: 24 * time.Hour}
)

// Options configures a Limiter.
type Options struct {
	Unlimited bool // disables the limits per page
}

// Limiter counts what guests request and write on public pages, and enforces the limits.
type Limiter struct{ attempts *session.Attempts }

// New returns the limiter of a server.
func New(o Options) *Limiter { return &Limiter{session.NewAttempts(o.Unlimited)} }

// AddOperations registers the operations of guests and returns the registry. l may be nil
// if the registry is used only to generate the OpenAPI document.
func AddOperations(r *op.Registry, l *Limiter) *op.Registry {
	r.In("Public pages", "What people without an account can do on the public page of a board.")
	op.Query(r, "get_guest_page", "POST /public-page",
		"Get the public page of a board. The key is sent in the body to keep it out of logs. "+
			"If the page has not changed since the given tag, board is null.",
		GetPage, op.Guest, op.Before(l.beforePage))
	op.Query(r, "get_guest_card", "POST /public-page/card",
		"Get a card on a public page, with its description and comments.",
		GetCard, op.Guest, op.Before(l.beforeCard))
	op.Contents(r, "get_guest_file", "GET /public-page/file",
		"Get the content of an attached file on a public page. The key is a query parameter, so that "+
			"browsers can show pictures. The log omits it.",
		GetFile, op.Guest, op.Before(l.beforeFile))
	op.Contents(r, "get_guest_background", "GET /public-page/background",
		"Get the picture behind the lists of a public page. The key is sent as with get_guest_file.",
		GetBackground, op.Guest, op.Before(l.beforeBackground))
	op.Command(r, "add_guest_comment", "POST /public-page/comments",
		"Comment on a card on a public page as a guest. The page must accept comments.",
		Comment, op.Guest, op.Creates, op.Before(l.beforeComment))
	op.Command(r, "submit_guest_card", "POST /public-page/cards",
		"Submit a card to a public page as a guest. The page must accept cards.",
		Submit, op.Guest, op.Creates, op.Before(l.beforeSubmit))
	return r
}

// KeyInput identifies a public page.
type KeyInput struct {
	Key string `json:"key" minLength:"0" maxLength:"64" doc:"Key of the page: the part of the page's URL after /p/." example:"MFRGGZDFMZTWQ2LKNNWG23TPOA"`
}

// GuestKey returns the guest's credential.
func (in KeyInput) GuestKey() string { return in.Key }

// WriteInput is the common input of a guest's changes.
type WriteInput struct {
	KeyInput
	Ticket  string `json:"ticket" maxLength:"64" doc:"Ticket from a response of get_guest_page. It must be at least three seconds and at most one day old." example:"AAABnK5mQAB7h2Wc0vJt3sYq1LxP8dEo"`
	Name    string `json:"name" maxLength:"60" doc:"Name of the guest." example:"Rosa"`
	Website string `json:"website,omitempty" maxLength:"200" doc:"Must be empty. The page hides this field to detect programs that fill in every field." example:""`
}

// check rejects a change that a program seems to have sent. It counts any other change
// against the limits, and returns an error if a limit is exceeded.
func (in WriteInput) check(l *Limiter, db *store.DB, caller board.Caller) error {
	page, network := string(caller.Guest.Key), caller.Network
	if in.Website != "" {
		return board.Forbidden("website must be empty. This field detects programs that fill in every field.")
	}
	if err := ticketsOf(db, caller).check(in.Ticket, db.Now()); err != nil {
		return err
	}
	return l.attempts.Spend(db,
		session.Subject{Limit: networkWritesPerMinute, Of: page + network},
		session.Subject{Limit: networkWritesPerHour, Of: page + network},
		session.Subject{Limit: pageWritesPerMinute, Of: page}, session.Subject{Limit: pageWritesPerDay, Of: page})
}

func (l *Limiter) countView(db *store.DB, caller board.Caller) error {
	return l.attempts.Spend(db, session.Subject{Limit: viewsPerMinute, Of: string(caller.Guest.Key)})
}

func (l *Limiter) beforePage(_ context.Context, db *store.DB, caller board.Caller, in *GetPageInput) error {
	in.tickets = ticketsOf(db, caller)
	return l.countView(db, caller)
}

func (l *Limiter) beforeCard(_ context.Context, db *store.DB, caller board.Caller, _ *GetCardInput) error {
	return l.countView(db, caller)
}

func (l *Limiter) beforeFile(_ context.Context, db *store.DB, caller board.Caller, _ *GetFileInput) error {
	return l.countView(db, caller)
}

func (l *Limiter) beforeBackground(_ context.Context, db *store.DB, caller board.Caller, _ *GetBackgroundInput) error {
	return l.countView(db, caller)
}

func (l *Limiter) beforeComment(_ context.Context, db *store.DB, caller board.Caller, in *CommentInput) error {
	return in.check(l, db, caller)
}

func (l *Limiter) beforeSubmit(_ context.Context, db *store.DB, caller board.Caller, in *SubmitInput) error {
	return in.check(l, db, caller)
}
