-- +goose Up
SET LOCAL lock_timeout = '10s';

-- Filters of webhooks: ids of lists and labels, separated by spaces; '' for no filter. Ids stay when
-- the list or label is deleted, so that the webhook does not start to send all events. Servers of
-- the version before ignore filters.
ALTER TABLE webhooks ADD COLUMN lists TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE webhooks ADD COLUMN labels TEXT COLLATE "C" NOT NULL DEFAULT '';
