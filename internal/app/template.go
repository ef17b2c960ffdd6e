package app

import (
	"context"
	"errors"

	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/store"
)

// SaveBoardAsTemplateInput is the input of SaveBoardAsTemplate.
type SaveBoardAsTemplateInput struct {
	BoardInput
	Name         *string `json:"name,omitempty" maxLength:"512" doc:"The template's name. Defaults to the board's name." example:"Product launch"`
	Description  *string `json:"description,omitempty" maxLength:"16384" doc:"The template's description, in Markdown. Defaults to the board's description." example:"Everything from the first idea to the day after."`
	IncludeCards bool    `json:"includeCards,omitempty" doc:"Whether to include the cards that are not archived. Defaults to false." example:"true"`

	content *store.EncodedTemplate // nil unless readTemplate has read it before the transaction
}

// SaveBoardAsTemplate saves a board's features, labels, open lists and, on
// request, open cards with their checklists as a template. The caller must be
// allowed to create boards in the workspace. A template has no people, dates or
// done states. SaveBoardAsTemplate returns an error for a confidential board, because
// the whole workspace can see a template.
func SaveBoardAsTemplate(ctx context.Context, tx *store.Tx, in SaveBoardAsTemplateInput) (board.BoardTemplate, error) {
	b, err := tx.Board(ctx, in.BoardID, board.Edit)
	if err != nil {
		return board.BoardTemplate{}, err
	}
	if err := mayBecomeTemplate(ctx, tx.View, b); err != nil {
		return board.BoardTemplate{}, err
	}
	if in.Name != nil {
		if b.Name, err = title("name", *in.Name); err != nil {
			return board.BoardTemplate{}, err
		}
	}
	if in.Description != nil {
		b.Description = *in.Description
	}
	if in.content == nil {
		if in.content, err = in.encode(ctx, tx.View, b); err != nil {
			return board.BoardTemplate{}, err
		}
	}
	t := in.content.Outline
	t.ID, t.WorkspaceID, t.Name, t.Description = tx.NewID("tpl_"), &b.WorkspaceID, b.Name, b.Description
	return t, tx.InsertTemplate(ctx, b.ID, &t, in.content)
}

// mayBecomeTemplate returns an error if the caller may not save a board as a template.
func mayBecomeTemplate(ctx context.Context, v *store.View, b board.Board) error {
	if _, err := v.Workspace(ctx, b.WorkspaceID, board.CreateBoards); err != nil {
		return err
	}
	if b.Visibility == board.Confidential {
		return board.Forbidden("A confidential board cannot be saved as a template, because " +
			"the whole workspace could see it. Copy the board instead.")
	}
	if b.Visibility == board.Private {
		return v.Caller().Needs(board.ScopeAdmin, "boardId: showing a private board to its workspace as a template")
	}
	return nil
}

// readTemplate reads the cards of a template before the transaction, because reading
// thousands of them within it would block other writers.
func readTemplate(ctx context.Context, db *store.DB, caller board.Caller, in *SaveBoardAsTemplateInput) error {
	if !in.IncludeCards {
		return nil
	}
	return db.Read(ctx, caller, func(v *store.View) error {
		b, err := v.Board(ctx, in.BoardID, board.Edit)
		if err != nil {
			return err
		}
		if err := mayBecomeTemplate(ctx, v, b); err != nil {
			return err
		}
		in.content, err = in.encode(ctx, v, b)
		return err
	})
}

// encode reads the content of a template from a board that the view has loaded.
func (in SaveBoardAsTemplateInput) encode(ctx context.Context, v *store.View, b board.Board) (*store.EncodedTemplate, error) {
	labels, columns, err := labelsAndLists(ctx, v, b.ID)
	if err != nil {
		return nil, err
	}
	lists := make([]listWithCards, len(columns))
	for i, l := range columns {
		lists[i].List = l
		if !in.IncludeCards {
			continue
		}
		if lists[i].cards, err = v.OpenCardsOf(ctx, l.ID); err != nil {
			return nil, err
		}
	}
	return store.EncodeTemplate(templateContent(b.Features, labels, lists))
}

// listWithCards is a list with the cards that a template keeps.
type listWithCards struct {
	board.List
	cards []store.WholeCard
}

// templateContent returns the contents of a template, without people, dates and done
// states. The public page is disabled.
func templateContent(f board.Features, labels []board.Label, lists []listWithCards) board.TemplateContent {
	f.PublicPage = false
	c := board.TemplateContent{Version: board.TemplateVersion, Features: f, Labels: make([]board.TemplateLabel, len(labels)),
		Lists: make([]board.TemplateListContent, len(lists))}
	at := map[string]int{}
	for i, l := range labels {
		c.Labels[i], at[l.ID] = board.TemplateLabel{Name: l.Name, Color: l.Color}, i
	}
	for i, l := range lists {
		list := board.TemplateListContent{Name: l.Name, WIPLimit: l.WIPLimit, WIPMode: l.WIPMode,
			Cards: make([]board.TemplateCard, len(l.cards))}
		for n, card := range l.cards {
			kept := board.TemplateCard{Title: card.Title, Description: *card.Description, Labels: []int{}, Checklists: []board.TemplateChecklist{}}
			for _, label := range card.Labels {
				kept.Labels = append(kept.Labels, at[label.ID])
			}
			for _, k := range card.Checklists {
				items := make([]string, len(k.Items))
				for m, it := range k.Items {
					items[m] = it.Title
				}
				kept.Checklists = append(kept.Checklists, board.TemplateChecklist{Title: k.Title, Items: items})
			}
			list.Cards[n] = kept
		}
		c.Lists[i] = list
	}
	return c
}

// ListBoardTemplatesInput is the input of ListBoardTemplates.
type ListBoardTemplatesInput struct {
	WorkspaceID string `json:"workspaceId,omitempty" maxLength:"64" doc:"The id of a workspace whose templates to include. If it is absent, only built-in templates are returned." example:"wsp_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	op.Paging
}

// ListBoardTemplates returns the built-in templates, followed by those of a
// workspace in which the caller may create boards, oldest first.
func ListBoardTemplates(ctx context.Context, v *store.View, in ListBoardTemplatesInput) (op.Page[board.BoardTemplate], error) {
	var after string
	if err := in.After(&after); err != nil {
		return op.Page[board.BoardTemplate]{}, err
	}
	all := []board.BoardTemplate{}
	for _, b := range board.BuiltInTemplates() {
		if b.ID > after {
			all = append(all, b.Template())
		}
	}
	if in.WorkspaceID != "" {
		w, err := v.Workspace(ctx, in.WorkspaceID, board.CreateBoards)
		if err != nil {
			return op.Page[board.BoardTemplate]{}, err
		}
		own, err := v.Templates(ctx, w.ID, after, in.Size()+1)
		if err != nil {
			return op.Page[board.BoardTemplate]{}, err
		}
		all = append(all, own...)
	}
	all = all[:min(len(all), in.Size()+1)]
	return op.Cut(all, in.Size(), func(t board.BoardTemplate) any { return t.ID }), nil
}

// BoardTemplateInput identifies a template.
type BoardTemplateInput struct {
	TemplateID string `json:"templateId" maxLength:"64" doc:"The id of the template." example:"tpl_01jb2m3n4p5q6r7s8t9v0w1x2y"`
}

// GetBoardTemplate returns a template with the first cards of its lists.
func GetBoardTemplate(ctx context.Context, v *store.View, in BoardTemplateInput) (board.BoardTemplatePreview, error) {
	for _, t := range board.BuiltInTemplates() {
		if t.ID == in.TemplateID {
			return t.Content.Preview(t.Template()), nil
		}
	}
	workspaceID, err := v.TemplateWorkspace(ctx, in.TemplateID)
	if err != nil {
		return board.BoardTemplatePreview{}, err
	}
	t, content, err := v.Template(ctx, workspaceID, in.TemplateID)
	return content.Preview(t), err
}

// DeleteBoardTemplate deletes a template of a workspace. The caller must be an owner
// or admin of the workspace. Boards created from the template are kept. Built-in
// templates cannot be deleted.
func DeleteBoardTemplate(ctx context.Context, tx *store.Tx, in BoardTemplateInput) (Deleted, error) {
	for _, t := range board.BuiltInTemplates() {
		if t.ID == in.TemplateID {
			return Deleted{}, board.Invalid("templateId: a built-in template cannot be deleted.").
				In("templateId", board.RuleValue)
		}
	}
	workspaceID, err := tx.TemplateWorkspace(ctx, in.TemplateID)
	if err != nil {
		return Deleted{}, err
	}
	if _, err := tx.OnWorkspace(ctx, workspaceID, board.ManageMembers); err != nil {
		return Deleted{}, err
	}
	return Deleted{in.TemplateID}, tx.DeleteTemplate(ctx, workspaceID, in.TemplateID)
}

// CreateBoardFromTemplateInput is the input of CreateBoardFromTemplate.
type CreateBoardFromTemplateInput struct {
	TemplateID  string           `json:"templateId" maxLength:"64" doc:"The id of a built-in template, or of a template of the workspace." example:"tpl_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	WorkspaceID string           `json:"workspaceId" maxLength:"64" doc:"The id of the workspace to create the board in." example:"wsp_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Name        *string          `json:"name,omitempty" maxLength:"512" doc:"The board's name. Defaults to the template's name." example:"Launch"`
	Visibility  board.Visibility `json:"visibility,omitempty" enum:"workspace,private,confidential" doc:"Who can see the board. Defaults to workspace." example:"workspace"`
}

// CreateBoardFromTemplate creates a board from a template. The caller becomes
// the board's admin. Like copying, it sends no events. If the template is large, it
// creates a job that creates the board, and returns the job.
func CreateBoardFromTemplate(ctx context.Context, tx *store.Tx, in CreateBoardFromTemplateInput) (board.BoardDetail, *board.Job, error) {
	w, err := tx.Workspace(ctx, in.WorkspaceID, board.CreateBoards)
	if err != nil {
		return board.BoardDetail{}, nil, err
	}
	b, err := in.draft(ctx, tx.NewSmallDraft(w))
	if errors.Is(err, store.ErrLargeDraft) {
		job, err := tx.InsertJob(ctx, store.NewJob{Kind: board.JobFromTemplate, Workspace: w, Name: b.Name, Input: in})
		return board.BoardDetail{}, &job, err
	}
	if err != nil {
		return board.BoardDetail{}, nil, err
	}
	out, err := boardDetail(ctx, tx.View, b)
	return out, nil, err
}

// DraftFromTemplate adds a board from a template to the draft of a job.
func DraftFromTemplate(ctx context.Context, d *store.Draft, in CreateBoardFromTemplateInput) error {
	_, err := in.draft(ctx, d)
	return err
}

func (in CreateBoardFromTemplateInput) draft(ctx context.Context, d *store.Draft) (board.Board, error) {
	b, content, err := template(ctx, d.View(), d.Workspace().ID, in.TemplateID)
	if err != nil {
		return b, err
	}
	if in.Name != nil {
		if b.Name, err = title("name", *in.Name); err != nil {
			return b, err
		}
	}
	b.Visibility = in.Visibility
	if b.Visibility == "" {
		b.Visibility = board.VisibleToWorkspace
	}
	b.Features = content.Features
	if err := draftBoard(ctx, d, &b); err != nil {
		return b, err
	}
	labels := make([]board.Label, len(content.Labels))
	for i, l := range content.Labels {
		labels[i] = board.Label{Name: l.Name, Color: l.Color}
	}
	if err := draftLabels(ctx, d, b.ID, labels); err != nil {
		return b, err
	}
	var order draftOrder
	for _, column := range content.Lists {
		l := board.List{Name: column.Name, WIPLimit: column.WIPLimit, WIPMode: column.WIPMode}
		if err := order.list(ctx, d, b.ID, &l); err != nil {
			return b, err
		}
		cards := make([]store.WholeCard, len(column.Cards))
		for i, c := range column.Cards {
			cards[i] = fromTemplate(c, labels)
		}
		if err := order.cards(ctx, d, b.ID, l.ID, cards, false); err != nil {
			return b, err
		}
	}
	return b, endBoard(ctx, d, &b)
}

// template returns the name, description and contents of a board to create from
// a template.
func template(ctx context.Context, v *store.View, workspaceID, id string) (b board.Board, c board.TemplateContent, err error) {
	for _, t := range board.BuiltInTemplates() {
		if t.ID == id {
			return board.Board{Name: t.Name, Description: t.Description}, t.Content, nil
		}
	}
	b.Name, b.Description, c, err = v.TemplateContent(ctx, workspaceID, id)
	return b, c, err
}

// fromTemplate returns a new card from a template's card. labels are the board's labels,
// in the order of the template's labels.
func fromTemplate(c board.TemplateCard, labels []board.Label) (w store.WholeCard) {
	w.Title, w.Description, w.Assignees, w.Labels = c.Title, &c.Description, []board.UserRef{}, make([]board.LabelRef, len(c.Labels))
	for i, n := range c.Labels {
		l := labels[n]
		w.Labels[i] = board.LabelRef{ID: l.ID, Name: l.Name, Color: l.Color}
	}
	for _, k := range c.Checklists {
		list := board.Checklist{Title: k.Title}
		for _, item := range k.Items {
			list.Items = append(list.Items, board.ChecklistItem{Title: item})
		}
		w.Checklists = append(w.Checklists, list)
	}
	return w
}
