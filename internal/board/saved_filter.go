package board

// MaxSavedFilters is the maximum number of filters of one person in a
// workspace.
const MaxSavedFilters = 200

// SavedFilter is a stored query without results. People who run it get only cards that
// they can see.
type SavedFilter struct {
	ID          string  `json:"id" doc:"The filter's id." example:"flt_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	WorkspaceID string  `json:"workspaceId" doc:"The id of the workspace whose boards the filter searches." example:"wsp_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Name        string  `json:"name" doc:"The filter's name." example:"My bugs this week"`
	Query       string  `json:"query" doc:"The query, in the search grammar. me is the person who runs the query, and today is the day on which it runs." example:"is:open label:bug member:me due:week"`
	Shared      bool    `json:"shared" doc:"Whether the filter is shared with the members of the workspace. Otherwise, only its owner can see it." example:"false"`
	Owner       UserRef `json:"owner" doc:"The person who owns the filter."`
	Broken      bool    `json:"broken" doc:"Whether the query refers to something that does not exist or that the caller cannot see." example:"false"`
	Problem     *string `json:"problem" doc:"Why the filter is broken; null if it is not." example:"The query refers to a label that does not exist or that you cannot see."`
	CreatedAt   Instant `json:"createdAt" format:"date-time" doc:"When the filter was created." example:"2026-03-01T09:00:00.000Z"`
	UpdatedAt   Instant `json:"updatedAt" format:"date-time" doc:"When the filter last changed." example:"2026-03-02T09:00:00.000Z"`
}
