package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/go-json-experiment/json"

	"cardwall/internal/board"
)

// Templates are the templates that a workspace, which a loader has loaded,
// keeps, by id, from behind one on. Their contents are not read.
func (v *View) Templates(ctx context.Context, workspaceID, behind string, limit int) ([]board.BoardTemplate, error) {
	out := []board.BoardTemplate{}
	err := v.each(ctx, "SELECT id, workspace_id, name, description, created_at, outline FROM board_templates WHERE workspace_id = $1 AND id > $2 ORDER BY id LIMIT $3",
		[]any{workspaceID, behind, limit}, func(rows *sql.Rows) error {
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
				return fmt.Errorf("outline of template %s: %w", id, err)
			}
			t.ID, t.WorkspaceID, t.Name, t.Description, t.CreatedAt = id, &workspace, name, description, &created
			out = append(out, t)
			return nil
		})
	return out, err
}

// TemplateContent is the name, description and content of a template that a
// workspace, which a loader has loaded, keeps. Another workspace's is not found.
func (v *View) TemplateContent(ctx context.Context, workspaceID, id string) (name, description string, c board.TemplateContent, err error) {
	var content []byte
	found, err := v.one(ctx, "SELECT name, description, content FROM board_templates WHERE id = $1 AND workspace_id = $2", []any{id, workspaceID}, &name, &description, &content)
	switch {
	case err != nil:
		return "", "", c, err
	case !found:
		return "", "", c, board.NotFound()
	}
	if err := json.Unmarshal(content, &c); err != nil {
		return "", "", c, fmt.Errorf("content of template %s: %w", id, err)
	}
	if c.Version > board.TemplateVersion {
		return "", "", c, fmt.Errorf("content of template %s: version %d is newer than this program", id, c.Version)
	}
	return name, description, c, nil
}

// InsertTemplate writes a new template with its content into the workspace
// that it names.
func (tx *Tx) InsertTemplate(ctx context.Context, t *board.BoardTemplate, c board.TemplateContent) error {
	content, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("encode template: %w", err)
	}
	outline, err := json.Marshal(c.Outline())
	if err != nil {
		return fmt.Errorf("encode template: %w", err)
	}
	now := tx.now
	t.CreatedAt = &now
	if err := tx.exec(ctx, "INSERT INTO board_templates (id, workspace_id, name, description, created_at, outline, content) VALUES ($1, $2, $3, $4, $5, $6, $7)",
		t.ID, *t.WorkspaceID, t.Name, t.Description, int64(now), string(outline), string(content)); err != nil {
		return fmt.Errorf("insert template: %w", err)
	}
	return nil
}
