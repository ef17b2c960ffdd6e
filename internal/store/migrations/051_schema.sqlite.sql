-- +goose Up
-- The schema of Cardwall v0.2.1, which replaces migrations 1 to 50. Later ones change it. Times are in milliseconds since
-- 1970 (UTC) unless a comment says otherwise. 051_schema.postgres.sql creates the same tables.

-- THE SERVER

-- Values that all servers share, such as the key that signs cursors. names_version counts
-- changes of people's names, see the trigger users_name.
CREATE TABLE settings (
    key   TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;

-- Leases for work that only one server does at a time.
CREATE TABLE leases (
    name   TEXT NOT NULL PRIMARY KEY,
    holder TEXT NOT NULL,
    until  INTEGER NOT NULL
) STRICT;

-- Counts that several servers share for a rate limit: how much was used in the window
-- that ends at a time. at is when it was last reported.
CREATE TABLE rate_counts (
    key  TEXT NOT NULL PRIMARY KEY,
    used INTEGER NOT NULL,
    ends INTEGER NOT NULL,
    at   INTEGER NOT NULL
) STRICT;

-- The response to the first request with an idempotency key, kept for 24 hours. A response
-- that contains a secret is sealed. A response that contains the text of a comment has its
-- comment_id, so that it is removed with the comment.
CREATE TABLE idempotency (
    user_id      TEXT NOT NULL,
    key          TEXT NOT NULL,
    operation    TEXT NOT NULL,
    fingerprint  BLOB NOT NULL,
    workspace_id TEXT,
    board_id     TEXT,
    fault        TEXT NOT NULL,
    answer       BLOB NOT NULL,
    created_at   INTEGER NOT NULL,
    sealed       INTEGER NOT NULL DEFAULT 0,
    comment_id   TEXT,
    PRIMARY KEY (user_id, key)
) STRICT;
CREATE INDEX idempotency_age ON idempotency (created_at);
-- Stored responses that contain the text of a comment.
CREATE INDEX idempotency_comment ON idempotency (comment_id) WHERE comment_id IS NOT NULL;

-- The audit log: who called which operation, and with which token.
CREATE TABLE audit (
    id           TEXT NOT NULL PRIMARY KEY,
    at           INTEGER NOT NULL,
    workspace_id TEXT,
    board_id     TEXT,
    operation    TEXT NOT NULL,
    actor_type   TEXT NOT NULL,
    actor_id     TEXT,
    token_id     TEXT,
    subject      TEXT,
    request_id   TEXT,
    details      TEXT NOT NULL
) STRICT;
CREATE INDEX audit_workspace ON audit (workspace_id, id);

-- PEOPLE

-- A person without an email address was deleted or imported. The person who sets up the
-- server becomes an operator.
CREATE TABLE users (
    id            TEXT NOT NULL PRIMARY KEY,
    email         TEXT,
    name          TEXT NOT NULL,
    password_hash TEXT,
    time_zone     TEXT NOT NULL,
    created_at    INTEGER NOT NULL,
    deleted_at    INTEGER,
    verified_at   INTEGER,
    theme         TEXT NOT NULL DEFAULT 'system',
    language      TEXT NOT NULL DEFAULT 'en',
    operator      INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX users_email ON users (email);

-- Boards show people's names, but their versions don't change with them.
-- +goose StatementBegin
CREATE TRIGGER users_name AFTER UPDATE OF name ON users WHEN NEW.name <> OLD.name BEGIN
    INSERT INTO settings (key, value) VALUES ('names_version', '1')
        ON CONFLICT (key) DO UPDATE SET value = CAST(CAST(settings.value AS INTEGER) + 1 AS TEXT);
END;
-- +goose StatementEnd

-- Sign-ups whose address is not verified yet.
CREATE TABLE sign_ups (
    id            TEXT NOT NULL PRIMARY KEY,
    email         TEXT NOT NULL,
    name          TEXT NOT NULL,
    password_hash TEXT NOT NULL,
    time_zone     TEXT NOT NULL,
    created_at    INTEGER NOT NULL
) STRICT;
CREATE INDEX sign_ups_email ON sign_ups (email, created_at);
CREATE INDEX sign_ups_created ON sign_ups (created_at);

-- Hashes of the secrets in emails for sign-ups and password resets.
CREATE TABLE account_secrets (
    hash       BLOB NOT NULL PRIMARY KEY,
    kind       TEXT NOT NULL,
    sign_up_id TEXT REFERENCES sign_ups (id) ON DELETE CASCADE,
    user_id    TEXT REFERENCES users (id) ON DELETE CASCADE,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX account_secrets_sign_up ON account_secrets (sign_up_id);
CREATE INDEX account_secrets_user ON account_secrets (user_id);
CREATE INDEX account_secrets_expires ON account_secrets (expires_at);

-- One row for each browser in which a person is signed in. The secret in the cookie is
-- stored only as a hash.
CREATE TABLE sessions (
    id           TEXT NOT NULL PRIMARY KEY,
    user_id      TEXT NOT NULL REFERENCES users (id),
    hash         BLOB NOT NULL,
    created_at   INTEGER NOT NULL,
    last_used_at INTEGER NOT NULL,
    recent_at    INTEGER NOT NULL,
    user_agent   TEXT NOT NULL,
    address      TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX sessions_hash ON sessions (hash);
CREATE INDEX sessions_user ON sessions (user_id, id);
CREATE INDEX sessions_used ON sessions (last_used_at);

-- The browsers that a person has signed in with. The secret of a browser's device cookie is
-- stored as a hash; several people may share a browser.
CREATE TABLE known_devices (
    id           TEXT NOT NULL PRIMARY KEY,
    user_id      TEXT NOT NULL REFERENCES users (id),
    hash         BLOB NOT NULL,
    network      TEXT NOT NULL,
    address      TEXT NOT NULL,
    user_agent   TEXT NOT NULL,
    announced    INTEGER NOT NULL,
    created_at   INTEGER NOT NULL,
    last_used_at INTEGER NOT NULL
) STRICT;
CREATE INDEX known_devices_user ON known_devices (user_id, hash);
CREATE INDEX known_devices_hash ON known_devices (hash);
CREATE INDEX known_devices_used ON known_devices (last_used_at);

-- The public keys of people's passkeys.
CREATE TABLE passkeys (
    id            TEXT NOT NULL PRIMARY KEY,
    user_id       TEXT NOT NULL REFERENCES users (id),
    name          TEXT NOT NULL,
    credential_id BLOB NOT NULL,
    credential    TEXT NOT NULL,
    created_at    INTEGER NOT NULL,
    last_used_at  INTEGER
) STRICT;
CREATE UNIQUE INDEX passkeys_credential ON passkeys (credential_id);
CREATE INDEX passkeys_user ON passkeys (user_id, id);

-- Challenges of passkey ceremonies in progress.
CREATE TABLE challenges (
    id         TEXT NOT NULL PRIMARY KEY,
    user_id    TEXT REFERENCES users (id) ON DELETE CASCADE,
    data       TEXT NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX challenges_user ON challenges (user_id);
CREATE INDEX challenges_expires ON challenges (expires_at);

-- People's identities at identity providers (OpenID Connect).
CREATE TABLE identities (
    issuer     TEXT NOT NULL,
    subject    TEXT NOT NULL,
    user_id    TEXT NOT NULL REFERENCES users (id),
    created_at INTEGER NOT NULL,
    PRIMARY KEY (issuer, subject)
) STRICT;
CREATE INDEX identities_user ON identities (user_id);

-- ORGANIZATIONS AND WORKSPACES

CREATE TABLE organizations (
    id         TEXT NOT NULL PRIMARY KEY,
    name       TEXT NOT NULL,
    plan       TEXT NOT NULL,
    read_only  INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE workspaces (
    id              TEXT NOT NULL PRIMARY KEY,
    organization_id TEXT NOT NULL REFERENCES organizations (id),
    name            TEXT NOT NULL,
    created_at      INTEGER NOT NULL,
    trashed_at      INTEGER
) STRICT;
CREATE INDEX workspaces_organization ON workspaces (organization_id);

CREATE TABLE workspace_members (
    workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    user_id      TEXT NOT NULL REFERENCES users (id),
    role         TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, user_id)
) STRICT;
CREATE INDEX workspace_members_user ON workspace_members (user_id);

-- A workspace in the trash has no members, so no one can access it. Its former members are
-- kept here until an owner restores it or it is purged.
CREATE TABLE trashed_members (
    workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    user_id      TEXT NOT NULL REFERENCES users (id),
    role         TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX trashed_members_user ON trashed_members (user_id);

-- Invitations to a workspace. An address has at most one open invitation per workspace. An
-- expired invitation stays open until it is renewed or withdrawn. lettered_at is when the
-- last email was sent.
CREATE TABLE invitations (
    id           TEXT NOT NULL PRIMARY KEY,
    workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    email        TEXT NOT NULL,
    role         TEXT NOT NULL,
    invited_by   TEXT REFERENCES users (id),
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER NOT NULL,
    lettered_at  INTEGER,
    accepted_at  INTEGER,
    accepted_by  TEXT REFERENCES users (id),
    withdrawn_at INTEGER
) STRICT;
CREATE INDEX invitations_workspace ON invitations (workspace_id, id);
CREATE INDEX invitations_email ON invitations (email);
CREATE UNIQUE INDEX invitations_open ON invitations (workspace_id, email)
    WHERE accepted_at IS NULL AND withdrawn_at IS NULL;

-- Hashes of the tokens in the emails of an invitation: one for each attempt to send,
-- because any of the attempts may have arrived.
CREATE TABLE invitation_tokens (
    hash          BLOB NOT NULL PRIMARY KEY,
    invitation_id TEXT NOT NULL REFERENCES invitations (id) ON DELETE CASCADE
) STRICT;
CREATE INDEX invitation_tokens_invitation ON invitation_tokens (invitation_id);

-- One row for each invitation email, kept for a day, to limit the emails from one sender
-- and to one address.
CREATE TABLE invitation_emails (
    id         TEXT NOT NULL PRIMARY KEY,
    sent_by    TEXT NOT NULL REFERENCES users (id),
    email      TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX invitation_emails_sent_by ON invitation_emails (sent_by, created_at);
CREATE INDEX invitation_emails_email ON invitation_emails (email, created_at);
CREATE INDEX invitation_emails_created ON invitation_emails (created_at);

-- ACCESS FOR PROGRAMS

CREATE TABLE tokens (
    id           TEXT NOT NULL PRIMARY KEY,
    user_id      TEXT NOT NULL REFERENCES users (id),
    name         TEXT NOT NULL,
    hash         BLOB NOT NULL,
    last_four    TEXT NOT NULL,
    scopes       TEXT NOT NULL,
    workspace_id TEXT REFERENCES workspaces (id) ON DELETE CASCADE,
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER,
    revoked_at   INTEGER,
    last_used_at INTEGER
) STRICT;
CREATE UNIQUE INDEX tokens_hash ON tokens (hash);
CREATE INDEX tokens_user ON tokens (user_id);
CREATE INDEX tokens_workspace ON tokens (workspace_id);

-- Programs that registered themselves (RFC 7591). Programs that no one connects are removed.
CREATE TABLE oauth_clients (
    id            TEXT NOT NULL PRIMARY KEY,
    name          TEXT NOT NULL,
    uri           TEXT NOT NULL,
    redirect_uris TEXT NOT NULL,
    grant_types   TEXT NOT NULL,
    created_at    INTEGER NOT NULL,
    used_at       INTEGER
) STRICT;
CREATE INDEX oauth_clients_used ON oauth_clients (used_at, created_at);

-- Additional data of tokens that were issued to programs by OAuth. The hashes of refresh
-- tokens are NULL if none were issued.
CREATE TABLE oauth_grants (
    token_id   TEXT NOT NULL PRIMARY KEY REFERENCES tokens (id) ON DELETE CASCADE,
    client_id  TEXT NOT NULL,
    host       TEXT NOT NULL,
    resource   TEXT NOT NULL,
    scopes     TEXT NOT NULL,
    family     BLOB,
    refresh    BLOB,
    expires_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX oauth_grants_family ON oauth_grants (family);
CREATE INDEX oauth_grants_expires ON oauth_grants (expires_at);

-- Authorization codes. A used code is kept for a day, so that a second use is detected.
CREATE TABLE oauth_codes (
    hash         BLOB NOT NULL PRIMARY KEY,
    client_id    TEXT NOT NULL,
    client_name  TEXT NOT NULL,
    host         TEXT NOT NULL,
    resource     TEXT NOT NULL,
    scopes       TEXT NOT NULL,
    user_id      TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    workspace_id TEXT REFERENCES workspaces (id) ON DELETE CASCADE,
    refreshes    INTEGER NOT NULL,
    redirect_uri TEXT NOT NULL,
    challenge    TEXT NOT NULL,
    expires_at   INTEGER NOT NULL,
    token_id     TEXT REFERENCES tokens (id) ON DELETE CASCADE
) STRICT;
CREATE INDEX oauth_codes_user ON oauth_codes (user_id);
CREATE INDEX oauth_codes_workspace ON oauth_codes (workspace_id);
CREATE INDEX oauth_codes_token ON oauth_codes (token_id);
CREATE INDEX oauth_codes_expires ON oauth_codes (expires_at);

-- Device authorization requests of programs without a browser (RFC 8628), by the hashes of
-- the device code and of the user code. user_id is the person who responded.
CREATE TABLE oauth_devices (
    id           TEXT NOT NULL PRIMARY KEY,
    hash         BLOB NOT NULL,
    user_code    BLOB NOT NULL,
    client_id    TEXT NOT NULL,
    client_name  TEXT NOT NULL,
    host         TEXT NOT NULL,
    resource     TEXT NOT NULL,
    scopes       TEXT NOT NULL,
    refreshes    INTEGER NOT NULL,
    state        TEXT NOT NULL,
    user_id      TEXT REFERENCES users (id) ON DELETE CASCADE,
    workspace_id TEXT REFERENCES workspaces (id) ON DELETE CASCADE,
    pause        INTEGER NOT NULL,
    polled_at    INTEGER NOT NULL,
    expires_at   INTEGER NOT NULL,
    token_id     TEXT REFERENCES tokens (id) ON DELETE CASCADE
) STRICT;
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
    id                 TEXT NOT NULL PRIMARY KEY,
    workspace_id       TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    name               TEXT NOT NULL,
    visibility         TEXT NOT NULL,
    features           INTEGER NOT NULL,
    version            INTEGER NOT NULL,
    next_number        INTEGER NOT NULL DEFAULT 1,
    open_cards         INTEGER NOT NULL DEFAULT 0,
    all_cards          INTEGER NOT NULL DEFAULT 0,
    open_lists         INTEGER NOT NULL DEFAULT 0,
    archived_at        INTEGER,
    trashed_at         INTEGER,
    created_by         TEXT REFERENCES users (id),
    created_at         INTEGER NOT NULL,
    updated_at         INTEGER NOT NULL,
    description        TEXT NOT NULL,
    color              TEXT,
    text_bytes         INTEGER NOT NULL DEFAULT 0,
    activity_bytes     INTEGER NOT NULL DEFAULT 0,
    counted_at         INTEGER,
    reduced_to         INTEGER NOT NULL DEFAULT 0,
    removed_to         INTEGER NOT NULL DEFAULT 0,
    done_cards         INTEGER NOT NULL DEFAULT 0,
    done_cards_version INTEGER
) STRICT;
CREATE INDEX boards_workspace ON boards (workspace_id);
CREATE INDEX boards_trash ON boards (trashed_at) WHERE trashed_at IS NOT NULL;

CREATE TABLE board_members (
    board_id   TEXT NOT NULL REFERENCES boards (id) ON DELETE CASCADE,
    user_id    TEXT NOT NULL REFERENCES users (id),
    role       TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (board_id, user_id)
) STRICT;
CREATE INDEX board_members_user ON board_members (user_id);

-- A person's relation to a board: whether it is starred and watched, when the person last
-- had it open, and the ids of the collapsed lists, separated by commas. A person who was
-- seen within the last half minute is viewing it now.
CREATE TABLE board_visits (
    user_id   TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    board_id  TEXT NOT NULL REFERENCES boards (id) ON DELETE CASCADE,
    starred   INTEGER NOT NULL DEFAULT 0,
    seen_at   INTEGER,
    collapsed TEXT NOT NULL DEFAULT '',
    watching  INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (user_id, board_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX board_visits_board ON board_visits (board_id, seen_at);
CREATE INDEX board_visits_watching ON board_visits (board_id, user_id) WHERE watching = 1;

-- Templates of a workspace for new boards. Built-in templates are in the code
-- (board.BuiltInTemplates). outline is what a list of templates shows. content is
-- everything that a board is created from: JSON that contains its format version and no
-- ids of people.
CREATE TABLE board_templates (
    id           TEXT NOT NULL PRIMARY KEY,
    workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    name         TEXT NOT NULL,
    description  TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    outline      TEXT NOT NULL,
    content      TEXT NOT NULL
) STRICT;
CREATE INDEX board_templates_workspace ON board_templates (workspace_id, id);

-- What reports count on a board, at one version of the board; see store/summary.go. A
-- summary of an earlier version is not used. Servers write summaries for large workspaces
-- in the background.
CREATE TABLE board_summaries (
    board_id   TEXT NOT NULL PRIMARY KEY REFERENCES boards (id) ON DELETE CASCADE,
    version    INTEGER NOT NULL,
    format     INTEGER NOT NULL,
    counted_at INTEGER NOT NULL,
    unplanned  INTEGER NOT NULL,
    people     BLOB NOT NULL,
    counts     BLOB NOT NULL
) STRICT;
-- Reports on a board's progress. They are never changed. figures contains the board's
-- figures at the time of the report, as JSON.
CREATE TABLE status_updates (
    id          TEXT NOT NULL PRIMARY KEY,
    board_id    TEXT NOT NULL REFERENCES boards (id) ON DELETE CASCADE,
    status      TEXT NOT NULL,
    title       TEXT NOT NULL,
    text        TEXT NOT NULL,
    start_date  TEXT,
    target_date TEXT,
    author_id   TEXT REFERENCES users (id),
    created_at  INTEGER NOT NULL,
    figures     TEXT NOT NULL
) STRICT;
CREATE INDEX status_updates_board ON status_updates (board_id, created_at, id);

-- Public pages of boards, for people without an account. A page is found by the hash of its
-- key. The key itself is encrypted, so that the board's admins can copy the address later.
-- lists contains ids separated by commas.
CREATE TABLE public_pages (
    board_id   TEXT NOT NULL PRIMARY KEY REFERENCES boards (id) ON DELETE CASCADE,
    hash       BLOB NOT NULL,
    secret     BLOB NOT NULL,
    mode       TEXT NOT NULL,
    list_id    TEXT,
    all_lists  INTEGER NOT NULL,
    lists      TEXT NOT NULL,
    comments   INTEGER NOT NULL,
    names      INTEGER NOT NULL,
    welcome    TEXT NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX public_pages_hash ON public_pages (hash);

-- Stored search queries, without their results.
CREATE TABLE saved_filters (
    id           TEXT NOT NULL PRIMARY KEY,
    workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    owner_id     TEXT NOT NULL REFERENCES users (id),
    name         TEXT NOT NULL,
    query        TEXT NOT NULL,
    shared       INTEGER NOT NULL,
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL
) STRICT;
CREATE INDEX saved_filters_workspace ON saved_filters (workspace_id, id);
CREATE INDEX saved_filters_owner ON saved_filters (owner_id);

CREATE TABLE labels (
    id         TEXT NOT NULL PRIMARY KEY,
    board_id   TEXT NOT NULL REFERENCES boards (id) ON DELETE CASCADE,
    name       TEXT NOT NULL,
    color      TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX labels_board ON labels (board_id, name, id);

-- LISTS AND CARDS

CREATE TABLE lists (
    id          TEXT NOT NULL PRIMARY KEY,
    board_id    TEXT NOT NULL REFERENCES boards (id) ON DELETE CASCADE,
    name        TEXT NOT NULL,
    rank        TEXT NOT NULL,
    wip_limit   INTEGER,
    wip_mode    TEXT NOT NULL,
    archived_at INTEGER,
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX lists_rank ON lists (board_id, rank);

-- moved_at is when a card first left the list that it was created in. Without it, a
-- dashboard with 7,000 cards completed in a quarter spends a third of its time on looking
-- this up in the activity. attachments is their number; the cover is the picture on the
-- card's tile.
CREATE TABLE cards (
    id           TEXT NOT NULL PRIMARY KEY,
    board_id     TEXT NOT NULL REFERENCES boards (id) ON DELETE CASCADE,
    list_id      TEXT NOT NULL REFERENCES lists (id) ON DELETE CASCADE,
    rank         TEXT NOT NULL,
    number       INTEGER NOT NULL,
    title        TEXT NOT NULL,
    done_at      INTEGER,
    archived_at  INTEGER,
    due_date     TEXT,
    due_at       INTEGER,
    start_date   TEXT,
    start_at     INTEGER,
    time_zone    TEXT,
    items_done   INTEGER NOT NULL DEFAULT 0,
    items_total  INTEGER NOT NULL DEFAULT 0,
    comments     INTEGER NOT NULL DEFAULT 0,
    created_by   TEXT REFERENCES users (id),
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL,
    description  TEXT NOT NULL,
    moved_at     INTEGER,
    attachments  INTEGER NOT NULL DEFAULT 0,
    cover_id     TEXT,
    cover_width  INTEGER,
    cover_height INTEGER
) STRICT;
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
    card_id  TEXT NOT NULL REFERENCES cards (id) ON DELETE CASCADE,
    label_id TEXT NOT NULL REFERENCES labels (id) ON DELETE CASCADE,
    PRIMARY KEY (card_id, label_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX card_labels_label ON card_labels (label_id, card_id);

CREATE TABLE card_assignees (
    card_id     TEXT NOT NULL REFERENCES cards (id) ON DELETE CASCADE,
    user_id     TEXT NOT NULL REFERENCES users (id),
    assigned_at INTEGER NOT NULL,
    PRIMARY KEY (card_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX card_assignees_user ON card_assignees (user_id, card_id);
-- The latest assignments of a person.
CREATE INDEX card_assignees_recent ON card_assignees (user_id, assigned_at, card_id);

-- Who watches a card (1), and who no longer wants notifications about a card that they
-- would otherwise watch automatically (0).
CREATE TABLE card_watches (
    card_id  TEXT NOT NULL REFERENCES cards (id) ON DELETE CASCADE,
    user_id  TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    watching INTEGER NOT NULL,
    PRIMARY KEY (card_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX card_watches_user ON card_watches (user_id);

CREATE TABLE checklists (
    id         TEXT NOT NULL PRIMARY KEY,
    card_id    TEXT NOT NULL REFERENCES cards (id) ON DELETE CASCADE,
    title      TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX checklists_card ON checklists (card_id, id);

CREATE TABLE checklist_items (
    id           TEXT NOT NULL PRIMARY KEY,
    checklist_id TEXT NOT NULL REFERENCES checklists (id) ON DELETE CASCADE,
    title        TEXT NOT NULL,
    rank         TEXT NOT NULL,
    done_at      INTEGER,
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX checklist_items_rank ON checklist_items (checklist_id, rank);

-- guest_name is the name that a guest of a public page entered; NULL if the author is not a
-- guest.
CREATE TABLE comments (
    id         TEXT NOT NULL PRIMARY KEY,
    card_id    TEXT NOT NULL REFERENCES cards (id) ON DELETE CASCADE,
    author_id  TEXT REFERENCES users (id),
    created_at INTEGER NOT NULL,
    edited_at  INTEGER,
    text       TEXT NOT NULL,
    guest_name TEXT
) STRICT;
CREATE INDEX comments_card ON comments (card_id, id);
-- The authors of the comments on a card, without reading the comments.
CREATE INDEX comments_author ON comments (card_id, author_id);

-- Blobs that the storage for files contains, or that are about to be stored there. A row
-- exists before its blob and is deleted after it. A row without attachments is kept for a
-- day. While removing_at is set, the blob is being removed and must not be used.
CREATE TABLE blobs (
    organization_id TEXT NOT NULL,
    hash            TEXT NOT NULL,
    size            INTEGER NOT NULL,
    stored_at       INTEGER NOT NULL,
    removing_at     INTEGER,
    PRIMARY KEY (organization_id, hash)
) STRICT;
CREATE INDEX blobs_stored ON blobs (stored_at);

-- Files and links on cards. A file has the organization_id and hash of its blob; the
-- organization is the one in which it was uploaded, even after its card has moved. A
-- removed attachment is kept for a day, so that it can be restored.
CREATE TABLE attachments (
    id              TEXT NOT NULL PRIMARY KEY,
    card_id         TEXT NOT NULL REFERENCES cards (id) ON DELETE CASCADE,
    name            TEXT NOT NULL,
    url             TEXT,
    organization_id TEXT,
    hash            TEXT,
    media_type      TEXT,
    size            INTEGER NOT NULL,
    width           INTEGER,
    height          INTEGER,
    created_by      TEXT,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    removed_at      INTEGER
) STRICT;
CREATE INDEX attachments_card ON attachments (card_id, id);
CREATE INDEX attachments_blob ON attachments (organization_id, hash);
CREATE INDEX attachments_removed ON attachments (removed_at) WHERE removed_at IS NOT NULL;

-- Old and new ranks of siblings that were ranked again, so that older cursors can be
-- translated.
CREATE TABLE reranks (
    parent_id TEXT NOT NULL,
    epoch     INTEGER NOT NULL,
    old_rank  TEXT NOT NULL,
    new_rank  TEXT NOT NULL,
    at        INTEGER NOT NULL,
    PRIMARY KEY (parent_id, epoch, old_rank)
) STRICT, WITHOUT ROWID;

-- ACTIVITY

-- One row for each change of a board: (board_id, version) has no gaps. client is the browser
-- tab that caused the change, so that it recognizes its own changes in the stream.
--
-- cause is for automation: 'quiet' if the change sends no events; for a change by a rule,
-- its first cause and the rules since, separated by spaces; otherwise NULL.
CREATE TABLE activity (
    board_id   TEXT NOT NULL REFERENCES boards (id) ON DELETE CASCADE,
    version    INTEGER NOT NULL,
    id         TEXT NOT NULL,
    type       TEXT NOT NULL,
    at         INTEGER NOT NULL,
    actor_type TEXT NOT NULL,
    actor_id   TEXT,
    list_id    TEXT,
    card_id    TEXT,
    changes    TEXT NOT NULL,
    client     TEXT,
    cause      TEXT,
    PRIMARY KEY (board_id, version)
) STRICT;
CREATE INDEX activity_card ON activity (card_id, version);
-- The latest activity of a board.
CREATE INDEX activity_recent ON activity (board_id, at, version);

-- FORMER MEMBERS

-- People without an address (because their account was deleted or they were imported) who
-- were assigned to cards of a workspace. They are not members, so nothing else links the
-- workspace to them. They stay in this table when they have no more cards in the workspace.
CREATE TABLE former_members (
    workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    user_id      TEXT NOT NULL REFERENCES users (id),
    PRIMARY KEY (workspace_id, user_id)
) STRICT, WITHOUT ROWID;

-- +goose StatementBegin
CREATE TRIGGER card_assignees_former AFTER INSERT ON card_assignees
WHEN (SELECT u.email IS NULL FROM users u WHERE u.id = new.user_id) BEGIN
    INSERT INTO former_members (workspace_id, user_id) SELECT b.workspace_id, new.user_id
        FROM cards c JOIN boards b ON b.id = c.board_id WHERE c.id = new.card_id
        AND NOT EXISTS (SELECT 1 FROM former_members f WHERE f.workspace_id = b.workspace_id AND f.user_id = new.user_id);
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER users_former AFTER UPDATE OF email ON users WHEN new.email IS NULL AND old.email IS NOT NULL BEGIN
    INSERT INTO former_members (workspace_id, user_id) SELECT DISTINCT b.workspace_id, new.id
        FROM card_assignees k JOIN cards c ON c.id = k.card_id JOIN boards b ON b.id = c.board_id WHERE k.user_id = new.id
        AND NOT EXISTS (SELECT 1 FROM former_members f WHERE f.workspace_id = b.workspace_id AND f.user_id = new.id);
END;
-- +goose StatementEnd

-- SEARCH

-- The searchable texts of cards: one row for a card's title (place 'title'), its
-- description, each comment, and each title of a checklist or item (place 'checklist'). ref
-- is the id of the comment, checklist or item, and '' for the card itself. words contains
-- the words that query.Words extracts, with one space before, between and after them.
CREATE TABLE texts (
    id      INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    card_id TEXT NOT NULL REFERENCES cards (id) ON DELETE CASCADE,
    place   TEXT NOT NULL,
    ref     TEXT NOT NULL,
    words   TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX texts_card ON texts (card_id, place, ref);

-- The search index. The ascii tokenizer splits at ASCII characters other than letters and
-- digits. In words, these are only the spaces, so the result does not depend on SQLite's
-- Unicode version. The index stores the positions of words, so that it finds a phrase of
-- common words without reading all texts that contain the words.
CREATE VIRTUAL TABLE texts_words USING fts5 (
    words, content = '', contentless_delete = 1, tokenize = 'ascii', detail = full
);
INSERT INTO texts_words (texts_words, rank) VALUES ('automerge', 8);

-- What the index contains. Each term is the end of a workspace's id followed by a word. So
-- a search reads only the texts of the caller's workspaces, however many others there are.
-- Workspaces whose ids end in the same characters share terms; this is safe, because the
-- index only finds candidates.
CREATE VIEW texts_by_workspace (id, card_id, words) AS
SELECT t.id, t.card_id, replace(rtrim(t.words), ' ', ' ' || COALESCE((SELECT substr(b.workspace_id, -8)
    FROM cards c JOIN boards b ON b.id = c.board_id WHERE c.id = t.card_id), ''))
FROM texts t;

-- The last indexed text. For a short card, adding a row to the index costs more than
-- inserting the card, but adding 64 rows at once costs little more than adding one. So
-- texts are indexed 64 at a time, and a search reads the few newer texts directly.
-- AUTOINCREMENT never reuses an id, and a changed text gets a new id.
CREATE TABLE texts_indexed (
    upto INTEGER NOT NULL
) STRICT;
INSERT INTO texts_indexed (upto) VALUES (0);

-- Deleted texts that are still in the index. The index only finds candidates, so they do no
-- harm until the next 64 texts are indexed, when they are removed.
CREATE TABLE texts_gone (
    id INTEGER NOT NULL PRIMARY KEY
) STRICT;

-- The triggers also run for rows that ON DELETE CASCADE deletes.
-- +goose StatementBegin
CREATE TRIGGER texts_inserted AFTER INSERT ON texts WHEN new.id >= (SELECT upto FROM texts_indexed) + 64 BEGIN
    INSERT INTO texts_words (rowid, words) SELECT id, words FROM texts_by_workspace WHERE id > (SELECT upto FROM texts_indexed);
    UPDATE texts_indexed SET upto = new.id;
    DELETE FROM texts_words WHERE rowid IN (SELECT id FROM texts_gone ORDER BY id LIMIT 256);
    DELETE FROM texts_gone WHERE id IN (SELECT id FROM texts_gone ORDER BY id LIMIT 256);
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER texts_deleted AFTER DELETE ON texts WHEN old.id <= (SELECT upto FROM texts_indexed) BEGIN
    INSERT INTO texts_gone (id) VALUES (old.id);
END;
-- +goose StatementEnd

-- A card that moves to another workspace is indexed there, and its people without an
-- address are added there.
-- +goose StatementBegin
CREATE TRIGGER cards_workspace AFTER UPDATE OF board_id ON cards
WHEN (SELECT workspace_id FROM boards WHERE id = old.board_id) IS NOT (SELECT workspace_id FROM boards WHERE id = new.board_id) BEGIN
    DELETE FROM texts_words WHERE rowid IN (SELECT id FROM texts WHERE card_id = new.id AND id <= (SELECT upto FROM texts_indexed));
    INSERT INTO texts_words (rowid, words) SELECT id, words FROM texts_by_workspace
        WHERE card_id = new.id AND id <= (SELECT upto FROM texts_indexed);
    INSERT INTO former_members (workspace_id, user_id) SELECT b.workspace_id, k.user_id
        FROM boards b, card_assignees k JOIN users u ON u.id = k.user_id
        WHERE b.id = new.board_id AND k.card_id = new.id AND u.email IS NULL
        AND NOT EXISTS (SELECT 1 FROM former_members f WHERE f.workspace_id = b.workspace_id AND f.user_id = k.user_id);
END;
-- +goose StatementEnd

-- WEBHOOKS

-- A webhook sends the events of one board or, without board_id, of every board that the
-- whole workspace can see. Addresses and secrets are encrypted. held_until is the end of the
-- pause that the receiver asked for. It is valid only while held_since is set.
CREATE TABLE webhooks (
    id               TEXT NOT NULL PRIMARY KEY,
    organization_id  TEXT NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    workspace_id     TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    board_id         TEXT REFERENCES boards (id) ON DELETE CASCADE,
    owner_id         TEXT NOT NULL REFERENCES users (id),
    name             TEXT NOT NULL,
    events           TEXT NOT NULL,
    platform         TEXT NOT NULL,
    host             TEXT NOT NULL,
    last_four        TEXT NOT NULL,
    address          BLOB NOT NULL,
    secret           BLOB NOT NULL,
    old_secret       BLOB,
    old_secret_until INTEGER,
    off              TEXT NOT NULL,
    off_at           INTEGER,
    failures         INTEGER NOT NULL DEFAULT 0,
    held_since       INTEGER,
    created_at       INTEGER NOT NULL,
    updated_at       INTEGER NOT NULL,
    held_until       INTEGER
) STRICT;
CREATE INDEX webhooks_workspace ON webhooks (workspace_id, id);
CREATE INDEX webhooks_board ON webhooks (board_id);
CREATE INDEX webhooks_covers ON webhooks (workspace_id, board_id, id);
CREATE INDEX webhooks_organization ON webhooks (organization_id);
CREATE INDEX webhooks_owner ON webhooks (owner_id);

-- The outbox: deliveries, written in the transaction of the change. A delivery is open as
-- long as due_at has the time of its next attempt. It has no foreign key to its webhook, so
-- that deleting a webhook cannot make a change to a card fail.
CREATE TABLE deliveries (
    id          TEXT NOT NULL PRIMARY KEY,
    webhook_id  TEXT NOT NULL,
    board_id    TEXT,
    version     INTEGER NOT NULL,
    kind        TEXT NOT NULL,
    status      TEXT NOT NULL,
    retry       INTEGER NOT NULL DEFAULT 0,
    due_at      INTEGER,
    attempts    INTEGER NOT NULL DEFAULT 0,
    switches_on TEXT,
    reason      TEXT NOT NULL,
    http_status INTEGER,
    created_at  INTEGER NOT NULL,
    ended_at    INTEGER,
    log         TEXT NOT NULL,
    body        TEXT NOT NULL
) STRICT;
CREATE INDEX deliveries_webhook ON deliveries (webhook_id, id);
CREATE INDEX deliveries_open ON deliveries (webhook_id, retry, due_at) WHERE due_at IS NOT NULL;

-- Number of deliveries of an organization per day (UTC).
CREATE TABLE delivery_days (
    organization_id TEXT NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    day             TEXT NOT NULL,
    used            INTEGER NOT NULL,
    PRIMARY KEY (organization_id, day)
) STRICT;

-- AUTOMATION

-- Automation rules. The definition is JSON. off is the reason why a rule is switched off, and
-- empty while it is on. Changes up to the version in since, and times up to watched_at,
-- don't trigger the rule.
CREATE TABLE rules (
    id         TEXT NOT NULL PRIMARY KEY,
    board_id   TEXT NOT NULL REFERENCES boards (id) ON DELETE CASCADE,
    owner_id   TEXT NOT NULL REFERENCES users (id),
    name       TEXT NOT NULL,
    timed      INTEGER NOT NULL,
    definition TEXT NOT NULL,
    off        TEXT NOT NULL,
    off_at     INTEGER,
    since      INTEGER NOT NULL,
    watched_at INTEGER NOT NULL,
    failures   INTEGER NOT NULL DEFAULT 0,
    last_run   INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX rules_board ON rules (board_id, id);
CREATE INDEX rules_owner ON rules (owner_id);
CREATE INDEX rules_timed ON rules (board_id) WHERE timed = 1 AND off = '';

-- The runs of rules, written in the transaction of their actions. A rule runs once per
-- event.
CREATE TABLE rule_runs (
    id       TEXT NOT NULL PRIMARY KEY,
    rule_id  TEXT NOT NULL REFERENCES rules (id) ON DELETE CASCADE,
    board_id TEXT NOT NULL REFERENCES boards (id) ON DELETE CASCADE,
    event    TEXT NOT NULL,
    kind     TEXT NOT NULL,
    card_id  TEXT,
    root     TEXT NOT NULL,
    at       INTEGER NOT NULL,
    status   TEXT NOT NULL,
    reason   TEXT NOT NULL,
    actions  INTEGER NOT NULL,
    version  INTEGER
) STRICT;
CREATE UNIQUE INDEX rule_runs_event ON rule_runs (rule_id, event);
CREATE INDEX rule_runs_board ON rule_runs (board_id, id);
CREATE INDEX rule_runs_card ON rule_runs (card_id, at);
CREATE INDEX rule_runs_root ON rule_runs (root);

-- Boards with an active rule: the version up to which their changes are processed, and
-- which server has claimed the board until when.
CREATE TABLE automation_boards (
    board_id TEXT NOT NULL PRIMARY KEY REFERENCES boards (id) ON DELETE CASCADE,
    handled  INTEGER NOT NULL,
    holder   TEXT NOT NULL DEFAULT '',
    until    INTEGER NOT NULL DEFAULT 0
) STRICT;

-- Number of runs of an organization per day (UTC).
CREATE TABLE automation_days (
    organization_id TEXT NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    day             TEXT NOT NULL,
    used            INTEGER NOT NULL,
    PRIMARY KEY (organization_id, day)
) STRICT;

-- NOTIFICATIONS AND EMAILS

-- One row per person and event. A row about a card has no board, because the card can move.
-- Whether the person may see it is checked whenever the row is read. letter_id is the id of
-- the email.
CREATE TABLE notifications (
    id         TEXT NOT NULL PRIMARY KEY,
    user_id    TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    kind       TEXT NOT NULL,
    event      TEXT NOT NULL,
    board_id   TEXT REFERENCES boards (id) ON DELETE CASCADE,
    card_id    TEXT REFERENCES cards (id) ON DELETE CASCADE,
    comment_id TEXT REFERENCES comments (id) ON DELETE CASCADE,
    actor_type TEXT NOT NULL,
    actor_id   TEXT,
    reminder   TEXT,
    once       TEXT,
    created_at INTEGER NOT NULL,
    read_at    INTEGER,
    way        TEXT NOT NULL,
    mail_at    INTEGER,
    letter_id  TEXT
) STRICT;
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
    user_id     TEXT NOT NULL PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    ways        TEXT NOT NULL,
    mail        INTEGER NOT NULL,
    quiet_from  TEXT,
    quiet_until TEXT,
    digest_hour INTEGER,
    reminders   TEXT NOT NULL,
    remind_hour INTEGER NOT NULL
) STRICT;

-- Calendar feeds of people's due dates, found by the hash of the token in the address. If
-- boards is empty, a feed contains the cards assigned to the person.
CREATE TABLE calendar_feeds (
    user_id    TEXT NOT NULL PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    hash       BLOB NOT NULL,
    boards     TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX calendar_feeds_hash ON calendar_feeds (hash);

-- The queue of emails, without their text. An email is composed when it is sent, together
-- with the secret in its link, so the secret is never stored.
CREATE TABLE emails (
    id         TEXT NOT NULL PRIMARY KEY,
    kind       TEXT NOT NULL,
    about      TEXT NOT NULL,
    attempts   INTEGER NOT NULL DEFAULT 0,
    due_at     INTEGER NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX emails_about ON emails (kind, about);
CREATE INDEX emails_due ON emails (due_at, id);

-- JOBS

-- Long work: imports, copies of large boards and boards from large templates.
CREATE TABLE jobs (
    id              TEXT NOT NULL PRIMARY KEY,
    kind            TEXT NOT NULL,
    state           TEXT NOT NULL,
    owner_id        TEXT NOT NULL REFERENCES users (id),
    organization_id TEXT NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    workspace_id    TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    name            TEXT NOT NULL,
    caller          TEXT NOT NULL,
    input           TEXT NOT NULL,
    result          TEXT,
    fault           TEXT,
    parts           INTEGER,
    written         INTEGER NOT NULL DEFAULT 0,
    done            INTEGER NOT NULL DEFAULT 0,
    total           INTEGER NOT NULL DEFAULT 0,
    tries           INTEGER NOT NULL DEFAULT 0,
    holder          TEXT NOT NULL DEFAULT '',
    until           INTEGER NOT NULL DEFAULT 0,
    created_at      INTEGER NOT NULL,
    started_at      INTEGER,
    ended_at        INTEGER
) STRICT;
CREATE INDEX jobs_owner ON jobs (owner_id, id);
CREATE INDEX jobs_organization ON jobs (organization_id, started_at);
CREATE INDEX jobs_workspace ON jobs (workspace_id, id);
CREATE INDEX jobs_open ON jobs (created_at) WHERE ended_at IS NULL;
CREATE INDEX jobs_ended ON jobs (ended_at) WHERE ended_at IS NOT NULL;

-- The parts of a job's draft, in the order in which they are written. Each part is written
-- in one transaction.
CREATE TABLE job_parts (
    job_id TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    part   INTEGER NOT NULL,
    body   BLOB NOT NULL,
    PRIMARY KEY (job_id, part)
) STRICT;

-- The boards that a job creates. Until the job is complete, they are in the trash and hidden
-- there.
CREATE TABLE job_boards (
    job_id   TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    board_id TEXT NOT NULL REFERENCES boards (id) ON DELETE CASCADE,
    PRIMARY KEY (job_id, board_id)
) STRICT;
CREATE INDEX job_boards_board ON job_boards (board_id);

-- The lists that jobs create. Until a list is complete, it is archived and hidden there. Its
-- cards get consecutive numbers from first_number.
CREATE TABLE job_lists (
    list_id      TEXT NOT NULL PRIMARY KEY REFERENCES lists (id) ON DELETE CASCADE,
    job_id       TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    board_id     TEXT NOT NULL REFERENCES boards (id) ON DELETE CASCADE,
    first_number INTEGER NOT NULL DEFAULT 0,
    cards        INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX job_lists_job ON job_lists (job_id);
CREATE INDEX job_lists_board ON job_lists (board_id);

-- The versions of a board, from first to last, that a change has reserved and whose activity
-- entries a job is still writing. written is the number of parts written so far.
CREATE TABLE pending_activity (
    job_id       TEXT NOT NULL PRIMARY KEY REFERENCES jobs (id) ON DELETE CASCADE,
    board_id     TEXT NOT NULL REFERENCES boards (id) ON DELETE CASCADE,
    first        INTEGER NOT NULL,
    last         INTEGER NOT NULL,
    at           INTEGER NOT NULL,
    list_id      TEXT NOT NULL,
    first_number INTEGER NOT NULL,
    used         TEXT NOT NULL,
    written      INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX pending_activity_board ON pending_activity (board_id, first);

-- The lists that jobs are moving from one board to another. Cards in transit are in the list
-- hidden_id of the first board. Until the move is complete, no one else can change the list.
CREATE TABLE list_moves (
    job_id    TEXT NOT NULL PRIMARY KEY REFERENCES jobs (id) ON DELETE CASCADE,
    list_id   TEXT NOT NULL REFERENCES lists (id) ON DELETE CASCADE,
    hidden_id TEXT NOT NULL REFERENCES lists (id) ON DELETE CASCADE,
    from_id   TEXT NOT NULL REFERENCES boards (id) ON DELETE CASCADE,
    to_id     TEXT NOT NULL REFERENCES boards (id) ON DELETE CASCADE
) STRICT;
CREATE INDEX list_moves_list ON list_moves (list_id);
CREATE INDEX list_moves_hidden ON list_moves (hidden_id);
CREATE INDEX list_moves_from ON list_moves (from_id);
CREATE INDEX list_moves_to ON list_moves (to_id);
