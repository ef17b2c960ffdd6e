-- +goose Up
-- Whether a person is an operator. The person who sets up the server becomes one.
ALTER TABLE users ADD COLUMN operator INTEGER NOT NULL DEFAULT 0;

-- One row for each invitation email, kept for a day, to limit the emails from one
-- sender and to one address.
CREATE TABLE invitation_emails (
    id         TEXT NOT NULL PRIMARY KEY,
    sent_by    TEXT NOT NULL REFERENCES users (id),
    email      TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX invitation_emails_sent_by ON invitation_emails (sent_by, created_at);
CREATE INDEX invitation_emails_email ON invitation_emails (email, created_at);
CREATE INDEX invitation_emails_created ON invitation_emails (created_at);
