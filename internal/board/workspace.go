package board

// Workspace contains boards and the people who work on them.
type Workspace struct {
	ID             string        `json:"id" doc:"The workspace's id." example:"wsp_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	OrganizationID string        `json:"organizationId" doc:"The organization that owns it." example:"org_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Name           string        `json:"name" doc:"Its name." example:"Analytical Engines"`
	Plan           Plan          `json:"plan" enum:"free,team,business" doc:"The plan of its organization." example:"team"`
	ReadOnly       bool          `json:"readOnly" doc:"Whether the organization is read-only. Writes are then refused with plan_read_only." example:"false"`
	Role           WorkspaceRole `json:"role" enum:"owner,admin,member,guest" doc:"The caller's role." example:"owner"`
	CreatedAt      Instant       `json:"createdAt" format:"date-time" doc:"When it was created." example:"2026-01-05T09:00:00.000Z"`
}

// TrashedWorkspace is a workspace in the trash, in the view of its owners.
type TrashedWorkspace struct {
	ID        string  `json:"id" doc:"The workspace's id." example:"wsp_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Name      string  `json:"name" doc:"Its name." example:"Analytical Engines"`
	TrashedAt Instant `json:"trashedAt" format:"date-time" doc:"When it was moved to the trash." example:"2026-03-01T12:00:00.000Z"`
	PurgedAt  Instant `json:"purgedAt" format:"date-time" doc:"When it will be deleted permanently." example:"2026-03-31T12:00:00.000Z"`
}

// Member is a person in a workspace.
type Member struct {
	ID       string        `json:"id" doc:"The user's id." example:"usr_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Name     string        `json:"name" doc:"The display name." example:"Ada Lovelace"`
	Email    *string       `json:"email" doc:"The person's email address; null unless the caller is an owner or admin of the workspace." example:"ada@example.com"`
	Role     WorkspaceRole `json:"role" enum:"owner,admin,member,guest" doc:"The person's role." example:"member"`
	JoinedAt Instant       `json:"joinedAt" format:"date-time" doc:"The start of the period." example:"2026-01-05T09:00:00.000Z"`
}
