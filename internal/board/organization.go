package board

// Organization owns workspaces and has a plan.
type Organization struct {
	ID        string  `json:"id" doc:"The organization's id." example:"org_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Name      string  `json:"name" doc:"The organization's name." example:"Analytical Engines"`
	Plan      Plan    `json:"plan" enum:"free,team,business" doc:"The organization's plan." example:"team"`
	ReadOnly  bool    `json:"readOnly" doc:"Whether the organization's workspaces are read-only. Writes are then rejected with plan_read_only." example:"false"`
	CreatedAt Instant `json:"createdAt" format:"date-time" doc:"When the organization was created." example:"2026-01-05T09:00:00.000Z"`
}

// OrganizationWorkspace is a workspace in the list of an organization's workspaces.
type OrganizationWorkspace struct {
	ID      string         `json:"id" doc:"The workspace's id." example:"wsp_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Name    string         `json:"name" doc:"The workspace's name." example:"Analytical Engines"`
	Role    *WorkspaceRole `json:"role" enum:"owner,admin,member,guest" doc:"The caller's role in the workspace; null if the caller has none." example:"owner"`
	Members int            `json:"members" doc:"The number of people in the workspace, including guests." example:"12"`
}

// OrganizationMember is a person in any workspace of an organization.
type OrganizationMember struct {
	ID         string       `json:"id" doc:"The person's user id." example:"usr_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Name       string       `json:"name" doc:"The person's display name." example:"Ada Lovelace"`
	Email      *string      `json:"email" doc:"The person's email address; null unless the caller is an owner or admin of a workspace that the person belongs to." example:"ada@example.com"`
	Workspaces []Membership `json:"workspaces" doc:"The organization's workspaces that the person belongs to."`
}

// Membership is a person's role in a workspace.
type Membership struct {
	ID   string        `json:"id" doc:"The workspace's id." example:"wsp_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Name string        `json:"name" doc:"The workspace's name." example:"Analytical Engines"`
	Role WorkspaceRole `json:"role" enum:"owner,admin,member,guest" doc:"The person's role in the workspace." example:"member"`
}

// OperatedOrganization is an organization as the server's operators see it.
type OperatedOrganization struct {
	Organization
	Owners     []OrganizationOwner `json:"owners" doc:"The first ten owners of the organization's workspaces."`
	Workspaces int                 `json:"workspaces" doc:"The number of workspaces in the organization, excluding those in the trash." example:"2"`
	Members    int                 `json:"members" doc:"The number of people in the organization's workspaces, each counted once." example:"12"`
	Webhooks   int                 `json:"webhooks" doc:"The number of webhooks in the organization's workspaces." example:"3"`
	Deliveries int                 `json:"deliveries" doc:"The number of deliveries of these webhooks today (UTC)." example:"120"`
}

// OrganizationOwner is an owner whom the operators can contact about an organization.
type OrganizationOwner struct {
	ID    string `json:"id" doc:"The person's user id." example:"usr_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Name  string `json:"name" doc:"The person's display name." example:"Ada Lovelace"`
	Email string `json:"email" doc:"The person's email address." example:"ada@example.com"`
}

// OwnersShown is the maximum number of owners of an organization shown to an
// operator.
const OwnersShown = 10
