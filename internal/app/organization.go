package app

import (
	"context"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/store"
)

// OrganizationInput identifies an organization.
type OrganizationInput struct {
	OrganizationID string `json:"organizationId" maxLength:"64" doc:"The id of the organization." example:"org_01jb2m3n4p5q6r7s8t9v0w1x2y"`
}

// PlanNumbers holds the limits of a plan.
type PlanNumbers struct {
	Plan              board.Plan `json:"plan" enum:"free,team,business" doc:"The plan." example:"team"`
	RequestsPerMinute int        `json:"requestsPerMinute" doc:"The maximum number of REST and MCP requests per minute for one person." example:"300"`
	SearchesPerMinute int        `json:"searchesPerMinute" doc:"The maximum number of searches per minute for one person. Searches also count as requests." example:"60"`
	Webhooks          int        `json:"webhooks" doc:"The maximum number of webhooks in the organization." example:"25"`
	DeliveriesPerDay  int        `json:"deliveriesPerDay" doc:"The maximum number of webhook deliveries in the organization per day (UTC)." example:"10000"`
	StorageBytes      int64      `json:"storageBytes" doc:"The maximum storage of the organization, in bytes." example:"25000000000"`
}

// OrganizationOverview is an organization with its plan and its usage.
type OrganizationOverview struct {
	board.Organization
	Owned      bool                          `json:"owned" doc:"Whether the caller owns one of the organization's workspaces." example:"true"`
	Webhooks   board.Usage                   `json:"webhooks" doc:"The number of webhooks in the organization, and the limit. At the limit, no more can be created."`
	Deliveries board.Usage                   `json:"deliveries" doc:"The number of webhook deliveries today, and the limit. Deliveries beyond the limit are skipped."`
	Storage    board.Usage                   `json:"storage" doc:"The organization's storage in bytes, and the limit. It counts text, activity and files, and 256 bytes for each record. Boards in the trash count until they are deleted permanently. At the limit, calls that add something fail with plan_limit. Reading, moving, shortening and deleting still work."`
	RenewsAt   board.Instant                 `json:"renewsAt" format:"date-time" doc:"When the count of deliveries starts again at zero." example:"2026-03-03T00:00:00.000Z"`
	Plans      []PlanNumbers                 `json:"plans" doc:"All plans, smallest first."`
	Workspaces []board.OrganizationWorkspace `json:"workspaces" doc:"The organization's workspaces. A caller who owns none of them gets only those that the caller belongs to."`
}

// GetOrganization returns an organization's plan and its usage. The caller must be
// allowed to see the members of one of its workspaces.
func GetOrganization(ctx context.Context, v *store.View, in OrganizationInput) (OrganizationOverview, error) {
	o, owned, err := v.Organization(ctx, in.OrganizationID, board.ViewDirectory)
	if err != nil {
		return OrganizationOverview{}, err
	}
	limits := o.Plan.Limits()
	webhooks, deliveries, err := v.OrganizationUsage(ctx, o.ID)
	if err != nil {
		return OrganizationOverview{}, err
	}
	used, err := v.OrganizationStorage(ctx, o.ID)
	if err != nil {
		return OrganizationOverview{}, err
	}
	out := OrganizationOverview{
		Organization: o, Owned: owned, Webhooks: board.UsageOf(webhooks, limits.Webhooks), Deliveries: board.UsageOf(deliveries,
			limits.DeliveriesPerDay),
		Storage:  board.UsageOf(int(used), int(v.StorageQuota(o.Plan))),
		RenewsAt: board.InstantOf(v.Time().Truncate(24 * time.Hour).Add(24 * time.Hour)),
	}
	for _, p := range board.Plans() {
		l := p.Limits()
		out.Plans = append(out.Plans, PlanNumbers{p, l.RequestsPerMinute, l.SearchesPerMinute, l.Webhooks, l.DeliveriesPerDay,
			int64(v.StorageQuota(p))})
	}
	out.Workspaces, err = v.OrganizationWorkspaces(ctx, o.ID, owned)
	return out, err
}

// ListOrganizationMembersInput is the input of ListOrganizationMembers.
type ListOrganizationMembersInput struct {
	OrganizationInput
	op.Paging
}

// ListOrganizationMembers returns the people in all workspaces of an
// organization. The caller must own one of the workspaces.
func ListOrganizationMembers(ctx context.Context, v *store.View,
	in ListOrganizationMembersInput) (op.Page[board.OrganizationMember], error) {
	var after string
	if err := in.After(&after); err != nil {
		return op.Page[board.OrganizationMember]{}, err
	}
	o, _, err := v.Organization(ctx, in.OrganizationID, board.OwnWorkspace)
	if err != nil {
		return op.Page[board.OrganizationMember]{}, err
	}
	members, err := v.OrganizationMembers(ctx, o.ID, after, in.Size()+1)
	return op.Cut(members, in.Size(), func(m board.OrganizationMember) any { return m.ID }), err
}

// ListOrganizationsInput is the input of ListOrganizations.
type ListOrganizationsInput struct {
	Q        string     `json:"q,omitempty" maxLength:"512" doc:"Only organizations with this text in their name or id, or in the name or email address of an owner." example:"ada@example.com"`
	Plan     board.Plan `json:"plan,omitempty" enum:"free,team,business" doc:"Only organizations on this plan." example:"free"`
	ReadOnly string     `json:"readOnly,omitempty" enum:"true,false" doc:"Only organizations that are read-only (true) or not (false)." example:"true"`
	op.Paging
}

// ListOrganizations returns the organizations of the server to its operators,
// newest first.
func ListOrganizations(ctx context.Context, v *store.View, in ListOrganizationsInput) (op.Page[board.OperatedOrganization], error) {
	var before string
	if err := in.After(&before); err != nil {
		return op.Page[board.OperatedOrganization]{}, err
	}
	filter := store.OrganizationFilter{Text: in.Q, Plan: in.Plan}
	if in.ReadOnly != "" {
		only := in.ReadOnly == "true"
		filter.ReadOnly = &only
	}
	all, err := v.Organizations(ctx, filter, before, in.Size()+1)
	return op.Cut(all, in.Size(), func(o board.OperatedOrganization) any { return o.ID }), err
}

// UpdateOrganizationInput holds the fields to change. Absent fields stay
// unchanged.
type UpdateOrganizationInput struct {
	OrganizationInput
	Plan     *board.Plan `json:"plan,omitempty" enum:"free,team,business" doc:"The new plan. Anything over its limits is kept, but nothing more can be added." example:"business"`
	ReadOnly *bool       `json:"readOnly,omitempty" doc:"Whether the organization's workspaces are read-only." example:"true"`
}

// UpdateOrganization changes an organization's plan, or whether it is read-only.
// The caller must be an operator. The audit logs of all its workspaces record
// the change.
func UpdateOrganization(ctx context.Context, tx *store.Tx, in UpdateOrganizationInput) (board.OperatedOrganization, error) {
	o, err := tx.OnOrganization(ctx, in.OrganizationID)
	if err != nil {
		return o, err
	}
	changes := board.Changes{}
	if in.Plan != nil {
		board.Set(changes, "plan", o.Plan, *in.Plan)
		o.Plan = *in.Plan
	}
	if in.ReadOnly != nil {
		board.Set(changes, "readOnly", o.ReadOnly, *in.ReadOnly)
		o.ReadOnly = *in.ReadOnly
	}
	tx.Note("", changes)
	return o, tx.UpdateOrganization(ctx, o.ID, &o.Plan, &o.ReadOnly)
}
