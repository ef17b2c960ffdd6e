package connect

import (
	"context"
	"slices"

	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/session"
	"cardwall/internal/store"
)

// maxApps is how many programs of one person can be connected.
const maxApps = 100

// AddOperations registers what the pages ask that let programs in. For a document
// of the interface, which calls nothing, s may be nil.
func AddOperations(r *op.Registry, s *Server) *op.Registry {
	r.In("Connected apps", "Programs that people let in without a pasted token.")
	op.Query(r, "look_at_authorization", "POST /connect/authorization", "Look at what a program asks for, by the query of its authorization request. It changes nothing.", LookAtAuthorization, op.SignedIn, op.Before(s.beforeLook))
	op.Command(r, "allow_authorization", "POST /connect/authorization/allow", "Allow what a program asks for. Answers where the browser goes on, with a code for the program; needs a recent sign-in.", AllowAuthorization, op.Recent, op.Unkeyed, op.Before(s.beforeAllow))
	op.Query(r, "look_at_device", "POST /connect/device", "Look at what a program asks for that shows a code on a device. Guesses are limited.", LookAtDevice, op.SignedIn, op.Before(s.beforeTyped))
	op.Command(r, "allow_device", "POST /connect/device/allow", "Allow what the program on a device asks for. Needs a recent sign-in.", AllowDevice, op.Recent, op.Unkeyed, op.Before(s.beforeAllowDevice))
	op.Command(r, "deny_device", "POST /connect/device/deny", "Refuse what the program on a device asks for.", DenyDevice, op.SignedIn, op.Unkeyed, op.Before(s.beforeTyped))
	op.Query(r, "list_connected_apps", "GET /connected-apps", "List the programs that the caller let in, newest first.", ListConnectedApps, op.SignedIn)
	op.Command(r, "disconnect_app", "DELETE /connected-apps/{appId}", "Disconnect a program of the caller. Its token stops working within a second.", DisconnectApp, op.SignedIn)
	return r
}

// Asked is what a program asks of a person.
type Asked struct {
	Name      string        `json:"name" doc:"What the program calls itself; nobody has checked it." example:"Example Assistant"`
	Host      string        `json:"host" doc:"The host that the program belongs to or returns to; empty for a device." example:"assistant.example.com"`
	Verified  bool          `json:"verified" doc:"Whether the host vouches for the program, by a document that it serves." example:"true"`
	URI       string        `json:"uri" doc:"A page about the program; empty for none." example:"https://assistant.example.com/"`
	ReturnsTo string        `json:"returnsTo" doc:"The host, or the scheme, that the browser goes back to; empty for a device." example:"assistant.example.com"`
	Place     string        `json:"place" enum:"web,device" doc:"Whether that is a host on the network or a program on the person's own machine." example:"web"`
	Scopes    []board.Scope `json:"scopes" doc:"What it asks for; all scopes when it leaves the choice to the person." example:"[\"read\",\"write\"]"`
	Open      bool          `json:"open" doc:"Whether it leaves the choice of scopes to the person." example:"false"`
	DenyTo    string        `json:"denyTo" doc:"Where the browser goes on when the person refuses; empty for a device." example:"https://assistant.example.com/callback?error=access_denied&iss=https%3A%2F%2Fcards.example.com"`
}

// AuthorizationInput is an authorization request.
type AuthorizationInput struct {
	Query string `json:"query" minLength:"0" maxLength:"8000" doc:"What stands behind the ? of the address that the program sent the browser to." example:"response_type=code&client_id=cli_01jb2m3n4p5q6r7s8t9v0w1x2y&redirect_uri=https%3A%2F%2Fassistant.example.com%2Fcallback&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256"`

	asked  request
	denyTo string
}

// beforeLook reads the request; that may ask the network for the document of a
// client.
func (s *Server) beforeLook(ctx context.Context, db *store.DB, caller board.Caller, in *AuthorizationInput) (err error) {
	if in.asked, err = s.understand(ctx, db, in.Query, session.Network(caller.Address)); err != nil {
		return asFault(err)
	}
	in.denyTo = s.backTo(in.asked, "error", accessDenied, "error_description", "The person did not allow it.")
	return nil
}

func offered(asked []board.Scope) []board.Scope {
	if asked == nil {
		return scopes
	}
	return asked
}

// LookAtAuthorization answers what a program asks for.
func LookAtAuthorization(_ context.Context, _ *store.View, in AuthorizationInput) (Asked, error) {
	req := in.asked
	return Asked{
		Name: nameOf(req.client, req.host), Host: req.host, Verified: isDocument(req.client.ID), URI: req.client.URI, ReturnsTo: req.returnsTo, Place: req.kind,
		Scopes: offered(req.scopes), Open: req.scopes == nil, DenyTo: in.denyTo,
	}, nil
}

// Allowed is what a person allows of what was asked.
type Allowed struct {
	Scopes      []string `json:"scopes" maxItems:"3" enum:"read,write,admin" doc:"What the program may do; read is always among them, and none that it did not ask for." example:"[\"read\",\"write\"]"`
	WorkspaceID string   `json:"workspaceId,omitempty" maxLength:"64" doc:"The one workspace it reaches; all of the caller's when absent." example:"wsp_01jb2m3n4p5q6r7s8t9v0w1x2y"`
}

// consent checks what is allowed against what was asked.
func (in Allowed) consent(ctx context.Context, tx *store.Tx, asked []board.Scope) ([]board.Scope, error) {
	chosen, err := board.ParseScopes(in.Scopes)
	if err != nil {
		return nil, err
	}
	for _, s := range chosen {
		if !slices.Contains(offered(asked), s) {
			return nil, board.Invalid("scopes: the program did not ask for %s.", s)
		}
	}
	if in.WorkspaceID != "" {
		if _, err := tx.View.Workspace(ctx, in.WorkspaceID, board.ViewWorkspace); err != nil {
			return nil, err
		}
	}
	n, err := tx.CountConnectedApps(ctx)
	if err == nil {
		err = board.Room("connected apps of one person", n, 1, maxApps)
	}
	return chosen, err
}

// AllowInput is a request and what a person allows of it.
type AllowInput struct {
	AuthorizationInput
	Allowed

	answer func(code string) string
}

func (s *Server) beforeAllow(ctx context.Context, db *store.DB, caller board.Caller, in *AllowInput) error {
	if err := s.beforeLook(ctx, db, caller, &in.AuthorizationInput); err != nil {
		return err
	}
	in.answer = func(code string) string { return s.backTo(in.asked, "code", code) }
	return nil
}

// SentOn is where a browser goes on.
type SentOn struct {
	RedirectTo string `json:"redirectTo" doc:"The program's own address, with a code that works once, for five minutes." example:"https://assistant.example.com/callback?code=K7Q2M4XW3ZB5N6VD8RJHF9TCGP&iss=https%3A%2F%2Fcards.example.com"`
}

// AllowAuthorization writes what the caller allows, and answers the code for it.
func AllowAuthorization(ctx context.Context, tx *store.Tx, in AllowInput) (SentOn, error) {
	req := in.asked
	chosen, err := in.consent(ctx, tx, req.scopes)
	if err != nil {
		return SentOn{}, err
	}
	text := board.NewSecret()
	if err := tx.InsertCode(ctx, board.SecretHash(text), board.AuthorizationCode{
		Consent: board.Consent{
			ClientID: req.client.ID, ClientName: nameOf(req.client, req.host), Host: req.host, Resource: req.resource,
			Scopes: chosen, UserID: tx.Caller().UserID, WorkspaceID: in.WorkspaceID, Refreshes: req.client.May(board.GrantRefresh),
		},
		RedirectURI: req.redirect, Challenge: req.challenge,
	}); err != nil {
		return SentOn{}, err
	}
	return SentOn{in.answer(text)}, tx.TouchClient(ctx, req.client.ID)
}

// DeviceInput is what a device shows.
type DeviceInput struct {
	UserCode string `json:"userCode" maxLength:"32" doc:"The code that the device shows, whatever its case and with or without the dash." example:"WDJB-MJHT"`
}

// beforeTyped counts what may be a guess, right or wrong: who has a code of their
// own would else guess others' beside it.
func (s *Server) beforeTyped(_ context.Context, db *store.DB, caller board.Caller, _ *DeviceInput) error {
	return s.attempts.Take(db, append(session.PerNetwork(typedNetwork, caller), session.Subject{Limit: typedPerson, Of: caller.UserID})...)
}

func asked(ctx context.Context, v *store.View, userCode string) (board.Device, error) {
	hash, ok := board.UserCodeHash(userCode)
	if !ok {
		return board.Device{}, board.Invalid("userCode must be eight letters, as WDJB-MJHT; none of them is a vowel.")
	}
	d, err := v.AskedDevice(ctx, hash)
	if board.IsCode(err, board.CodeNotFound) {
		err = board.Invalid("userCode: there is no such code, or it has been used or is older than 15 minutes. Compare it with the device.")
	}
	return d, err
}

// LookAtDevice answers what the program on a device asks for.
func LookAtDevice(ctx context.Context, v *store.View, in DeviceInput) (Asked, error) {
	d, err := asked(ctx, v, in.UserCode)
	return Asked{Name: d.ClientName, Host: d.Host, Verified: d.Host != "", Place: toDevice, Scopes: offered(d.Scopes), Open: d.Scopes == nil}, err
}

// AllowDeviceInput is what a device shows and what a person allows.
type AllowDeviceInput struct {
	DeviceInput
	Allowed
}

func (s *Server) beforeAllowDevice(ctx context.Context, db *store.DB, caller board.Caller, in *AllowDeviceInput) error {
	return s.beforeTyped(ctx, db, caller, &in.DeviceInput)
}

// Answered is what was done with a device's question.
type Answered struct {
	Name string `json:"name" doc:"What the program on the device calls itself." example:"Example Assistant"`
}

// AllowDevice writes that the caller lets the program on a device in.
func AllowDevice(ctx context.Context, tx *store.Tx, in AllowDeviceInput) (Answered, error) {
	d, err := asked(ctx, tx.View, in.UserCode)
	if err != nil {
		return Answered{}, err
	}
	if d.Scopes, err = in.consent(ctx, tx, d.Scopes); err != nil {
		return Answered{}, err
	}
	d.State, d.WorkspaceID = board.DeviceAllowed, in.WorkspaceID
	return answerDevice(ctx, tx, d)
}

// DenyDevice writes that the caller does not.
func DenyDevice(ctx context.Context, tx *store.Tx, in DeviceInput) (Answered, error) {
	d, err := asked(ctx, tx.View, in.UserCode)
	if err != nil {
		return Answered{}, err
	}
	d.State = board.DeviceDenied
	return answerDevice(ctx, tx, d)
}

func answerDevice(ctx context.Context, tx *store.Tx, d board.Device) (Answered, error) {
	answered, err := tx.AnswerDevice(ctx, d)
	if err == nil && !answered {
		err = board.Invalid("userCode: it was answered in the meantime.")
	}
	if err != nil {
		return Answered{}, err
	}
	return Answered{d.ClientName}, tx.TouchClient(ctx, d.ClientID)
}
