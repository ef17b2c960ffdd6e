-- +goose NO TRANSACTION
-- +goose Up
SET lock_timeout = 0;

-- The search index, see migration 047. New entries are first appended to a list, because
-- inserting them into the index took almost half the time of a write. Servers merge the
-- list into the index every second.
--
-- texts_words and texts_by_workspace are kept for servers of previous versions. Nothing
-- else uses them.
DROP INDEX CONCURRENTLY IF EXISTS texts_by_terms;
CREATE INDEX CONCURRENTLY texts_by_terms ON texts USING gin (texts_terms(words, workspace_id)) WITH (fastupdate = on);

RESET lock_timeout;
