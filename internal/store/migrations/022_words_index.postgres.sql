-- +goose NO TRANSACTION
-- +goose Up
SET lock_timeout = 0;

-- The index of words by workspace: each word has the end of its workspace's id
-- in front, as one term. So a word is looked up among the texts of the
-- workspaces that somebody is in, however many others there are. Two workspaces
-- whose ids end alike share their terms, which only finds candidates.
--
-- texts_words stays for servers of the version before; nothing else uses it.
DROP INDEX CONCURRENTLY IF EXISTS texts_by_workspace;
CREATE INDEX CONCURRENTLY texts_by_workspace ON texts USING gin (array_to_tsvector(string_to_array(btrim(replace(rtrim(words), ' ', ' ' || right(workspace_id, 8))), ' '))) WITH (fastupdate = off);

RESET lock_timeout;
