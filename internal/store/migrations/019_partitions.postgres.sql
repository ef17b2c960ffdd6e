-- +goose Up
SET LOCAL lock_timeout = '10s';

-- Tables that grow without limit and are read by id are partitioned by the time in the
-- id. An id begins with a prefix and the time in milliseconds, in base 32.
-- store/partition.go creates partitions in advance and drops expired ones. The default
-- partition receives rows that belong to no other partition.
ALTER TABLE deliveries RENAME TO deliveries_first;
ALTER INDEX deliveries_pkey RENAME TO deliveries_first_pkey;
ALTER INDEX deliveries_webhook RENAME TO deliveries_first_webhook;
ALTER INDEX deliveries_open RENAME TO deliveries_first_open;
CREATE TABLE deliveries (LIKE deliveries_first INCLUDING DEFAULTS, PRIMARY KEY (id)) PARTITION BY RANGE (id);
CREATE INDEX deliveries_webhook ON deliveries (webhook_id, id);
CREATE INDEX deliveries_open ON deliveries (webhook_id, retry, due_at) WHERE due_at IS NOT NULL;
CREATE TABLE deliveries_rest PARTITION OF deliveries DEFAULT;

ALTER TABLE audit RENAME TO audit_first;
ALTER INDEX audit_pkey RENAME TO audit_first_pkey;
ALTER INDEX audit_workspace RENAME TO audit_first_workspace;
CREATE TABLE audit (LIKE audit_first INCLUDING DEFAULTS, PRIMARY KEY (id)) PARTITION BY RANGE (id);
CREATE INDEX audit_workspace ON audit (workspace_id, id);
CREATE TABLE audit_rest PARTITION OF audit DEFAULT;

-- The existing tables become the first partitions, up to the next Monday on which a
-- partition begins. Only rows with a later id, from a clock that is ahead, are copied.
-- +goose StatementBegin
DO $$
DECLARE
    part  RECORD;
    until BIGINT;
    bound TEXT;
BEGIN
    FOR part IN SELECT * FROM (VALUES ('deliveries', 'itg_', 604800000::BIGINT), ('audit', 'aud_', 7862400000)) AS p (name, prefix, width) LOOP
        until := ((extract(epoch FROM now()) * 1000)::BIGINT - 345600000) / part.width * part.width + 345600000 + part.width;
        SELECT part.prefix || string_agg(substr('0123456789abcdefghjkmnpqrstvwxyz', ((((until << 2) >> (45 - 5 * i)) & 31) + 1)::INTEGER, 1), '' ORDER BY i)
            INTO bound FROM generate_series(0, 9) AS i;
        EXECUTE format('INSERT INTO %I SELECT * FROM %I WHERE id >= %L', part.name || '_rest', part.name || '_first', bound);
        EXECUTE format('DELETE FROM %I WHERE id >= %L', part.name || '_first', bound);
        EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (MINVALUE) TO (%L)', part.name, part.name || '_first', bound);
    END LOOP;
END
$$;
-- +goose StatementEnd
