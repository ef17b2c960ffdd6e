package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/go-json-experiment/json"

	"cardwall/internal/board"
)

// Templates returns a page of the templates of a workspace without their content, ordered
// by id, starting after the given id. The workspace must already be loaded.
func (v *View) Templates(ctx context.Context, workspaceID, after string, limit int) ([]board.BoardTemplate, error) {
	return v.templates(ctx, "workspace_id = $1 AND id > $2 ORDER BY id LIMIT $3", workspaceID, after, limit)
}

func (v *View) templates(ctx context.Context, where string, args ...any) ([]board.BoardTemplate, error) {
	out := []board.BoardTemplate{}
	err := v.each(ctx, "SELECT id, workspace_id, name, description, created_at, outline FROM board_templates WHERE "+where,
		args, func(rows *sql.Rows) error {
			var (
				id, workspace, name, description string
				created                          board.Instant
				outline                          []byte
				t                                board.BoardTemplate
			)
			if err := rows.Scan(&id, &workspace, &name, &description, &created, &outline); err != nil {
				return err
			}
			if err := json.Unmarshal(outline, &t); err != nil {
				return fmt.Errorf("decode outline of template %s: %w", id, err)
			}
			t.ID, t.WorkspaceID, t.Name, t.Description, t.CreatedAt = id, &workspace, name, description, &created
			out = append(out, t)
			return nil
		})
	return out, err
}

// TemplateContent returns the name, description and content of a template. The workspace
// must already be loaded. TemplateContent returns a not_found error if the template is
// not in that workspace.
func (v *View) TemplateContent(ctx context.Context, workspaceID, id string) (name, description string, c board.TemplateContent, err error) {
	var content []byte
	found, err := v.one(ctx, "SELECT name, description, content FROM board_templates WHERE id = $1 AND workspace_id = $2",
		[]any{id, workspaceID}, &name, &description, &content)
	switch {
	case err != nil:
		return "", "", c, err
	case !found:
		return "", "", c, board.NotFound()
	}
	if err := json.Unmarshal(content, &c); err != nil {
		return "", "", c, fmt.Errorf("decode content of template %s: %w", id, err)
	}
	if c.Version > board.TemplateVersion {
		return "", "", c, fmt.Errorf("decode content of template %s: version %d is newer than this program", id, c.Version)
	}
	return name, description, c, nil
}

const templateWorkspace = "SELECT t.workspace_id, m.role FROM board_templates t JOIN workspace_members m ON m.workspace_id = " +
	"t.workspace_id AND m.user_id = $2 WHERE t.id = $1"

// TemplateWorkspace returns the id of a template's workspace. It returns a not_found
// error if the caller cannot see the templates of that workspace.
func (v *View) TemplateWorkspace(ctx context.Context, id string) (workspaceID string, err error) {
	var role board.WorkspaceRole
	found, err := v.one(ctx, templateWorkspace, []any{id, v.caller.UserID}, &workspaceID, &role)
	if err == nil && (!found || !role.Can(board.CreateBoards) || v.caller.WorkspaceID != "" && v.caller.WorkspaceID != workspaceID) {
		err = board.NotFound()
	}
	return workspaceID, err
}

// Template returns a template and its content. The workspace must already be loaded.
// Template returns a not_found error if the template is not in that workspace.
func (v *View) Template(ctx context.Context, workspaceID, id string) (board.BoardTemplate, board.TemplateContent, error) {
	all, err := v.templates(ctx, "workspace_id = $1 AND id = $2", workspaceID, id)
	if err == nil && len(all) == 0 {
		err = board.NotFound()
	}
	if err != nil {
		return board.BoardTemplate{}, board.TemplateContent{}, err
	}
	_, _, content, err := v.TemplateContent(ctx, workspaceID, id)
	return all[0], content, err
}

// DeleteTemplate deletes a template. The workspace must already be loaded for a change.
// DeleteTemplate returns a not_found error if the template is not in that workspace.
func (tx *Tx) DeleteTemplate(ctx context.Context, workspaceID, id string) error {
	n, err := tx.affected(ctx, "DELETE FROM board_templates WHERE id = $1 AND workspace_id = $2", id, workspaceID)
	if err == nil && n == 0 {
		err = board.NotFound()
	}
	return err
}

// EncodedTemplate is the encoded content of a new template.
type EncodedTemplate struct {
	Outline          board.BoardTemplate
	content, outline string // JSON
}

// EncodeTemplate encodes the content of a new template and its outline.
func EncodeTemplate(c board.TemplateContent) (*EncodedTemplate, error) {
	e := EncodedTemplate{Outline: c.Outline()}
	content, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("encode template: %w", err)
	}
	outline, err := json.Marshal(e.Outline)
	if err != nil {
		return nil, fmt.Errorf("encode template: %w", err)
	}
	e.content, e.outline = string(content), string(outline)
	return &e, nil
}

// InsertTemplate stores a new template that was made from a board. The board must already
// be loaded.
func (tx *Tx) InsertTemplate(ctx context.Context, boardID string, t *board.BoardTemplate, c *EncodedTemplate) error {
	now := tx.now
	tx.newTemplates = map[string]int64{tx.On(boardID).OrganizationID: int64(len(c.content))}
	t.CreatedAt = &now
	if err := tx.exec(ctx, "INSERT INTO board_templates (id, workspace_id, name, description, created_at, outline, content) "+
		"VALUES ($1, $2, $3, $4, $5, $6, $7)",
		t.ID, *t.WorkspaceID, t.Name, t.Description, int64(now), c.outline, c.content); err != nil {
		return fmt.Errorf("insert template: %w", err)
	}
	return nil
}
