-- +goose Up
-- Reports on a board's progress. They are never changed. figures contains the board's
-- figures at the time of the report, as JSON.
CREATE TABLE status_updates (
    id          TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    board_id    TEXT COLLATE "C" NOT NULL REFERENCES boards (id) ON DELETE CASCADE,
    status      TEXT COLLATE "C" NOT NULL,
    title       TEXT COLLATE "C" NOT NULL,
    text        TEXT COLLATE "C" NOT NULL,
    start_date  TEXT COLLATE "C",
    target_date TEXT COLLATE "C",
    author_id   TEXT COLLATE "C" REFERENCES users (id),
    created_at  BIGINT NOT NULL,
    figures     TEXT COLLATE "C" NOT NULL
);
CREATE INDEX status_updates_board ON status_updates (board_id, created_at, id);

-- A covering index for dashboards, so that they read no cards.
CREATE INDEX cards_report ON cards (list_id, done_at, due_date, due_at, created_at, updated_at, archived_at, id);

-- The open cards of a board, by last and first day.
CREATE INDEX cards_span ON cards (board_id, COALESCE(due_date, start_date), COALESCE(start_date, due_date), done_at, list_id) WHERE archived_at IS NULL;

-- When cards moved to another list.
CREATE INDEX activity_moved ON activity (card_id, at) WHERE type = 'card.moved';

-- The latest activity of a board.
CREATE INDEX activity_recent ON activity (board_id, at, version);
