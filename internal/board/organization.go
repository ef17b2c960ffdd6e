package board

// Organization owns workspaces and has a plan.
type Organization struct {
	ID        string  `json:"id" doc:"The organization's id." example:"org_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Name      string  `json:"name" doc:"Its name." example:"Analytical Engines"`
	Plan      Plan    `json:"plan" enum:"free,team,business" doc:"Its plan." example:"team"`
	ReadOnly  bool    `json:"readOnly" doc:"Whether its workspaces are read-only. Writes are then refused with plan_read_only." example:"false"`
	CreatedAt Instant `json:"createdAt" format:"date-time" doc:"When it was created." example:"2026-01-05T09:00:00.000Z"`
}

// OrganizationWorkspace is a workspace in the view of its organization.
type OrganizationWorkspace struct {
	ID      string         `json:"id" doc:"The workspace's id." example:"wsp_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Name    string         `json:"name" doc:"Its name." example:"Analytical Engines"`
	Role    *WorkspaceRole `json:"role" enum:"owner,admin,member,guest" doc:"The caller's role; null for none." example:"owner"`
	Members int            `json:"members" doc:"The number of people, including guests." example:"12"`
}

// OrganizationMember is a person in any workspace of an organization.
type OrganizationMember struct {
	ID         string       `json:"id" doc:"The user's id." example:"usr_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Name       string       `json:"name" doc:"The display name." example:"Ada Lovelace"`
	Email      *string      `json:"email" doc:"The person's email address; null unless the caller is an owner or admin of a workspace the person belongs to." example:"ada@example.com"`
	Workspaces []Membership `json:"workspaces" doc:"The organization's workspaces that the person belongs to."`
}

// Membership is a person's role in a workspace.
type Membership struct {
	ID   string        `json:"id" doc:"The workspace's id." example:"wsp_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Name string        `json:"name" doc:"Its name." example:"Analytical Engines"`
	Role WorkspaceRole `json:"role" enum:"owner,admin,member,guest" doc:"The person's role." example:"member"`
}

// OperatedOrganization is an organization in the view of the server's
// operators.
type OperatedOrganization struct {
	Organization
	Owners     []OrganizationOwner `json:"owners" doc:"The first ten owners of its workspaces."`
	Workspaces int                 `json:"workspaces" doc:"The number of its workspaces, without those in the trash." example:"2"`
	Members    int                 `json:"members" doc:"The number of people in its workspaces, each counted once." example:"12"`
	Webhooks   int                 `json:"webhooks" doc:"The number of webhooks in its workspaces." example:"3"`
	Deliveries int                 `json:"deliveries" doc:"The number of deliveries of these webhooks today, in UTC." example:"120"`
}

// OrganizationOwner is a contact person of an organization for the operators.
type OrganizationOwner struct {
	ID    string `json:"id" doc:"The user's id." example:"usr_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Name  string `json:"name" doc:"The display name." example:"Ada Lovelace"`
	Email string `json:"email" doc:"The person's email address." example:"ada@example.com"`
}

// OwnersShown is the maximum number of owners of an organization shown to an
// operator.
const OwnersShown = 10
