-- +goose Up
SET LOCAL lock_timeout = '10s';

-- The terms of a text in the search index: each word, and each pair of adjacent words
-- joined by a middle dot, after the end of the workspace's id. Pairs find a phrase of
-- common words without reading all texts that contain the words.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION texts_terms(words text, workspace_id text) RETURNS tsvector LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    word     text;
    previous text;
    key      text := COALESCE(right(workspace_id, 8), '');
    terms    text[] := '{}';
BEGIN
    FOREACH word IN ARRAY string_to_array(btrim(words), ' ') LOOP
        terms := terms || (key || word);
        IF previous IS NOT NULL THEN
            terms := terms || (key || previous || '·' || word);
        END IF;
        previous := word;
    END LOOP;
    RETURN array_to_tsvector(terms);
END
$$;
-- +goose StatementEnd

-- Servers of the previous version need the former indexes until they stop. A new
-- database has no such servers.
-- +goose StatementBegin
DO $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM texts) THEN
        DROP INDEX IF EXISTS texts_words, texts_by_workspace;
    END IF;
END
$$;
-- +goose StatementEnd
