-- +goose Up
-- Notifications: one row per person and event. A row about a card has no board, because
-- the card can move. Whether the person may see it is checked whenever the row is read.
CREATE TABLE notifications (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    user_id    TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    kind       TEXT COLLATE "C" NOT NULL,
    event      TEXT COLLATE "C" NOT NULL,
    board_id   TEXT COLLATE "C" REFERENCES boards (id) ON DELETE CASCADE,
    card_id    TEXT COLLATE "C" REFERENCES cards (id) ON DELETE CASCADE,
    comment_id TEXT COLLATE "C" REFERENCES comments (id) ON DELETE CASCADE,
    actor_type TEXT COLLATE "C" NOT NULL,
    actor_id   TEXT COLLATE "C",
    reminder   TEXT COLLATE "C",
    once       TEXT COLLATE "C",
    created_at BIGINT NOT NULL,
    read_at    BIGINT,
    way        TEXT COLLATE "C" NOT NULL,
    mail_at    BIGINT,
    letter_id  TEXT COLLATE "C"
);
CREATE INDEX notifications_user ON notifications (user_id, id);
CREATE INDEX notifications_unread ON notifications (user_id, id) WHERE read_at IS NULL;
CREATE UNIQUE INDEX notifications_once ON notifications (user_id, once) WHERE once IS NOT NULL;
CREATE INDEX notifications_mail ON notifications (mail_at, user_id, way) WHERE mail_at IS NOT NULL;
CREATE INDEX notifications_created ON notifications (created_at);
CREATE INDEX notifications_board ON notifications (board_id) WHERE board_id IS NOT NULL;
CREATE INDEX notifications_card ON notifications (card_id) WHERE card_id IS NOT NULL;
CREATE INDEX notifications_comment ON notifications (comment_id) WHERE comment_id IS NOT NULL;
CREATE INDEX notifications_letter ON notifications (letter_id) WHERE letter_id IS NOT NULL;

-- Notification settings. The defaults apply to people without a row.
CREATE TABLE notification_settings (
    user_id     TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    ways        TEXT COLLATE "C" NOT NULL,
    mail        BIGINT NOT NULL,
    quiet_from  TEXT COLLATE "C",
    quiet_until TEXT COLLATE "C",
    digest_hour BIGINT,
    reminders   TEXT COLLATE "C" NOT NULL,
    remind_hour BIGINT NOT NULL
);

-- Who watches a card (1), and who no longer wants notifications about a card that they
-- would otherwise watch automatically (0).
CREATE TABLE card_watches (
    card_id  TEXT COLLATE "C" NOT NULL REFERENCES cards (id) ON DELETE CASCADE,
    user_id  TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    watching BIGINT NOT NULL,
    PRIMARY KEY (card_id, user_id)
);
CREATE INDEX card_watches_user ON card_watches (user_id);
ALTER TABLE board_visits ADD COLUMN watching BIGINT NOT NULL DEFAULT 0;
CREATE INDEX board_visits_watching ON board_visits (board_id, user_id) WHERE watching = 1;

-- The authors of the comments on a card, without reading the comments.
CREATE INDEX comments_author ON comments (card_id, author_id);

-- For reminders: open cards by due time or, without a time, by due date.
CREATE INDEX cards_due_at ON cards (due_at) WHERE due_at IS NOT NULL AND done_at IS NULL AND archived_at IS NULL;
CREATE INDEX cards_due_day ON cards (due_date) WHERE due_date IS NOT NULL AND due_at IS NULL AND done_at IS NULL AND archived_at IS NULL;

-- Calendar feeds of people's due dates, found by the hash of the token in the address.
-- If boards is empty, a feed contains the cards assigned to the person.
CREATE TABLE calendar_feeds (
    user_id    TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    hash       BYTEA NOT NULL,
    boards     TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX calendar_feeds_hash ON calendar_feeds (hash);
