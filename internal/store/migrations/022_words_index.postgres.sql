-- +goose NO TRANSACTION
-- +goose Up
SET lock_timeout = 0;

-- The search index by workspace: each term is the end of a workspace's id followed by a
-- word. So a search reads only the texts of the caller's workspaces, however many
-- others there are. Workspaces whose ids end in the same characters share terms; this
-- is safe, because the index only finds candidates.
--
-- texts_words is kept for servers of the previous version. Nothing else uses it.
DROP INDEX CONCURRENTLY IF EXISTS texts_by_workspace;
CREATE INDEX CONCURRENTLY texts_by_workspace ON texts USING gin (array_to_tsvector(string_to_array(btrim(replace(rtrim(words), ' ', ' ' || right(workspace_id, 8))), ' '))) WITH (fastupdate = off);

RESET lock_timeout;
