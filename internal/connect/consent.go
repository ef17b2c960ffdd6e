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

// AddOperations registers the operations of the consent pages and returns r. If the
// operations are not called, as when the OpenAPI document is generated, s may be nil.
func AddOperations(r *op.Registry, s *Server) *op.Registry {
	r.In("Connected apps", "Apps that people have connected through OAuth.")
	op.Query(r, "get_authorization_request", "POST /connect/authorization",
		"Get the details of an app's authorization request.",
		GetAuthorizationRequest, op.SignedIn, op.Before(s.readRequest))
	op.Command(r, "allow_authorization", "POST /connect/authorization/allow",
		"Approve an app's authorization request. Returns the URL to redirect the browser to, "+
			"which contains an authorization code for the app. Requires a recent sign-in.",
		AllowAuthorization, op.SignedIn, op.Recent, op.Unkeyed, op.Before(s.beforeAllow))
	op.Query(r, "get_device_request", "POST /connect/device",
		"Get the details of a device's authorization request with the code that the device shows. Attempts are rate limited.",
		GetDeviceRequest, op.SignedIn, op.Before(s.limitUserCodes))
	op.Command(r, "allow_device", "POST /connect/device/allow",
		"Approve a device's authorization request. Requires a recent sign-in.",
		AllowDevice, op.SignedIn, op.Recent, op.Unkeyed, op.Before(s.beforeAllowDevice))
	op.Command(r, "deny_device", "POST /connect/device/deny",
		"Deny a device's authorization request.",
		DenyDevice, op.SignedIn, op.Unkeyed, op.Before(s.limitUserCodes))
	op.Query(r, "list_connected_apps", "GET /connected-apps",
		"List the caller's connected apps, newest first.", ListConnectedApps, op.SignedIn)
	op.Command(r, "disconnect_app", "DELETE /connected-apps/{appId}",
		"Disconnect one of the caller's apps. Its token stops working within a second.", DisconnectApp, op.SignedIn)
	return r
}

// AuthorizationDetails describes an authorization request on the consent page.
type AuthorizationDetails struct {
	Name      string        `json:"name" doc:"Name that the app gives itself. It is not verified." example:"Example Assistant"`
	Host      string        `json:"host" doc:"Host of the app's metadata document, or else the host or scheme of its redirect URI; empty for a device whose app has no metadata document." example:"assistant.example.com"`
	Verified  bool          `json:"verified" doc:"Whether the host serves the app's metadata document." example:"true"`
	URI       string        `json:"uri" doc:"URL of the app's web page; empty if there is none." example:"https://assistant.example.com/"`
	ReturnsTo string        `json:"returnsTo" doc:"Host or scheme of the redirect URI; empty for a device." example:"assistant.example.com"`
	Place     string        `json:"place" enum:"web,device" doc:"Where the app runs. web: on a host on the network. device: on the person's machine." example:"web"`
	Scopes    []board.Scope `json:"scopes" doc:"Requested scopes; all scopes if the app requested none." example:"[\"read\",\"write\"]"`
	Open      bool          `json:"open" doc:"Whether the app requested no specific scopes." example:"false"`
	DenyTo    string        `json:"denyTo" doc:"URL to redirect the browser to if the person denies the request; empty for a device." example:"https://assistant.example.com/callback?error=access_denied&iss=https%3A%2F%2Fcards.example.com"`
}

// AuthorizationInput is an authorization request.
type AuthorizationInput struct {
	Query string `json:"query" minLength:"0" maxLength:"8000" doc:"Query string of the authorization request, without the question mark." example:"response_type=code&client_id=cli_01jb2m3n4p5q6r7s8t9v0w1x2y&redirect_uri=https%3A%2F%2Fassistant.example.com%2Fcallback&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256"`

	request request
	denyTo  string
}

// readRequest parses the request before the transaction begins, because it may
// fetch the metadata document of a client.
func (s *Server) readRequest(ctx context.Context, db *store.DB, caller board.Caller, in *AuthorizationInput) (err error) {
	if in.request, err = s.parseRequest(ctx, db, in.Query, session.Network(caller.Address)); err != nil {
		return asFault(err)
	}
	in.denyTo = s.backTo(in.request, "error", accessDenied, "error_description", "The person denied the request.")
	return nil
}

// grantable returns the scopes that a person can grant: the requested scopes, or all
// scopes if the app requested none.
func grantable(requested []board.Scope) []board.Scope {
	if requested == nil {
		return scopes
	}
	return requested
}

// GetAuthorizationRequest returns the details of an authorization request.
func GetAuthorizationRequest(_ context.Context, _ *store.View, in AuthorizationInput) (AuthorizationDetails, error) {
	req := in.request
	return AuthorizationDetails{
		Name: nameOf(req.client, req.host), Host: req.host, Verified: isDocument(req.client.ID),
		URI: req.client.URI, ReturnsTo: req.returnsTo, Place: req.kind,
		Scopes: grantable(req.scopes), Open: req.scopes == nil, DenyTo: in.denyTo,
	}, nil
}

// Grant is the access that a person grants to an app.
type Grant struct {
	Scopes      []string `json:"scopes" maxItems:"3" enum:"read,write,admin" doc:"Granted scopes; read is always included. Only requested scopes can be granted." example:"[\"read\",\"write\"]"`
	WorkspaceID string   `json:"workspaceId,omitempty" maxLength:"64" doc:"Id of the workspace that the app is limited to. If absent, the app can access all of the caller's workspaces." example:"wsp_01jb2m3n4p5q6r7s8t9v0w1x2y"`
}

// consent returns the granted scopes. It returns an error if they exceed the requested
// scopes, if the person cannot see the workspace, or if the person has too many apps.
func (in Grant) consent(ctx context.Context, tx *store.Tx, requested []board.Scope) ([]board.Scope, error) {
	granted, err := board.ParseScopes(in.Scopes)
	if err != nil {
		return nil, err
	}
	for _, s := range granted {
		if !slices.Contains(grantable(requested), s) {
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
		err = board.CheckLimit("connected apps of one person", n, 1, maxApps)
	}
	return granted, err
}

// AllowInput is an authorization request with the access that the person grants.
type AllowInput struct {
	AuthorizationInput
	Grant

	redirect func(code string) string
}

func (s *Server) beforeAllow(ctx context.Context, db *store.DB, caller board.Caller, in *AllowInput) error {
	if err := s.readRequest(ctx, db, caller, &in.AuthorizationInput); err != nil {
		return err
	}
	in.redirect = func(code string) string { return s.backTo(in.request, "code", code) }
	return nil
}

// AuthorizationRedirect is the URL to redirect the browser to.
type AuthorizationRedirect struct {
	RedirectTo string `json:"redirectTo" doc:"Redirect URI of the app with an authorization code. The code can be used once, within five minutes." example:"https://assistant.example.com/callback?code=K7Q2M4XW3ZB5N6VD8RJHF9TCGP&iss=https%3A%2F%2Fcards.example.com"`
}

// AllowAuthorization stores the caller's consent and returns the redirect URI of
// the app with an authorization code.
func AllowAuthorization(ctx context.Context, tx *store.Tx, in AllowInput) (AuthorizationRedirect, error) {
	req := in.request
	granted, err := in.consent(ctx, tx, req.scopes)
	if err != nil {
		return AuthorizationRedirect{}, err
	}
	code := board.NewSecret()
	if err := tx.InsertCode(ctx, board.SecretHash(code), board.AuthorizationCode{
		Consent: board.Consent{
			ClientID: req.client.ID, ClientName: nameOf(req.client, req.host), Host: req.host, Resource: req.resource,
			Scopes: granted, UserID: tx.Caller().UserID, WorkspaceID: in.WorkspaceID,
			Refreshes: req.client.May(board.GrantRefresh),
		},
		RedirectURI: req.redirect, Challenge: req.challenge,
	}); err != nil {
		return AuthorizationRedirect{}, err
	}
	return AuthorizationRedirect{in.redirect(code)}, tx.TouchClient(ctx, req.client.ID)
}

// DeviceInput is the user code that a device shows.
type DeviceInput struct {
	UserCode string `json:"userCode" maxLength:"32" doc:"Code that the device shows, in upper or lower case, with or without the hyphen." example:"WDJB-MJHT"`
}

// limitUserCodes counts each attempt to enter a user code, even a correct one. Otherwise a
// person with a valid code could try the codes of other people without a limit.
func (s *Server) limitUserCodes(_ context.Context, db *store.DB, caller board.Caller, _ *DeviceInput) error {
	subjects := session.PerNetwork(userCodesPerNetwork, caller)
	return s.attempts.Spend(db, append(subjects, session.Subject{Limit: userCodesPerPerson, Of: caller.UserID})...)
}

// pendingDevice returns the device authorization request with a user code. It returns an
// error if the request has expired or was already decided.
func pendingDevice(ctx context.Context, v *store.View, userCode string) (board.Device, error) {
	hash, ok := board.UserCodeHash(userCode)
	if !ok {
		return board.Device{}, board.Invalid("userCode must be eight consonants, such as WDJB-MJHT.").
			In("userCode", board.RuleValue)
	}
	d, err := v.PendingDevice(ctx, hash)
	if board.IsCode(err, board.CodeNotFound) {
		err = board.Invalid("userCode is wrong, was already used or is older than 15 minutes. Compare it with the device.").
			In("userCode", board.RuleValue)
	}
	return d, err
}

// GetDeviceRequest returns the details of a device's authorization request.
func GetDeviceRequest(ctx context.Context, v *store.View, in DeviceInput) (AuthorizationDetails, error) {
	d, err := pendingDevice(ctx, v, in.UserCode)
	return AuthorizationDetails{
		Name: d.ClientName, Host: d.Host, Verified: d.Host != "", Place: toDevice,
		Scopes: grantable(d.Scopes), Open: d.Scopes == nil,
	}, err
}

// AllowDeviceInput is a user code with the access that the person grants.
type AllowDeviceInput struct {
	DeviceInput
	Grant
}

func (s *Server) beforeAllowDevice(ctx context.Context, db *store.DB, caller board.Caller, in *AllowDeviceInput) error {
	return s.limitUserCodes(ctx, db, caller, &in.DeviceInput)
}

// DeviceDecision is the result of AllowDevice and DenyDevice.
type DeviceDecision struct {
	Name string `json:"name" doc:"Name that the app on the device gives itself." example:"Example Assistant"`
}

// AllowDevice approves a device's authorization request.
func AllowDevice(ctx context.Context, tx *store.Tx, in AllowDeviceInput) (DeviceDecision, error) {
	d, err := pendingDevice(ctx, tx.View, in.UserCode)
	if err != nil {
		return DeviceDecision{}, err
	}
	if d.Scopes, err = in.consent(ctx, tx, d.Scopes); err != nil {
		return DeviceDecision{}, err
	}
	d.State, d.WorkspaceID = board.DeviceAllowed, in.WorkspaceID
	return decideDevice(ctx, tx, d)
}

// DenyDevice denies a device's authorization request.
func DenyDevice(ctx context.Context, tx *store.Tx, in DeviceInput) (DeviceDecision, error) {
	d, err := pendingDevice(ctx, tx.View, in.UserCode)
	if err != nil {
		return DeviceDecision{}, err
	}
	d.State = board.DeviceDenied
	return decideDevice(ctx, tx, d)
}

func decideDevice(ctx context.Context, tx *store.Tx, d board.Device) (DeviceDecision, error) {
	decided, err := tx.DecideDevice(ctx, d)
	if err == nil && !decided {
		err = board.Invalid("userCode: the request has already been approved or denied.").
			In("userCode", board.RuleValue)
	}
	if err != nil {
		return DeviceDecision{}, err
	}
	return DeviceDecision{d.ClientName}, tx.TouchClient(ctx, d.ClientID)
}
