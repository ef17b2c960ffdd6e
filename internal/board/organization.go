package board

// Organization owns workspaces and has the plan.
type Organization struct {
	ID        string  `json:"id" doc:"The organization's id." example:"org_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Name      string  `json:"name" doc:"Its name." example:"Analytical Engines"`
	Plan      Plan    `json:"plan" enum:"free,team,business" doc:"What it has agreed on." example:"team"`
	ReadOnly  bool    `json:"readOnly" doc:"Nothing in its workspaces can be changed: writes answer plan_read_only." example:"false"`
	CreatedAt Instant `json:"createdAt" format:"date-time" doc:"When it was made." example:"2026-01-05T09:00:00.000Z"`
}

// OrganizationWorkspace is a workspace as its organization shows it.
type OrganizationWorkspace struct {
	ID      string         `json:"id" doc:"The workspace's id." example:"wsp_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Name    string         `json:"name" doc:"Its name." example:"Analytical Engines"`
	Role    *WorkspaceRole `json:"role" enum:"owner,admin,member,guest" doc:"The caller's role in it; null for none." example:"owner"`
	Members int            `json:"members" doc:"How many people are in it, guests too." example:"12"`
}

// OrganizationMember is a person in an organization, over all its workspaces.
type OrganizationMember struct {
	ID         string       `json:"id" doc:"The user's id." example:"usr_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Name       string       `json:"name" doc:"How the person is shown." example:"Ada Lovelace"`
	Email      *string      `json:"email" doc:"The person's address; null unless the caller is an owner or admin of a workspace that the person is in." example:"ada@example.com"`
	Workspaces []Membership `json:"workspaces" doc:"The organization's workspaces that the person is in."`
}

// Membership is a person's place in a workspace.
type Membership struct {
	ID   string        `json:"id" doc:"The workspace's id." example:"wsp_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Name string        `json:"name" doc:"Its name." example:"Analytical Engines"`
	Role WorkspaceRole `json:"role" enum:"owner,admin,member,guest" doc:"The person's role in it." example:"member"`
}

// OperatedOrganization is an organization as an operator of the server sees it.
type OperatedOrganization struct {
	Organization
	Owners     []OrganizationOwner `json:"owners" doc:"Who owns its workspaces, the first ten."`
	Workspaces int                 `json:"workspaces" doc:"How many workspaces it has, without those in the trash." example:"2"`
	Members    int                 `json:"members" doc:"How many people are in them, each counted once." example:"12"`
	Webhooks   int                 `json:"webhooks" doc:"How many webhooks they have." example:"3"`
	Deliveries int                 `json:"deliveries" doc:"How many deliveries they have caused today, in UTC." example:"120"`
}

// OrganizationOwner is somebody whom an operator can write to.
type OrganizationOwner struct {
	ID    string `json:"id" doc:"The user's id." example:"usr_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Name  string `json:"name" doc:"How the person is shown." example:"Ada Lovelace"`
	Email string `json:"email" doc:"The person's address." example:"ada@example.com"`
}

// OwnersShown is how many owners of an organization an operator is shown.
const OwnersShown = 10
