-- +goose Up
-- The schema of Cardwall v0.2.1, which replaces migrations 1 to 50. Later ones change it. Times are in milliseconds since
-- 1970 (UTC) unless a comment says otherwise. Text is compared by bytes, as in SQLite.
-- 051_schema.sqlite.sql creates the same tables. Functions may exist: a restore drops only
-- the tables of an unused database.

-- THE SERVER

-- Values that all servers share, such as the key that signs cursors. names_version counts
-- changes of people's names, see the trigger users_name.
CREATE TABLE settings (
    key   TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    value TEXT COLLATE "C" NOT NULL
);

-- Leases for work that only one server does at a time.
CREATE TABLE leases (
    name   TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    holder TEXT COLLATE "C" NOT NULL,
    until  BIGINT NOT NULL
);

-- Counts that several servers share for a rate limit: how much was used in the window
-- that ends at a time. at is when it was last reported.
CREATE UNLOGGED TABLE rate_counts (
    key  TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    used BIGINT NOT NULL,
    ends BIGINT NOT NULL,
    at   BIGINT NOT NULL
);

-- The response to the first request with an idempotency key, kept for 24 hours. A response
-- that contains a secret is sealed. A response that contains the text of a comment has its
-- comment_id, so that it is removed with the comment.
CREATE TABLE idempotency (
    user_id      TEXT COLLATE "C" NOT NULL,
    key          TEXT COLLATE "C" NOT NULL,
    operation    TEXT COLLATE "C" NOT NULL,
    fingerprint  BYTEA NOT NULL,
    workspace_id TEXT COLLATE "C",
    board_id     TEXT COLLATE "C",
    fault        TEXT COLLATE "C" NOT NULL,
    answer       BYTEA NOT NULL,
    created_at   BIGINT NOT NULL,
    sealed       BIGINT NOT NULL DEFAULT 0,
    comment_id   TEXT COLLATE "C",
    PRIMARY KEY (user_id, key)
);
CREATE INDEX idempotency_age ON idempotency (created_at);
-- Stored responses that contain the text of a comment.
CREATE INDEX idempotency_comment ON idempotency (comment_id) WHERE comment_id IS NOT NULL;

-- The audit log: who called which operation, and with which token.
CREATE TABLE audit (
    id           TEXT COLLATE "C" NOT NULL,
    at           BIGINT NOT NULL,
    workspace_id TEXT COLLATE "C",
    board_id     TEXT COLLATE "C",
    operation    TEXT COLLATE "C" NOT NULL,
    actor_type   TEXT COLLATE "C" NOT NULL,
    actor_id     TEXT COLLATE "C",
    token_id     TEXT COLLATE "C",
    subject      TEXT COLLATE "C",
    request_id   TEXT COLLATE "C",
    details      TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (id)
) PARTITION BY RANGE (id);
CREATE INDEX audit_workspace ON audit (workspace_id, id);
CREATE TABLE audit_rest PARTITION OF audit DEFAULT;

-- PEOPLE

-- A person without an email address was deleted or imported. The person who sets up the
-- server becomes an operator.
CREATE TABLE users (
    id            TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    email         TEXT COLLATE "C",
    name          TEXT COLLATE "C" NOT NULL,
    password_hash TEXT COLLATE "C",
    time_zone     TEXT COLLATE "C" NOT NULL,
    created_at    BIGINT NOT NULL,
    deleted_at    BIGINT,
    verified_at   BIGINT,
    theme         TEXT COLLATE "C" NOT NULL DEFAULT 'system',
    language      TEXT COLLATE "C" NOT NULL DEFAULT 'en',
    operator      BIGINT NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX users_email ON users (email);

-- Boards show people's names, but their versions don't change with them.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION users_name() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO settings (key, value) VALUES ('names_version', '1')
        ON CONFLICT (key) DO UPDATE SET value = CAST(CAST(settings.value AS BIGINT) + 1 AS TEXT);
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER users_name AFTER UPDATE OF name ON users
    FOR EACH ROW WHEN (NEW.name <> OLD.name) EXECUTE FUNCTION users_name();

-- Sign-ups whose address is not verified yet.
CREATE TABLE sign_ups (
    id            TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    email         TEXT COLLATE "C" NOT NULL,
    name          TEXT COLLATE "C" NOT NULL,
    password_hash TEXT COLLATE "C" NOT NULL,
    time_zone     TEXT COLLATE "C" NOT NULL,
    created_at    BIGINT NOT NULL
);
CREATE INDEX sign_ups_email ON sign_ups (email, created_at);
CREATE INDEX sign_ups_created ON sign_ups (created_at);

-- Hashes of the secrets in emails for sign-ups and password resets.
CREATE TABLE account_secrets (
    hash       BYTEA NOT NULL PRIMARY KEY,
    kind       TEXT COLLATE "C" NOT NULL,
    sign_up_id TEXT COLLATE "C" REFERENCES sign_ups (id) ON DELETE CASCADE,
    user_id    TEXT COLLATE "C" REFERENCES users (id) ON DELETE CASCADE,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX account_secrets_sign_up ON account_secrets (sign_up_id);
CREATE INDEX account_secrets_user ON account_secrets (user_id);
CREATE INDEX account_secrets_expires ON account_secrets (expires_at);

-- One row for each browser in which a person is signed in. The secret in the cookie is
-- stored only as a hash.
CREATE TABLE sessions (
    id           TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    user_id      TEXT COLLATE "C" NOT NULL REFERENCES users (id),
    hash         BYTEA NOT NULL,
    created_at   BIGINT NOT NULL,
    last_used_at BIGINT NOT NULL,
    recent_at    BIGINT NOT NULL,
    user_agent   TEXT COLLATE "C" NOT NULL,
    address      TEXT COLLATE "C" NOT NULL
);
CREATE UNIQUE INDEX sessions_hash ON sessions (hash);
CREATE INDEX sessions_user ON sessions (user_id, id);
CREATE INDEX sessions_used ON sessions (last_used_at);

-- The browsers that a person has signed in with. The secret of a browser's device cookie is
-- stored as a hash; several people may share a browser.
CREATE TABLE known_devices (
    id           TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    user_id      TEXT COLLATE "C" NOT NULL REFERENCES users (id),
    hash         BYTEA NOT NULL,
    network      TEXT COLLATE "C" NOT NULL,
    address      TEXT COLLATE "C" NOT NULL,
    user_agent   TEXT COLLATE "C" NOT NULL,
    announced    BIGINT NOT NULL,
    created_at   BIGINT NOT NULL,
    last_used_at BIGINT NOT NULL
);
CREATE INDEX known_devices_user ON known_devices (user_id, hash);
CREATE INDEX known_devices_hash ON known_devices (hash);
CREATE INDEX known_devices_used ON known_devices (last_used_at);

-- The public keys of people's passkeys.
CREATE TABLE passkeys (
    id            TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    user_id       TEXT COLLATE "C" NOT NULL REFERENCES users (id),
    name          TEXT COLLATE "C" NOT NULL,
    credential_id BYTEA NOT NULL,
    credential    TEXT COLLATE "C" NOT NULL,
    created_at    BIGINT NOT NULL,
    last_used_at  BIGINT
);
CREATE UNIQUE INDEX passkeys_credential ON passkeys (credential_id);
CREATE INDEX passkeys_user ON passkeys (user_id, id);

-- Challenges of passkey ceremonies in progress.
CREATE TABLE challenges (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    user_id    TEXT COLLATE "C" REFERENCES users (id) ON DELETE CASCADE,
    data       TEXT COLLATE "C" NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX challenges_user ON challenges (user_id);
CREATE INDEX challenges_expires ON challenges (expires_at);

-- People's identities at identity providers (OpenID Connect).
CREATE TABLE identities (
    issuer     TEXT COLLATE "C" NOT NULL,
    subject    TEXT COLLATE "C" NOT NULL,
    user_id    TEXT COLLATE "C" NOT NULL REFERENCES users (id),
    created_at BIGINT NOT NULL,
    PRIMARY KEY (issuer, subject)
);
CREATE INDEX identities_user ON identities (user_id);

-- ORGANIZATIONS AND WORKSPACES

CREATE TABLE organizations (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    name       TEXT COLLATE "C" NOT NULL,
    plan       TEXT COLLATE "C" NOT NULL,
    read_only  BIGINT NOT NULL DEFAULT 0,
    created_at BIGINT NOT NULL
);

CREATE TABLE workspaces (
    id              TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    organization_id TEXT COLLATE "C" NOT NULL REFERENCES organizations (id),
    name            TEXT COLLATE "C" NOT NULL,
    created_at      BIGINT NOT NULL,
    trashed_at      BIGINT
);
CREATE INDEX workspaces_organization ON workspaces (organization_id);

CREATE TABLE workspace_members (
    workspace_id TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    user_id      TEXT COLLATE "C" NOT NULL REFERENCES users (id),
    role         TEXT COLLATE "C" NOT NULL,
    created_at   BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, user_id)
);
CREATE INDEX workspace_members_user ON workspace_members (user_id);

-- A workspace in the trash has no members, so no one can access it. Its former members are
-- kept here until an owner restores it or it is purged.
CREATE TABLE trashed_members (
    workspace_id TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    user_id      TEXT COLLATE "C" NOT NULL REFERENCES users (id),
    role         TEXT COLLATE "C" NOT NULL,
    created_at   BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, user_id)
);
CREATE INDEX trashed_members_user ON trashed_members (user_id);

-- Invitations to a workspace. An address has at most one open invitation per workspace. An
-- expired invitation stays open until it is renewed or withdrawn. lettered_at is when the
-- last email was sent.
CREATE TABLE invitations (
    id           TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    workspace_id TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    email        TEXT COLLATE "C" NOT NULL,
    role         TEXT COLLATE "C" NOT NULL,
    invited_by   TEXT COLLATE "C" REFERENCES users (id),
    created_at   BIGINT NOT NULL,
    expires_at   BIGINT NOT NULL,
    lettered_at  BIGINT,
    accepted_at  BIGINT,
    accepted_by  TEXT COLLATE "C" REFERENCES users (id),
    withdrawn_at BIGINT
);
CREATE INDEX invitations_workspace ON invitations (workspace_id, id);
CREATE INDEX invitations_email ON invitations (email);
CREATE UNIQUE INDEX invitations_open ON invitations (workspace_id, email)
    WHERE accepted_at IS NULL AND withdrawn_at IS NULL;

-- Hashes of the tokens in the emails of an invitation: one for each attempt to send,
-- because any of the attempts may have arrived.
CREATE TABLE invitation_tokens (
    hash          BYTEA NOT NULL PRIMARY KEY,
    invitation_id TEXT COLLATE "C" NOT NULL REFERENCES invitations (id) ON DELETE CASCADE
);
CREATE INDEX invitation_tokens_invitation ON invitation_tokens (invitation_id);

-- One row for each invitation email, kept for a day, to limit the emails from one sender
-- and to one address.
CREATE TABLE invitation_emails (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    sent_by    TEXT COLLATE "C" NOT NULL REFERENCES users (id),
    email      TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX invitation_emails_sent_by ON invitation_emails (sent_by, created_at);
CREATE INDEX invitation_emails_email ON invitation_emails (email, created_at);
CREATE INDEX invitation_emails_created ON invitation_emails (created_at);

-- ACCESS FOR PROGRAMS

CREATE TABLE tokens (
    id           TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    user_id      TEXT COLLATE "C" NOT NULL REFERENCES users (id),
    name         TEXT COLLATE "C" NOT NULL,
    hash         BYTEA NOT NULL,
    last_four    TEXT COLLATE "C" NOT NULL,
    scopes       TEXT COLLATE "C" NOT NULL,
    workspace_id TEXT COLLATE "C" REFERENCES workspaces (id) ON DELETE CASCADE,
    created_at   BIGINT NOT NULL,
    expires_at   BIGINT,
    revoked_at   BIGINT,
    last_used_at BIGINT
);
CREATE UNIQUE INDEX tokens_hash ON tokens (hash);
CREATE INDEX tokens_user ON tokens (user_id);
CREATE INDEX tokens_workspace ON tokens (workspace_id);

-- Programs that registered themselves (RFC 7591). Programs that no one connects are removed.
CREATE TABLE oauth_clients (
    id            TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    name          TEXT COLLATE "C" NOT NULL,
    uri           TEXT COLLATE "C" NOT NULL,
    redirect_uris TEXT COLLATE "C" NOT NULL,
    grant_types   TEXT COLLATE "C" NOT NULL,
    created_at    BIGINT NOT NULL,
    used_at       BIGINT
);
CREATE INDEX oauth_clients_used ON oauth_clients (used_at, created_at);

-- Additional data of tokens that were issued to programs by OAuth. The hashes of refresh
-- tokens are NULL if none were issued.
CREATE TABLE oauth_grants (
    token_id   TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES tokens (id) ON DELETE CASCADE,
    client_id  TEXT COLLATE "C" NOT NULL,
    host       TEXT COLLATE "C" NOT NULL,
    resource   TEXT COLLATE "C" NOT NULL,
    scopes     TEXT COLLATE "C" NOT NULL,
    family     BYTEA,
    refresh    BYTEA,
    expires_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX oauth_grants_family ON oauth_grants (family);
CREATE INDEX oauth_grants_expires ON oauth_grants (expires_at);

-- Authorization codes. A used code is kept for a day, so that a second use is detected.
CREATE TABLE oauth_codes (
    hash         BYTEA NOT NULL PRIMARY KEY,
    client_id    TEXT COLLATE "C" NOT NULL,
    client_name  TEXT COLLATE "C" NOT NULL,
    host         TEXT COLLATE "C" NOT NULL,
    resource     TEXT COLLATE "C" NOT NULL,
    scopes       TEXT COLLATE "C" NOT NULL,
    user_id      TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    workspace_id TEXT COLLATE "C" REFERENCES workspaces (id) ON DELETE CASCADE,
    refreshes    BIGINT NOT NULL,
    redirect_uri TEXT COLLATE "C" NOT NULL,
    challenge    TEXT COLLATE "C" NOT NULL,
    expires_at   BIGINT NOT NULL,
    token_id     TEXT COLLATE "C" REFERENCES tokens (id) ON DELETE CASCADE
);
CREATE INDEX oauth_codes_user ON oauth_codes (user_id);
CREATE INDEX oauth_codes_workspace ON oauth_codes (workspace_id);
CREATE INDEX oauth_codes_token ON oauth_codes (token_id);
CREATE INDEX oauth_codes_expires ON oauth_codes (expires_at);

-- Device authorization requests of programs without a browser (RFC 8628), by the hashes of
-- the device code and of the user code. user_id is the person who responded.
CREATE TABLE oauth_devices (
    id           TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    hash         BYTEA NOT NULL,
    user_code    BYTEA NOT NULL,
    client_id    TEXT COLLATE "C" NOT NULL,
    client_name  TEXT COLLATE "C" NOT NULL,
    host         TEXT COLLATE "C" NOT NULL,
    resource     TEXT COLLATE "C" NOT NULL,
    scopes       TEXT COLLATE "C" NOT NULL,
    refreshes    BIGINT NOT NULL,
    state        TEXT COLLATE "C" NOT NULL,
    user_id      TEXT COLLATE "C" REFERENCES users (id) ON DELETE CASCADE,
    workspace_id TEXT COLLATE "C" REFERENCES workspaces (id) ON DELETE CASCADE,
    pause        BIGINT NOT NULL,
    polled_at    BIGINT NOT NULL,
    expires_at   BIGINT NOT NULL,
    token_id     TEXT COLLATE "C" REFERENCES tokens (id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX oauth_devices_hash ON oauth_devices (hash);
CREATE UNIQUE INDEX oauth_devices_user_code ON oauth_devices (user_code);
CREATE INDEX oauth_devices_user ON oauth_devices (user_id);
CREATE INDEX oauth_devices_workspace ON oauth_devices (workspace_id);
CREATE INDEX oauth_devices_token ON oauth_devices (token_id);
CREATE INDEX oauth_devices_expires ON oauth_devices (expires_at);

-- BOARDS

-- color is the color that a person chose, or NULL.
--
-- text_bytes and activity_bytes are what the board adds to the storage of its organization.
-- The statement that writes the version updates both. counted_at is when they were last
-- computed from the rows, or NULL.
--
-- Of the activity up to the version reduced_to, only the history of cards is kept. Up to
-- removed_to, nothing is kept.
--
-- done_cards is the number of done cards among open_cards. done_cards_version is not used.
CREATE TABLE boards (
    id                 TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    workspace_id       TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    name               TEXT COLLATE "C" NOT NULL,
    visibility         TEXT COLLATE "C" NOT NULL,
    features           BIGINT NOT NULL,
    version            BIGINT NOT NULL,
    next_number        BIGINT NOT NULL DEFAULT 1,
    open_cards         BIGINT NOT NULL DEFAULT 0,
    all_cards          BIGINT NOT NULL DEFAULT 0,
    open_lists         BIGINT NOT NULL DEFAULT 0,
    archived_at        BIGINT,
    trashed_at         BIGINT,
    created_by         TEXT COLLATE "C" REFERENCES users (id),
    created_at         BIGINT NOT NULL,
    updated_at         BIGINT NOT NULL,
    description        TEXT COLLATE "C" NOT NULL,
    color              TEXT COLLATE "C",
    text_bytes         BIGINT NOT NULL DEFAULT 0,
    activity_bytes     BIGINT NOT NULL DEFAULT 0,
    counted_at         BIGINT,
    reduced_to         BIGINT NOT NULL DEFAULT 0,
    removed_to         BIGINT NOT NULL DEFAULT 0,
    done_cards         BIGINT NOT NULL DEFAULT 0,
    done_cards_version BIGINT
);
CREATE INDEX boards_workspace ON boards (workspace_id);
CREATE INDEX boards_trash ON boards (trashed_at) WHERE trashed_at IS NOT NULL;

CREATE TABLE board_members (
    board_id   TEXT COLLATE "C" NOT NULL REFERENCES boards (id) ON DELETE CASCADE,
    user_id    TEXT COLLATE "C" NOT NULL REFERENCES users (id),
    role       TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (board_id, user_id)
);
CREATE INDEX board_members_user ON board_members (user_id);

-- A person's relation to a board: whether it is starred and watched, when the person last
-- had it open, and the ids of the collapsed lists, separated by commas. A person who was
-- seen within the last half minute is viewing it now.
CREATE TABLE board_visits (
    user_id   TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    board_id  TEXT COLLATE "C" NOT NULL REFERENCES boards (id) ON DELETE CASCADE,
    starred   BIGINT NOT NULL DEFAULT 0,
    seen_at   BIGINT,
    collapsed TEXT COLLATE "C" NOT NULL DEFAULT '',
    watching  BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (user_id, board_id)
);
CREATE INDEX board_visits_board ON board_visits (board_id, seen_at);
CREATE INDEX board_visits_watching ON board_visits (board_id, user_id) WHERE watching = 1;

-- Templates of a workspace for new boards. Built-in templates are in the code
-- (board.BuiltInTemplates). outline is what a list of templates shows. content is
-- everything that a board is created from: JSON that contains its format version and no
-- ids of people.
CREATE TABLE board_templates (
    id           TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    workspace_id TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    name         TEXT COLLATE "C" NOT NULL,
    description  TEXT COLLATE "C" NOT NULL,
    created_at   BIGINT NOT NULL,
    outline      TEXT COLLATE "C" NOT NULL,
    content      TEXT COLLATE "C" NOT NULL
);
CREATE INDEX board_templates_workspace ON board_templates (workspace_id, id);

-- What reports count on a board, at one version of the board; see store/summary.go. A
-- summary of an earlier version is not used. Servers write summaries for large workspaces
-- in the background.
CREATE TABLE board_summaries (
    board_id   TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES boards (id) ON DELETE CASCADE,
    version    BIGINT NOT NULL,
    format     BIGINT NOT NULL,
    counted_at BIGINT NOT NULL,
    unplanned  BIGINT NOT NULL,
    people     BYTEA NOT NULL,
    counts     BYTEA NOT NULL
);
-- A report may read a thousand summaries. Compression would take more time than it saves.
ALTER TABLE board_summaries ALTER COLUMN counts SET STORAGE EXTERNAL, ALTER COLUMN people SET STORAGE EXTERNAL;

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

-- Public pages of boards, for people without an account. A page is found by the hash of its
-- key. The key itself is encrypted, so that the board's admins can copy the address later.
-- lists contains ids separated by commas.
CREATE TABLE public_pages (
    board_id   TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES boards (id) ON DELETE CASCADE,
    hash       BYTEA NOT NULL,
    secret     BYTEA NOT NULL,
    mode       TEXT COLLATE "C" NOT NULL,
    list_id    TEXT COLLATE "C",
    all_lists  BIGINT NOT NULL,
    lists      TEXT COLLATE "C" NOT NULL,
    comments   BIGINT NOT NULL,
    names      BIGINT NOT NULL,
    welcome    TEXT COLLATE "C" NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX public_pages_hash ON public_pages (hash);

-- Stored search queries, without their results.
CREATE TABLE saved_filters (
    id           TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    workspace_id TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    owner_id     TEXT COLLATE "C" NOT NULL REFERENCES users (id),
    name         TEXT COLLATE "C" NOT NULL,
    query        TEXT COLLATE "C" NOT NULL,
    shared       BIGINT NOT NULL,
    created_at   BIGINT NOT NULL,
    updated_at   BIGINT NOT NULL
);
CREATE INDEX saved_filters_workspace ON saved_filters (workspace_id, id);
CREATE INDEX saved_filters_owner ON saved_filters (owner_id);

CREATE TABLE labels (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    board_id   TEXT COLLATE "C" NOT NULL REFERENCES boards (id) ON DELETE CASCADE,
    name       TEXT COLLATE "C" NOT NULL,
    color      TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX labels_board ON labels (board_id, name, id);

-- LISTS AND CARDS

CREATE TABLE lists (
    id          TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    board_id    TEXT COLLATE "C" NOT NULL REFERENCES boards (id) ON DELETE CASCADE,
    name        TEXT COLLATE "C" NOT NULL,
    rank        TEXT COLLATE "C" NOT NULL,
    wip_limit   BIGINT,
    wip_mode    TEXT COLLATE "C" NOT NULL,
    archived_at BIGINT,
    created_at  BIGINT NOT NULL,
    updated_at  BIGINT NOT NULL
);
CREATE UNIQUE INDEX lists_rank ON lists (board_id, rank);

-- moved_at is when a card first left the list that it was created in. Without it, a
-- dashboard with 7,000 cards completed in a quarter spends a third of its time on looking
-- this up in the activity. attachments is their number; the cover is the picture on the
-- card's tile.
CREATE TABLE cards (
    id           TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    board_id     TEXT COLLATE "C" NOT NULL REFERENCES boards (id) ON DELETE CASCADE,
    list_id      TEXT COLLATE "C" NOT NULL REFERENCES lists (id) ON DELETE CASCADE,
    rank         TEXT COLLATE "C" NOT NULL,
    number       BIGINT NOT NULL,
    title        TEXT COLLATE "C" NOT NULL,
    done_at      BIGINT,
    archived_at  BIGINT,
    due_date     TEXT COLLATE "C",
    due_at       BIGINT,
    start_date   TEXT COLLATE "C",
    start_at     BIGINT,
    time_zone    TEXT COLLATE "C",
    items_done   BIGINT NOT NULL DEFAULT 0,
    items_total  BIGINT NOT NULL DEFAULT 0,
    comments     BIGINT NOT NULL DEFAULT 0,
    created_by   TEXT COLLATE "C" REFERENCES users (id),
    created_at   BIGINT NOT NULL,
    updated_at   BIGINT NOT NULL,
    description  TEXT COLLATE "C" NOT NULL,
    moved_at     BIGINT,
    attachments  BIGINT NOT NULL DEFAULT 0,
    cover_id     TEXT COLLATE "C",
    cover_width  BIGINT,
    cover_height BIGINT
);
CREATE UNIQUE INDEX cards_rank ON cards (list_id, rank);
CREATE UNIQUE INDEX cards_number ON cards (board_id, number);
-- The open cards of a board, by last and first day.
CREATE INDEX cards_span ON cards (board_id, COALESCE(due_date, start_date), COALESCE(start_date, due_date), done_at, list_id)
    WHERE archived_at IS NULL;
-- The open cards of a board, by start. Cards that overlap a range of days are found in
-- two indexes: cards_span finds those that end in the range, this one finds those that
-- begin before its end.
CREATE INDEX cards_started ON cards (board_id, start_date, due_date, list_id)
    WHERE archived_at IS NULL AND start_date IS NOT NULL;
-- A covering index for dashboards, so that they read no cards.
CREATE INDEX cards_report ON cards (list_id, done_at, due_date, due_at, created_at, updated_at, archived_at, moved_at, id);
-- For reminders: open cards by due time or, without a time, by due date.
CREATE INDEX cards_due_at ON cards (due_at)
    WHERE due_at IS NOT NULL AND done_at IS NULL AND archived_at IS NULL;
CREATE INDEX cards_due_day ON cards (due_date)
    WHERE due_date IS NOT NULL AND due_at IS NULL AND done_at IS NULL AND archived_at IS NULL;
-- The open cards of a board that touch three calendar months or more. A card that
-- overlaps a date range, ends after it and is not in this index began in the last month
-- of the range or in the month before. So a calendar need not read all cards that begin
-- before its range or end after it.
CREATE INDEX cards_long ON cards (board_id, start_date, due_date) WHERE archived_at IS NULL
    AND 12 * CAST(substr(due_date, 1, 4) AS INTEGER) + CAST(substr(due_date, 6, 2) AS INTEGER)
        - 12 * CAST(substr(start_date, 1, 4) AS INTEGER) - CAST(substr(start_date, 6, 2) AS INTEGER) > 1;
-- The newest cards of all boards. The index contains the board, so a query for the
-- newest cards of some boards skips the cards of others without reading them.
CREATE INDEX cards_newest ON cards (updated_at, id, board_id);
-- The cards of a board by their last change. A query for the latest changes on one or a
-- few boards reads no other cards and no other boards.
CREATE INDEX cards_changed ON cards (board_id, updated_at, id);

CREATE TABLE card_labels (
    card_id  TEXT COLLATE "C" NOT NULL REFERENCES cards (id) ON DELETE CASCADE,
    label_id TEXT COLLATE "C" NOT NULL REFERENCES labels (id) ON DELETE CASCADE,
    PRIMARY KEY (card_id, label_id)
);
CREATE INDEX card_labels_label ON card_labels (label_id, card_id);

CREATE TABLE card_assignees (
    card_id     TEXT COLLATE "C" NOT NULL REFERENCES cards (id) ON DELETE CASCADE,
    user_id     TEXT COLLATE "C" NOT NULL REFERENCES users (id),
    assigned_at BIGINT NOT NULL,
    PRIMARY KEY (card_id, user_id)
);
CREATE INDEX card_assignees_user ON card_assignees (user_id, card_id);
-- The latest assignments of a person.
CREATE INDEX card_assignees_recent ON card_assignees (user_id, assigned_at, card_id);

-- Who watches a card (1), and who no longer wants notifications about a card that they
-- would otherwise watch automatically (0).
CREATE TABLE card_watches (
    card_id  TEXT COLLATE "C" NOT NULL REFERENCES cards (id) ON DELETE CASCADE,
    user_id  TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    watching BIGINT NOT NULL,
    PRIMARY KEY (card_id, user_id)
);
CREATE INDEX card_watches_user ON card_watches (user_id);

CREATE TABLE checklists (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    card_id    TEXT COLLATE "C" NOT NULL REFERENCES cards (id) ON DELETE CASCADE,
    title      TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX checklists_card ON checklists (card_id, id);

CREATE TABLE checklist_items (
    id           TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    checklist_id TEXT COLLATE "C" NOT NULL REFERENCES checklists (id) ON DELETE CASCADE,
    title        TEXT COLLATE "C" NOT NULL,
    rank         TEXT COLLATE "C" NOT NULL,
    done_at      BIGINT,
    created_at   BIGINT NOT NULL,
    updated_at   BIGINT NOT NULL
);
CREATE UNIQUE INDEX checklist_items_rank ON checklist_items (checklist_id, rank);

-- guest_name is the name that a guest of a public page entered; NULL if the author is not a
-- guest.
CREATE TABLE comments (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    card_id    TEXT COLLATE "C" NOT NULL REFERENCES cards (id) ON DELETE CASCADE,
    author_id  TEXT COLLATE "C" REFERENCES users (id),
    created_at BIGINT NOT NULL,
    edited_at  BIGINT,
    text       TEXT COLLATE "C" NOT NULL,
    guest_name TEXT COLLATE "C"
);
CREATE INDEX comments_card ON comments (card_id, id);
-- The authors of the comments on a card, without reading the comments.
CREATE INDEX comments_author ON comments (card_id, author_id);

-- Blobs that the storage for files contains, or that are about to be stored there. A row
-- exists before its blob and is deleted after it. A row without attachments is kept for a
-- day. While removing_at is set, the blob is being removed and must not be used.
CREATE TABLE blobs (
    organization_id TEXT COLLATE "C" NOT NULL,
    hash            TEXT COLLATE "C" NOT NULL,
    size            BIGINT NOT NULL,
    stored_at       BIGINT NOT NULL,
    removing_at     BIGINT,
    PRIMARY KEY (organization_id, hash)
);
CREATE INDEX blobs_stored ON blobs (stored_at);

-- Files and links on cards. A file has the organization_id and hash of its blob; the
-- organization is the one in which it was uploaded, even after its card has moved. A
-- removed attachment is kept for a day, so that it can be restored.
CREATE TABLE attachments (
    id              TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    card_id         TEXT COLLATE "C" NOT NULL REFERENCES cards (id) ON DELETE CASCADE,
    name            TEXT COLLATE "C" NOT NULL,
    url             TEXT COLLATE "C",
    organization_id TEXT COLLATE "C",
    hash            TEXT COLLATE "C",
    media_type      TEXT COLLATE "C",
    size            BIGINT NOT NULL,
    width           BIGINT,
    height          BIGINT,
    created_by      TEXT COLLATE "C",
    created_at      BIGINT NOT NULL,
    updated_at      BIGINT NOT NULL,
    removed_at      BIGINT
);
CREATE INDEX attachments_card ON attachments (card_id, id);
CREATE INDEX attachments_blob ON attachments (organization_id, hash);
CREATE INDEX attachments_removed ON attachments (removed_at) WHERE removed_at IS NOT NULL;

-- Old and new ranks of siblings that were ranked again, so that older cursors can be
-- translated.
CREATE TABLE reranks (
    parent_id TEXT COLLATE "C" NOT NULL,
    epoch     BIGINT NOT NULL,
    old_rank  TEXT COLLATE "C" NOT NULL,
    new_rank  TEXT COLLATE "C" NOT NULL,
    at        BIGINT NOT NULL,
    PRIMARY KEY (parent_id, epoch, old_rank)
);

-- ACTIVITY

-- One row for each change of a board: (board_id, version) has no gaps. client is the browser
-- tab that caused the change, so that it recognizes its own changes in the stream.
--
-- cause is for automation: 'quiet' if the change sends no events; for a change by a rule,
-- its first cause and the rules since, separated by spaces; otherwise NULL.
CREATE TABLE activity (
    board_id   TEXT COLLATE "C" NOT NULL REFERENCES boards (id) ON DELETE CASCADE,
    version    BIGINT NOT NULL,
    id         TEXT COLLATE "C" NOT NULL,
    type       TEXT COLLATE "C" NOT NULL,
    at         BIGINT NOT NULL,
    actor_type TEXT COLLATE "C" NOT NULL,
    actor_id   TEXT COLLATE "C",
    list_id    TEXT COLLATE "C",
    card_id    TEXT COLLATE "C",
    changes    TEXT COLLATE "C" NOT NULL,
    client     TEXT COLLATE "C",
    cause      TEXT COLLATE "C",
    PRIMARY KEY (board_id, version)
);
CREATE INDEX activity_card ON activity (card_id, version);
-- The latest activity of a board.
CREATE INDEX activity_recent ON activity (board_id, at, version);

-- FORMER MEMBERS

-- People without an address (because their account was deleted or they were imported) who
-- were assigned to cards of a workspace. They are not members, so nothing else links the
-- workspace to them. They stay in this table when they have no more cards in the workspace.
CREATE TABLE former_members (
    workspace_id TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    user_id      TEXT COLLATE "C" NOT NULL REFERENCES users (id),
    PRIMARY KEY (workspace_id, user_id)
);

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION card_assignees_former() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO former_members (workspace_id, user_id) SELECT b.workspace_id, u.id
        FROM users u, cards c JOIN boards b ON b.id = c.board_id WHERE u.id = NEW.user_id AND u.email IS NULL AND c.id = NEW.card_id
        ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER card_assignees_former AFTER INSERT ON card_assignees FOR EACH ROW EXECUTE FUNCTION card_assignees_former();
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION users_former() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO former_members (workspace_id, user_id) SELECT DISTINCT b.workspace_id, NEW.id
        FROM card_assignees k JOIN cards c ON c.id = k.card_id JOIN boards b ON b.id = c.board_id WHERE k.user_id = NEW.id
        ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER users_former AFTER UPDATE OF email ON users
    FOR EACH ROW WHEN (NEW.email IS NULL AND OLD.email IS NOT NULL) EXECUTE FUNCTION users_former();

-- SEARCH

-- The searchable texts of cards: one row for a card's title (place 'title'), its
-- description, each comment, and each title of a checklist or item (place 'checklist'). ref
-- is the id of the comment, checklist or item, and '' for the card itself. words contains
-- the words that query.Words extracts, with one space before, between and after them.
--
-- workspace_id is used only by the search index. SQLite has no such column, so copies
-- between databases omit it.
CREATE TABLE texts (
    id           BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    card_id      TEXT COLLATE "C" NOT NULL REFERENCES cards (id) ON DELETE CASCADE,
    place        TEXT COLLATE "C" NOT NULL,
    ref          TEXT COLLATE "C" NOT NULL,
    words        TEXT COLLATE "C" NOT NULL,
    workspace_id TEXT COLLATE "C"
);
CREATE UNIQUE INDEX texts_card ON texts (card_id, place, ref);
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION texts_workspace() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    SELECT b.workspace_id INTO NEW.workspace_id FROM cards c JOIN boards b ON b.id = c.board_id WHERE c.id = NEW.card_id;
    RETURN NEW;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER texts_workspace BEFORE INSERT ON texts FOR EACH ROW EXECUTE FUNCTION texts_workspace();

-- The terms of a text in the search index: each word, and each pair of adjacent words
-- joined by a middle dot, after the end of the workspace's id. So a search reads only the
-- texts of the caller's workspaces, however many others there are. Workspaces whose ids end
-- in the same characters share terms; this is safe, because the index only finds
-- candidates. Pairs find a phrase of common words without reading all texts that contain
-- the words.
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

-- The search index. New entries are first appended to a list, because inserting them into
-- the index took almost half the time of a write. Servers merge the list into the index
-- every second.
CREATE INDEX texts_by_terms ON texts USING gin (texts_terms(words, workspace_id)) WITH (fastupdate = on);

-- A card that moves to another workspace is indexed there, and its people without an
-- address are added there.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION cards_workspace() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE texts t SET workspace_id = b.workspace_id FROM boards b
        WHERE t.card_id = NEW.id AND b.id = NEW.board_id AND t.workspace_id IS DISTINCT FROM b.workspace_id;
    INSERT INTO former_members (workspace_id, user_id) SELECT b.workspace_id, k.user_id
        FROM boards b, card_assignees k JOIN users u ON u.id = k.user_id
        WHERE b.id = NEW.board_id AND k.card_id = NEW.id AND u.email IS NULL
        ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER cards_workspace AFTER UPDATE OF board_id ON cards
    FOR EACH ROW WHEN (NEW.board_id <> OLD.board_id) EXECUTE FUNCTION cards_workspace();

-- WEBHOOKS

-- A webhook sends the events of one board or, without board_id, of every board that the
-- whole workspace can see. Addresses and secrets are encrypted. held_until is the end of the
-- pause that the receiver asked for. It is valid only while held_since is set.
CREATE TABLE webhooks (
    id               TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    organization_id  TEXT COLLATE "C" NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    workspace_id     TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    board_id         TEXT COLLATE "C" REFERENCES boards (id) ON DELETE CASCADE,
    owner_id         TEXT COLLATE "C" NOT NULL REFERENCES users (id),
    name             TEXT COLLATE "C" NOT NULL,
    events           TEXT COLLATE "C" NOT NULL,
    platform         TEXT COLLATE "C" NOT NULL,
    host             TEXT COLLATE "C" NOT NULL,
    last_four        TEXT COLLATE "C" NOT NULL,
    address          BYTEA NOT NULL,
    secret           BYTEA NOT NULL,
    old_secret       BYTEA,
    old_secret_until BIGINT,
    off              TEXT COLLATE "C" NOT NULL,
    off_at           BIGINT,
    failures         BIGINT NOT NULL DEFAULT 0,
    held_since       BIGINT,
    created_at       BIGINT NOT NULL,
    updated_at       BIGINT NOT NULL,
    held_until       BIGINT
);
CREATE INDEX webhooks_workspace ON webhooks (workspace_id, id);
CREATE INDEX webhooks_board ON webhooks (board_id);
CREATE INDEX webhooks_covers ON webhooks (workspace_id, board_id, id);
CREATE INDEX webhooks_organization ON webhooks (organization_id);
CREATE INDEX webhooks_owner ON webhooks (owner_id);

-- The outbox: deliveries, written in the transaction of the change. A delivery is open as
-- long as due_at has the time of its next attempt. It has no foreign key to its webhook, so
-- that deleting a webhook cannot make a change to a card fail.
CREATE TABLE deliveries (
    id          TEXT COLLATE "C" NOT NULL,
    webhook_id  TEXT COLLATE "C" NOT NULL,
    board_id    TEXT COLLATE "C",
    version     BIGINT NOT NULL,
    kind        TEXT COLLATE "C" NOT NULL,
    status      TEXT COLLATE "C" NOT NULL,
    retry       BIGINT NOT NULL DEFAULT 0,
    due_at      BIGINT,
    attempts    BIGINT NOT NULL DEFAULT 0,
    switches_on TEXT COLLATE "C",
    reason      TEXT COLLATE "C" NOT NULL,
    http_status BIGINT,
    created_at  BIGINT NOT NULL,
    ended_at    BIGINT,
    log         TEXT COLLATE "C" NOT NULL,
    body        TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (id)
) PARTITION BY RANGE (id);
CREATE INDEX deliveries_webhook ON deliveries (webhook_id, id);
CREATE INDEX deliveries_open ON deliveries (webhook_id, retry, due_at) WHERE due_at IS NOT NULL;
CREATE TABLE deliveries_rest PARTITION OF deliveries DEFAULT;

-- Number of deliveries of an organization per day (UTC).
CREATE TABLE delivery_days (
    organization_id TEXT COLLATE "C" NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    day             TEXT COLLATE "C" NOT NULL,
    used            BIGINT NOT NULL,
    PRIMARY KEY (organization_id, day)
);

-- AUTOMATION

-- Automation rules. The definition is JSON. off is the reason why a rule is switched off, and
-- empty while it is on. Changes up to the version in since, and times up to watched_at,
-- don't trigger the rule.
CREATE TABLE rules (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    board_id   TEXT COLLATE "C" NOT NULL REFERENCES boards (id) ON DELETE CASCADE,
    owner_id   TEXT COLLATE "C" NOT NULL REFERENCES users (id),
    name       TEXT COLLATE "C" NOT NULL,
    timed      BIGINT NOT NULL,
    definition TEXT COLLATE "C" NOT NULL,
    off        TEXT COLLATE "C" NOT NULL,
    off_at     BIGINT,
    since      BIGINT NOT NULL,
    watched_at BIGINT NOT NULL,
    failures   BIGINT NOT NULL DEFAULT 0,
    last_run   BIGINT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX rules_board ON rules (board_id, id);
CREATE INDEX rules_owner ON rules (owner_id);
CREATE INDEX rules_timed ON rules (board_id) WHERE timed = 1 AND off = '';

-- The runs of rules, written in the transaction of their actions. A rule runs once per
-- event.
CREATE TABLE rule_runs (
    id       TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    rule_id  TEXT COLLATE "C" NOT NULL REFERENCES rules (id) ON DELETE CASCADE,
    board_id TEXT COLLATE "C" NOT NULL REFERENCES boards (id) ON DELETE CASCADE,
    event    TEXT COLLATE "C" NOT NULL,
    kind     TEXT COLLATE "C" NOT NULL,
    card_id  TEXT COLLATE "C",
    root     TEXT COLLATE "C" NOT NULL,
    at       BIGINT NOT NULL,
    status   TEXT COLLATE "C" NOT NULL,
    reason   TEXT COLLATE "C" NOT NULL,
    actions  BIGINT NOT NULL,
    version  BIGINT
);
CREATE UNIQUE INDEX rule_runs_event ON rule_runs (rule_id, event);
CREATE INDEX rule_runs_board ON rule_runs (board_id, id);
CREATE INDEX rule_runs_card ON rule_runs (card_id, at);
CREATE INDEX rule_runs_root ON rule_runs (root);

-- Boards with an active rule: the version up to which their changes are processed, and
-- which server has claimed the board until when.
CREATE TABLE automation_boards (
    board_id TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES boards (id) ON DELETE CASCADE,
    handled  BIGINT NOT NULL,
    holder   TEXT COLLATE "C" NOT NULL DEFAULT '',
    until    BIGINT NOT NULL DEFAULT 0
);

-- Number of runs of an organization per day (UTC).
CREATE TABLE automation_days (
    organization_id TEXT COLLATE "C" NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    day             TEXT COLLATE "C" NOT NULL,
    used            BIGINT NOT NULL,
    PRIMARY KEY (organization_id, day)
);

-- NOTIFICATIONS AND EMAILS

-- One row per person and event. A row about a card has no board, because the card can move.
-- Whether the person may see it is checked whenever the row is read. letter_id is the id of
-- the email.
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

-- Calendar feeds of people's due dates, found by the hash of the token in the address. If
-- boards is empty, a feed contains the cards assigned to the person.
CREATE TABLE calendar_feeds (
    user_id    TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    hash       BYTEA NOT NULL,
    boards     TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX calendar_feeds_hash ON calendar_feeds (hash);

-- The queue of emails, without their text. An email is composed when it is sent, together
-- with the secret in its link, so the secret is never stored.
CREATE TABLE emails (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    kind       TEXT COLLATE "C" NOT NULL,
    about      TEXT COLLATE "C" NOT NULL,
    attempts   BIGINT NOT NULL DEFAULT 0,
    due_at     BIGINT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX emails_about ON emails (kind, about);
CREATE INDEX emails_due ON emails (due_at, id);

-- JOBS

-- Long work: imports, copies of large boards and boards from large templates.
CREATE TABLE jobs (
    id              TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    kind            TEXT COLLATE "C" NOT NULL,
    state           TEXT COLLATE "C" NOT NULL,
    owner_id        TEXT COLLATE "C" NOT NULL REFERENCES users (id),
    organization_id TEXT COLLATE "C" NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    workspace_id    TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    name            TEXT COLLATE "C" NOT NULL,
    caller          TEXT COLLATE "C" NOT NULL,
    input           TEXT COLLATE "C" NOT NULL,
    result          TEXT COLLATE "C",
    fault           TEXT COLLATE "C",
    parts           BIGINT,
    written         BIGINT NOT NULL DEFAULT 0,
    done            BIGINT NOT NULL DEFAULT 0,
    total           BIGINT NOT NULL DEFAULT 0,
    tries           BIGINT NOT NULL DEFAULT 0,
    holder          TEXT COLLATE "C" NOT NULL DEFAULT '',
    until           BIGINT NOT NULL DEFAULT 0,
    created_at      BIGINT NOT NULL,
    started_at      BIGINT,
    ended_at        BIGINT
);
CREATE INDEX jobs_owner ON jobs (owner_id, id);
CREATE INDEX jobs_organization ON jobs (organization_id, started_at);
CREATE INDEX jobs_workspace ON jobs (workspace_id, id);
CREATE INDEX jobs_open ON jobs (created_at) WHERE ended_at IS NULL;
CREATE INDEX jobs_ended ON jobs (ended_at) WHERE ended_at IS NOT NULL;

-- The parts of a job's draft, in the order in which they are written. Each part is written
-- in one transaction.
CREATE TABLE job_parts (
    job_id TEXT COLLATE "C" NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    part   BIGINT NOT NULL,
    body   BYTEA NOT NULL,
    PRIMARY KEY (job_id, part)
);

-- The boards that a job creates. Until the job is complete, they are in the trash and hidden
-- there.
CREATE TABLE job_boards (
    job_id   TEXT COLLATE "C" NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    board_id TEXT COLLATE "C" NOT NULL REFERENCES boards (id) ON DELETE CASCADE,
    PRIMARY KEY (job_id, board_id)
);
CREATE INDEX job_boards_board ON job_boards (board_id);

-- The lists that jobs create. Until a list is complete, it is archived and hidden there. Its
-- cards get consecutive numbers from first_number.
CREATE TABLE job_lists (
    list_id      TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES lists (id) ON DELETE CASCADE,
    job_id       TEXT COLLATE "C" NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    board_id     TEXT COLLATE "C" NOT NULL REFERENCES boards (id) ON DELETE CASCADE,
    first_number BIGINT NOT NULL DEFAULT 0,
    cards        BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX job_lists_job ON job_lists (job_id);
CREATE INDEX job_lists_board ON job_lists (board_id);

-- The versions of a board, from first to last, that a change has reserved and whose activity
-- entries a job is still writing. written is the number of parts written so far.
CREATE TABLE pending_activity (
    job_id       TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES jobs (id) ON DELETE CASCADE,
    board_id     TEXT COLLATE "C" NOT NULL REFERENCES boards (id) ON DELETE CASCADE,
    first        BIGINT NOT NULL,
    last         BIGINT NOT NULL,
    at           BIGINT NOT NULL,
    list_id      TEXT COLLATE "C" NOT NULL,
    first_number BIGINT NOT NULL,
    used         TEXT COLLATE "C" NOT NULL,
    written      BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX pending_activity_board ON pending_activity (board_id, first);

-- The lists that jobs are moving from one board to another. Cards in transit are in the list
-- hidden_id of the first board. Until the move is complete, no one else can change the list.
CREATE TABLE list_moves (
    job_id    TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES jobs (id) ON DELETE CASCADE,
    list_id   TEXT COLLATE "C" NOT NULL REFERENCES lists (id) ON DELETE CASCADE,
    hidden_id TEXT COLLATE "C" NOT NULL REFERENCES lists (id) ON DELETE CASCADE,
    from_id   TEXT COLLATE "C" NOT NULL REFERENCES boards (id) ON DELETE CASCADE,
    to_id     TEXT COLLATE "C" NOT NULL REFERENCES boards (id) ON DELETE CASCADE
);
CREATE INDEX list_moves_list ON list_moves (list_id);
CREATE INDEX list_moves_hidden ON list_moves (hidden_id);
CREATE INDEX list_moves_from ON list_moves (from_id);
CREATE INDEX list_moves_to ON list_moves (to_id);

-- PARTITIONS

-- deliveries and audit grow without limit and are read by id, so they are partitioned by the
-- time in the id. An id begins with a prefix and the time in milliseconds, in base 32.
-- store/partition.go creates partitions in advance and drops expired ones. The default
-- partition receives rows that belong to no other partition. The first partition ends on the
-- next Monday on which a partition begins.
-- +goose StatementBegin
DO $$
DECLARE
    part  RECORD;
    until BIGINT;
    bound TEXT;
BEGIN
    FOR part IN SELECT * FROM (VALUES ('deliveries', 'itg_', 604800000::BIGINT), ('audit', 'aud_', 7862400000))
        AS p (name, prefix, width)
    LOOP
        until := ((extract(epoch FROM now()) * 1000)::BIGINT - 345600000) / part.width * part.width + 345600000 + part.width;
        SELECT part.prefix || string_agg(substr('0123456789abcdefghjkmnpqrstvwxyz',
            ((((until << 2) >> (45 - 5 * i)) & 31) + 1)::INTEGER, 1), '' ORDER BY i)
            INTO bound FROM generate_series(0, 9) AS i;
        EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES FROM (MINVALUE) TO (%L)', part.name || '_first', part.name, bound);
    END LOOP;
END
$$;
-- +goose StatementEnd
