-- +goose Up
-- Add the people who were assigned before migration 021 created the triggers.
INSERT INTO former_members (workspace_id, user_id)
SELECT DISTINCT b.workspace_id, u.id FROM users u JOIN card_assignees k ON k.user_id = u.id JOIN cards c ON c.id = k.card_id JOIN boards b ON b.id = c.board_id
WHERE u.email IS NULL AND NOT EXISTS (SELECT 1 FROM former_members f WHERE f.workspace_id = b.workspace_id AND f.user_id = u.id);
