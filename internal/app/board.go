package app

import (
	"context"
	"fmt"

	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/store"
)

// BoardInput identifies a board.
type BoardInput struct {
	BoardID string `json:"boardId" maxLength:"64" doc:"The id of the board." example:"brd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
}

// basis returns the board. It returns an error if the caller cannot see the board.
func (in BoardInput) basis(ctx context.Context, v *store.View) (op.Basis, error) {
	return op.Basis{BoardID: in.BoardID}, v.CheckBoard(ctx, in.BoardID, board.View)
}

// basis is the function for op.Cached of a query whose responses depend on nothing but its input and the board.
func basis[I interface {
	basis(ctx context.Context, v *store.View) (op.Basis, error)
}](ctx context.Context, v *store.View, in I) (op.Basis, error) {
	return in.basis(ctx, v)
}

// ListBoardsInput is the input of ListBoards.
type ListBoardsInput struct {
	WorkspaceID     string `json:"workspaceId,omitempty" maxLength:"64" doc:"Only boards of the workspace with this id." example:"wsp_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	IncludeArchived bool   `json:"includeArchived,omitempty" doc:"Whether to include archived boards. Defaults to false." example:"false"`
	op.Paging
}

// ListBoards returns the boards that the caller can see, oldest first. Archived boards
// are included only on request.
func ListBoards(ctx context.Context, v *store.View, in ListBoardsInput) (op.Page[board.Board], error) {
	var after string
	if err := in.After(&after); err != nil {
		return op.Page[board.Board]{}, err
	}
	if in.WorkspaceID != "" {
		if _, err := v.Workspace(ctx, in.WorkspaceID, board.ViewWorkspace); err != nil {
			return op.Page[board.Board]{}, err
		}
	}
	all, err := v.Boards(ctx, in.WorkspaceID, in.IncludeArchived, after, in.Size()+1)
	return op.Cut(all, in.Size(), func(b board.Board) any { return b.ID }), err
}

// GetBoard returns a board with its open lists, labels and limits.
func GetBoard(ctx context.Context, v *store.View, in BoardInput) (board.BoardDetail, error) {
	b, err := v.Board(ctx, in.BoardID, board.View)
	if err != nil {
		return board.BoardDetail{}, err
	}
	return boardDetail(ctx, v, b)
}

// boardDetail returns a board with its open lists, labels and limits.
func boardDetail(ctx context.Context, v *store.View, b board.Board) (d board.BoardDetail, err error) {
	limits := v.Limits()
	d.Board = b
	if d.Lists, err = v.Lists(ctx, b.ID, false, "", limits.OpenLists); err != nil {
		return d, err
	}
	if d.Labels, err = v.Labels(ctx, b.ID, "", "", limits.Labels); err != nil {
		return d, err
	}
	members, err := v.CountBoardMembers(ctx, b.ID)
	if err != nil {
		return d, err
	}
	webhooks, err := v.CountBoardWebhooks(ctx, b.ID)
	a := v.On(b.ID)
	d.Limits = board.BoardLimits{
		OpenCards: board.UsageOf(a.OpenCards, limits.OpenCards), AllCards: board.UsageOf(a.AllCards, limits.AllCards),
		OpenLists: board.UsageOf(a.OpenLists, limits.OpenLists), Labels: board.UsageOf(len(d.Labels), limits.Labels),
		Members: board.UsageOf(members, limits.BoardMembers), Webhooks: board.UsageOf(webhooks, limits.BoardWebhooks),
		ChecklistsPerCard: limits.Checklists, ItemsPerChecklist: limits.Items, AssigneesPerCard: limits.Assignees,
		TitleLength: limits.Title, TextLength: limits.Text,
	}
	return d, err
}

// CreateBoardInput holds the fields of a new board.
type CreateBoardInput struct {
	WorkspaceID string           `json:"workspaceId" maxLength:"64" doc:"The id of the workspace to create the board in." example:"wsp_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Name        string           `json:"name" maxLength:"512" doc:"The board's name." example:"Launch"`
	Description string           `json:"description,omitempty" maxLength:"16384" doc:"The board's description, in Markdown." example:"Everything until the launch."`
	Visibility  board.Visibility `json:"visibility,omitempty" enum:"workspace,private,confidential" doc:"Who can see the board. Defaults to workspace." example:"workspace"`
	Color       *board.Color     `json:"color,omitempty" enum:"gray,red,orange,yellow,lime,green,teal,sky,blue,purple,pink,brown" doc:"The board's color. If it is absent, the board has none." example:"teal"`
	Lists       []NewList        `json:"lists,omitempty" maxItems:"100" doc:"Lists to create on the board, in order." example:"[{\"name\":\"To do\"},{\"name\":\"Doing\",\"wipLimit\":5}]"`
	Labels      []NewLabel       `json:"labels,omitempty" maxItems:"100" doc:"Labels to create on the board." example:"[{\"name\":\"Bug\",\"color\":\"red\"}]"`
}

// CreateBoard creates a board, optionally with lists and labels. The caller becomes its admin.
func CreateBoard(ctx context.Context, tx *store.Tx, in CreateBoardInput) (board.BoardDetail, error) {
	w, err := tx.Workspace(ctx, in.WorkspaceID, board.CreateBoards)
	if err != nil {
		return board.BoardDetail{}, err
	}
	name, err := title("name", in.Name)
	if err != nil {
		return board.BoardDetail{}, err
	}
	if in.Visibility == "" {
		in.Visibility = board.VisibleToWorkspace
	}
	b := board.Board{
		ID: tx.NewID("brd_"), WorkspaceID: w.ID, Name: name, Description: in.Description, Visibility: in.Visibility, Color: in.Color,
		Features: board.NewBoardFeatures(), CreatedBy: tx.Caller().Person(),
	}
	if err := tx.InsertBoard(ctx, &b, w); err != nil {
		return board.BoardDetail{}, err
	}
	tx.Emit(b.ID, boardCreated(b))
	for i, l := range in.Lists {
		if _, err := CreateList(ctx, tx, CreateListInput{BoardInput: BoardInput{b.ID}, NewList: l}); err != nil {
			return board.BoardDetail{}, within(err, fmt.Sprintf("lists[%d]", i))
		}
	}
	for i, l := range in.Labels {
		if _, err := CreateLabel(ctx, tx, CreateLabelInput{BoardInput: BoardInput{b.ID}, NewLabel: l}); err != nil {
			return board.BoardDetail{}, within(err, fmt.Sprintf("labels[%d]", i))
		}
	}
	b.Version = tx.BoardVersion()
	return boardDetail(ctx, tx.View, b)
}

func boardCreated(b board.Board) board.Event {
	changes := board.Changes{
		"name": {To: b.Name}, "description": {To: b.Description}, "visibility": {To: b.Visibility}, "features": {To: b.Features},
	}
	board.SetPtr(changes, "color", nil, b.Color)
	board.SetPtr(changes, "background", nil, b.Background)
	return board.BoardEvent(board.KindBoardCreated, changes)
}

// UpdateBoardInput holds the fields to change. Absent fields stay unchanged.
type UpdateBoardInput struct {
	BoardInput
	Name        *string                  `json:"name,omitempty" maxLength:"512" doc:"The new name." example:"Launch 2"`
	Description *string                  `json:"description,omitempty" maxLength:"16384" doc:"The new description, in Markdown." example:"Moved to May."`
	Color       op.Optional[board.Color] `json:"color,omitzero" enum:"gray,red,orange,yellow,lime,green,teal,sky,blue,purple,pink,brown" doc:"The new color; null removes the color." example:"teal"`
	Background  op.Optional[string]      `json:"background,omitzero" maxLength:"64" doc:"The version of one of the last five pictures of the board, to show it again; null removes the picture." example:"9f86d081884c7d65"`
	Visibility  *board.Visibility        `json:"visibility,omitempty" scope:"admin" enum:"workspace,private,confidential" doc:"The new visibility. Only a board admin can change it." example:"private"`
	Features    *FeaturesInput           `json:"features,omitempty" doc:"The features to enable or disable. Only a board admin can change them."`
}

// FeaturesInput enables or disables features. Absent features stay unchanged.
type FeaturesInput struct {
	StatusUpdates *bool `json:"statusUpdates,omitempty" doc:"Whether people can post status updates." example:"true"`
	WIPLimits     *bool `json:"wipLimits,omitempty" doc:"Whether lists can have WIP limits." example:"true"`
	Automation    *bool `json:"automation,omitempty" doc:"Whether automation rules run on the board." example:"true"`
	PublicPage    *bool `json:"publicPage,omitempty" scope:"admin" doc:"Whether the board has a public page for people without an account." example:"false"`
	StartDates    *bool `json:"startDates,omitempty" doc:"Whether cards can have a start date." example:"true"`
	Calendar      *bool `json:"calendar,omitempty" doc:"Whether calendars show the board." example:"true"`
}

func (in *FeaturesInput) apply(f board.Features) board.Features {
	for _, s := range []struct {
		from *bool
		to   *bool
	}{{in.StatusUpdates, &f.StatusUpdates}, {in.WIPLimits, &f.WIPLimits}, {in.Automation, &f.Automation},
		{in.PublicPage, &f.PublicPage}, {in.StartDates, &f.StartDates}, {in.Calendar, &f.Calendar}} {
		if s.from != nil {
			*s.to = *s.from
		}
	}
	return f
}

// UpdateBoard changes a board's name, description, color, background, visibility or features.
func UpdateBoard(ctx context.Context, tx *store.Tx, in UpdateBoardInput) (board.BoardDetail, error) {
	need := board.Edit
	if in.Visibility != nil || in.Features != nil {
		need = board.Administer
	}
	b, err := tx.Board(ctx, in.BoardID, need)
	if err != nil {
		return board.BoardDetail{}, err
	}
	before := b
	if in.Name != nil {
		if b.Name, err = title("name", *in.Name); err != nil {
			return board.BoardDetail{}, err
		}
	}
	if in.Description != nil {
		b.Description = *in.Description
	}
	if in.Color.Set {
		b.Color = in.Color.Value
	}
	if in.Background.Set {
		if b.Background, err = chooseBackground(ctx, tx, b, in.Background.Value); err != nil {
			return board.BoardDetail{}, err
		}
	}
	if in.Visibility != nil {
		b.Visibility = *in.Visibility
	}
	if in.Features != nil {
		b.Features = in.Features.apply(b.Features)
	}
	if b.Visibility == board.Confidential && b.Features.PublicPage {
		if in.Features != nil && in.Features.PublicPage != nil {
			return board.BoardDetail{}, confidentialPage("features.publicPage")
		}
		b.Features.PublicPage = false
	}
	changes := board.Changes{}
	board.Set(changes, "name", before.Name, b.Name)
	board.Set(changes, "description", before.Description, b.Description)
	board.SetPtr(changes, "color", before.Color, b.Color)
	board.SetPtr(changes, "background", before.Background, b.Background)
	board.Set(changes, "visibility", before.Visibility, b.Visibility)
	board.Set(changes, "features", before.Features, b.Features)
	if len(changes) == 0 {
		return boardDetail(ctx, tx.View, b)
	}
	if before.Visibility == board.VisibleToWorkspace && b.Visibility != board.VisibleToWorkspace {
		// A caller who is an admin only through the workspace would lose access.
		if err := keepAdmin(ctx, tx, b.ID); err != nil {
			return board.BoardDetail{}, err
		}
	}
	if err := tx.UpdateBoard(ctx, &b); err != nil {
		return board.BoardDetail{}, err
	}
	if b.Features.PublicPage && !before.Features.PublicPage {
		if err := publish(ctx, tx, b.ID); err != nil {
			return board.BoardDetail{}, err
		}
	}
	tx.Emit(b.ID, board.BoardEvent(board.KindBoardUpdated, changes))
	b.Version = tx.BoardVersion()
	return boardDetail(ctx, tx.View, b)
}

// keepAdmin gives the caller the admin role on the board itself, in addition to the
// role in the workspace, and emits a separate event for it. It does nothing if the
// caller already has the role or is not a person.
func keepAdmin(ctx context.Context, tx *store.Tx, boardID string) error {
	a, id := tx.On(boardID), tx.Caller().UserID
	if id == "" || a.BoardRole == board.RoleAdmin {
		return nil
	}
	before, err := tx.BoardMember(ctx, boardID, id)
	if err != nil {
		return err
	}
	a.BoardRole = board.RoleAdmin
	return makeAdmin(ctx, tx, boardID, id, before.Given)
}

// ArchiveBoard archives a board, which makes it read-only.
func ArchiveBoard(ctx context.Context, tx *store.Tx, in BoardInput) (board.Board, error) {
	b, err := tx.Board(ctx, in.BoardID, board.Edit)
	if err != nil {
		return b, err
	}
	now := tx.Now()
	b.ArchivedAt = &now
	return b, changeBoard(ctx, tx, &b, board.BoardEvent(board.KindBoardArchived, board.Changes{"archivedAt": {To: now}}))
}

// RestoreBoard restores a board from the archive or the trash. An open board
// stays unchanged.
func RestoreBoard(ctx context.Context, tx *store.Tx, in BoardInput) (board.Board, error) {
	b, err := tx.Board(ctx, in.BoardID, board.Reopen)
	if err != nil || b.ArchivedAt == nil && b.TrashedAt == nil {
		return b, err
	}
	if b.TrashedAt != nil { // everyone who could see the board can see it again, including the public
		if err := tx.Caller().Needs(board.ScopeAdmin, "boardId: restoring a board from the trash"); err != nil {
			return b, err
		}
	}
	changes := board.Changes{"archivedAt": {From: b.ArchivedAt}, "trashedAt": {From: b.TrashedAt}}
	b.ArchivedAt, b.TrashedAt = nil, nil
	if err := changeBoard(ctx, tx, &b, board.BoardEvent(board.KindBoardRestored, changes)); err != nil {
		return b, err
	}
	return b, tx.LimitRestoredWebhooks(ctx, b.ID)
}

// TrashBoard moves a board to the trash, where its admins can restore it for
// 30 days.
func TrashBoard(ctx context.Context, tx *store.Tx, in BoardInput) (Deleted, error) {
	b, err := tx.Board(ctx, in.BoardID, board.Administer)
	if err != nil {
		return Deleted{}, err
	}
	now := tx.Now()
	b.TrashedAt = &now
	return Deleted{b.ID}, changeBoard(ctx, tx, &b, board.BoardEvent(board.KindBoardTrashed, board.Changes{"trashedAt": {To: now}}))
}

func changeBoard(ctx context.Context, tx *store.Tx, b *board.Board, e board.Event) error {
	if err := tx.UpdateBoard(ctx, b); err != nil {
		return err
	}
	tx.Emit(b.ID, e)
	b.Version = tx.BoardVersion()
	return nil
}
