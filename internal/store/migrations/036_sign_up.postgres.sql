-- +goose Up
SET LOCAL lock_timeout = '10s';

-- Whether a person is an operator. The person who sets up the server becomes one.
ALTER TABLE users ADD COLUMN operator BIGINT NOT NULL DEFAULT 0;

-- One row for each invitation email, kept for a day, to limit the emails from one
-- sender and to one address.
CREATE TABLE invitation_emails (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    sent_by    TEXT COLLATE "C" NOT NULL REFERENCES users (id),
    email      TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX invitation_emails_sent_by ON invitation_emails (sent_by, created_at);
CREATE INDEX invitation_emails_email ON invitation_emails (email, created_at);
CREATE INDEX invitation_emails_created ON invitation_emails (created_at);
