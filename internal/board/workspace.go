package board

// Workspace contains boards and the people who work on them.
type Workspace struct {
	ID             string        `json:"id" doc:"The workspace's id." example:"wsp_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	OrganizationID string        `json:"organizationId" doc:"The id of the organization that owns the workspace." example:"org_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Name           string        `json:"name" doc:"The workspace's name." example:"Analytical Engines"`
	Plan           Plan          `json:"plan" enum:"free,team,business" doc:"The organization's plan." example:"team"`
	ReadOnly       bool          `json:"readOnly" doc:"Whether the organization is read-only. Writes are then rejected with plan_read_only." example:"false"`
	Role           WorkspaceRole `json:"role" enum:"owner,admin,member,guest" doc:"The caller's role in the workspace." example:"owner"`
	CreatedAt      Instant       `json:"createdAt" format:"date-time" doc:"When the workspace was created." example:"2026-01-05T09:00:00.000Z"`
}

// TrashedWorkspace is a workspace in the trash, as its owners see it.
type TrashedWorkspace struct {
	ID        string  `json:"id" doc:"The workspace's id." example:"wsp_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Name      string  `json:"name" doc:"The workspace's name." example:"Analytical Engines"`
	TrashedAt Instant `json:"trashedAt" format:"date-time" doc:"When the workspace was moved to the trash." example:"2026-03-01T12:00:00.000Z"`
	PurgedAt  Instant `json:"purgedAt" format:"date-time" doc:"When the workspace will be deleted permanently." example:"2026-03-31T12:00:00.000Z"`
}

// Member is a person in a workspace.
type Member struct {
	ID       string        `json:"id" doc:"The person's user id." example:"usr_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Name     string        `json:"name" doc:"The person's display name." example:"Ada Lovelace"`
	Email    *string       `json:"email" doc:"The person's email address; null unless the caller is an owner or admin of the workspace." example:"ada@example.com"`
	Role     WorkspaceRole `json:"role" enum:"owner,admin,member,guest" doc:"The person's role in the workspace." example:"member"`
	JoinedAt Instant       `json:"joinedAt" format:"date-time" doc:"When the person joined the workspace." example:"2026-01-05T09:00:00.000Z"`
	Avatar   *string       `json:"avatar" doc:"The version of the person's picture, which download_avatar returns; null if the person has none." example:"9f86d081884c7d65"`
}
