-- +goose Up
SET LOCAL lock_timeout = '10s';

-- Add the people who were assigned before migration 021 created the triggers.
INSERT INTO former_members (workspace_id, user_id)
SELECT DISTINCT b.workspace_id, u.id FROM users u JOIN card_assignees k ON k.user_id = u.id JOIN cards c ON c.id = k.card_id JOIN boards b ON b.id = c.board_id
WHERE u.email IS NULL
ON CONFLICT DO NOTHING;
