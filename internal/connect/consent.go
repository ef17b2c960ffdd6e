package connect

import (
	"context"
	"slices"

	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/session"
	"cardwall/internal/store"
)

// maxApps is the maximum number of connected apps of one person.
const maxApps = 100

// AddOperations registers the operations of the consent pages. Calls need s; to
// generate the OpenAPI document it may be nil.
func AddOperations(r *op.Registry, s *Server) *op.Registry {
	r.In("Connected apps", "Apps that people connected through OAuth.")
	op.Query(r, "look_at_authorization", "POST /connect/authorization",
		"Get the details of an app's authorization request. Changes nothing.",
		LookAtAuthorization, op.SignedIn, op.Before(s.readRequest))
	op.Command(r, "allow_authorization", "POST /connect/authorization/allow",
		"Approve an app's authorization request. Returns the address to redirect the browser to, "+
			"with a code for the app. Requires a recent sign-in.",
		AllowAuthorization, op.SignedIn, op.Recent, op.Unkeyed, op.Before(s.beforeAllow))
	op.Query(r, "look_at_device", "POST /connect/device",
		"Get the details of a device's authorization request by its code. Attempts are limited.",
		LookAtDevice, op.SignedIn, op.Before(s.beforeTyped))
	op.Command(r, "allow_device", "POST /connect/device/allow",
		"Approve a device's authorization request. Requires a recent sign-in.",
		AllowDevice, op.SignedIn, op.Recent, op.Unkeyed, op.Before(s.beforeAllowDevice))
	op.Command(r, "deny_device", "POST /connect/device/deny",
		"Deny a device's authorization request.",
		DenyDevice, op.SignedIn, op.Unkeyed, op.Before(s.beforeTyped))
	op.Query(r, "list_connected_apps", "GET /connected-apps",
		"List the caller's connected apps, newest first.", ListConnectedApps, op.SignedIn)
	op.Command(r, "disconnect_app", "DELETE /connected-apps/{appId}",
		"Disconnect one of the caller's apps. Its token stops working within a second.", DisconnectApp, op.SignedIn)
	return r
}

// Asked describes an authorization request to the person who decides.
type Asked struct {
	Name      string        `json:"name" doc:"Name the app gives itself. It is not verified." example:"Example Assistant"`
	Host      string        `json:"host" doc:"Host of the app or of its redirect URI; empty for a device." example:"assistant.example.com"`
	Verified  bool          `json:"verified" doc:"Whether the host serves the app's metadata document." example:"true"`
	URI       string        `json:"uri" doc:"Web page of the app; empty if there is none." example:"https://assistant.example.com/"`
	ReturnsTo string        `json:"returnsTo" doc:"Host or scheme of the redirect URI; empty for a device." example:"assistant.example.com"`
	Place     string        `json:"place" enum:"web,device" doc:"Whether the redirect goes to a host on the network (web) or to an app on the person's machine (device)." example:"web"`
	Scopes    []board.Scope `json:"scopes" doc:"Requested scopes; all scopes if the app leaves the choice to the person." example:"[\"read\",\"write\"]"`
	Open      bool          `json:"open" doc:"Whether the app leaves the choice of scopes to the person." example:"false"`
	DenyTo    string        `json:"denyTo" doc:"Address to redirect the browser to if the person denies the request; empty for a device." example:"https://assistant.example.com/callback?error=access_denied&iss=https%3A%2F%2Fcards.example.com"`
}

// AuthorizationInput is an authorization request.
type AuthorizationInput struct {
	Query string `json:"query" minLength:"0" maxLength:"8000" doc:"Query string of the authorization request, without the question mark." example:"response_type=code&client_id=cli_01jb2m3n4p5q6r7s8t9v0w1x2y&redirect_uri=https%3A%2F%2Fassistant.example.com%2Fcallback&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256"`

	asked  request
	denyTo string
}

// readRequest parses the request before the transaction, because it may fetch the
// metadata document of a client.
func (s *Server) readRequest(ctx context.Context, db *store.DB, caller board.Caller, in *AuthorizationInput) (err error) {
	if in.asked, err = s.parseRequest(ctx, db, in.Query, session.Network(caller.Address)); err != nil {
		return asFault(err)
	}
	in.denyTo = s.backTo(in.asked, "error", accessDenied, "error_description", "The person denied the request.")
	return nil
}

func offered(asked []board.Scope) []board.Scope {
	if asked == nil {
		return scopes
	}
	return asked
}

// LookAtAuthorization returns the details of an authorization request.
func LookAtAuthorization(_ context.Context, _ *store.View, in AuthorizationInput) (Asked, error) {
	req := in.asked
	return Asked{
		Name: nameOf(req.client, req.host), Host: req.host, Verified: isDocument(req.client.ID),
		URI: req.client.URI, ReturnsTo: req.returnsTo, Place: req.kind,
		Scopes: offered(req.scopes), Open: req.scopes == nil, DenyTo: in.denyTo,
	}, nil
}

// Allowed is what a person grants of the requested access.
type Allowed struct {
	Scopes      []string `json:"scopes" maxItems:"3" enum:"read,write,admin" doc:"Granted scopes; read is always included. Only requested scopes can be granted." example:"[\"read\",\"write\"]"`
	WorkspaceID string   `json:"workspaceId,omitempty" maxLength:"64" doc:"Limits the app to one workspace. If absent, it can access all workspaces of the caller." example:"wsp_01jb2m3n4p5q6r7s8t9v0w1x2y"`
}

// consent checks the granted scopes against the requested ones and returns them.
func (in Allowed) consent(ctx context.Context, tx *store.Tx, asked []board.Scope) ([]board.Scope, error) {
	chosen, err := board.ParseScopes(in.Scopes)
	if err != nil {
		return nil, err
	}
	for _, s := range chosen {
		if !slices.Contains(offered(asked), s) {
			return nil, board.Invalid("scopes: the app did not request %s.", s).In("scopes", board.RuleValue)
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

// AllowInput is an authorization request and what the person grants.
type AllowInput struct {
	AuthorizationInput
	Allowed

	redirect func(code string) string
}

func (s *Server) beforeAllow(ctx context.Context, db *store.DB, caller board.Caller, in *AllowInput) error {
	if err := s.readRequest(ctx, db, caller, &in.AuthorizationInput); err != nil {
		return err
	}
	in.redirect = func(code string) string { return s.backTo(in.asked, "code", code) }
	return nil
}

// SentOn holds the address to redirect the browser to.
type SentOn struct {
	RedirectTo string `json:"redirectTo" doc:"Redirect URI of the app with an authorization code, which can be used once within five minutes." example:"https://assistant.example.com/callback?code=K7Q2M4XW3ZB5N6VD8RJHF9TCGP&iss=https%3A%2F%2Fcards.example.com"`
}

// AllowAuthorization stores what the caller grants and returns an authorization
// code in the redirect.
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
			Scopes: chosen, UserID: tx.Caller().UserID, WorkspaceID: in.WorkspaceID,
			Refreshes: req.client.May(board.GrantRefresh),
		},
		RedirectURI: req.redirect, Challenge: req.challenge,
	}); err != nil {
		return SentOn{}, err
	}
	return SentOn{in.redirect(text)}, tx.TouchClient(ctx, req.client.ID)
}

// DeviceInput is the user code that a device shows.
type DeviceInput struct {
	UserCode string `json:"userCode" maxLength:"32" doc:"Code on the device, in upper or lower case, with or without the hyphen." example:"WDJB-MJHT"`
}

// beforeTyped counts each attempt, even with a correct code: otherwise a person
// with a valid code could try codes of other people without a limit.
func (s *Server) beforeTyped(_ context.Context, db *store.DB, caller board.Caller, _ *DeviceInput) error {
	subjects := session.PerNetwork(typedNetwork, caller)
	return s.attempts.Take(db, append(subjects, session.Subject{Limit: typedPerson, Of: caller.UserID})...)
}

func pendingDevice(ctx context.Context, v *store.View, userCode string) (board.Device, error) {
	hash, ok := board.UserCodeHash(userCode)
	if !ok {
		return board.Device{}, board.Invalid("userCode must be eight consonants, such as WDJB-MJHT.").
			In("userCode", board.RuleValue)
	}
	d, err := v.AskedDevice(ctx, hash)
	if board.IsCode(err, board.CodeNotFound) {
		err = board.Invalid("userCode is wrong, was already used or is older than 15 minutes. Compare it with the device.").
			In("userCode", board.RuleValue)
	}
	return d, err
}

// LookAtDevice returns the details of a device's authorization request.
func LookAtDevice(ctx context.Context, v *store.View, in DeviceInput) (Asked, error) {
	d, err := pendingDevice(ctx, v, in.UserCode)
	return Asked{
		Name: d.ClientName, Host: d.Host, Verified: d.Host != "", Place: toDevice,
		Scopes: offered(d.Scopes), Open: d.Scopes == nil,
	}, err
}

// AllowDeviceInput is a user code and what the person grants.
type AllowDeviceInput struct {
	DeviceInput
	Allowed
}

func (s *Server) beforeAllowDevice(ctx context.Context, db *store.DB, caller board.Caller, in *AllowDeviceInput) error {
	return s.beforeTyped(ctx, db, caller, &in.DeviceInput)
}

// Answered is the result of AllowDevice and DenyDevice.
type Answered struct {
	Name string `json:"name" doc:"Name of the app on the device." example:"Example Assistant"`
}

// AllowDevice approves a device's authorization request.
func AllowDevice(ctx context.Context, tx *store.Tx, in AllowDeviceInput) (Answered, error) {
	d, err := pendingDevice(ctx, tx.View, in.UserCode)
	if err != nil {
		return Answered{}, err
	}
	if d.Scopes, err = in.consent(ctx, tx, d.Scopes); err != nil {
		return Answered{}, err
	}
	d.State, d.WorkspaceID = board.DeviceAllowed, in.WorkspaceID
	return decideDevice(ctx, tx, d)
}

// DenyDevice denies a device's authorization request.
func DenyDevice(ctx context.Context, tx *store.Tx, in DeviceInput) (Answered, error) {
	d, err := pendingDevice(ctx, tx.View, in.UserCode)
	if err != nil {
		return Answered{}, err
	}
	d.State = board.DeviceDenied
	return decideDevice(ctx, tx, d)
}

func decideDevice(ctx context.Context, tx *store.Tx, d board.Device) (Answered, error) {
	decided, err := tx.AnswerDevice(ctx, d)
	if err == nil && !decided {
		err = board.Invalid("userCode: the request has already been approved or denied.").
			In("userCode", board.RuleValue)
	}
	if err != nil {
		return Answered{}, err
	}
	return Answered{d.ClientName}, tx.TouchClient(ctx, d.ClientID)
}
