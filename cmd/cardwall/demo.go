package main

import (
	"context"
	"crypto/rand"
	"strings"

	"cardwall/internal/account"
	"cardwall/internal/app"
	"cardwall/internal/board"
	"cardwall/internal/rest"
	"cardwall/internal/store"
)

type demoCommand struct{}

func (demoCommand) Run(ctx context.Context, g *globals) error {
	return g.withStore(ctx, func(db *store.DB) error { return fillDemo(ctx, g, db) })
}

const (
	demoEmail = "demo@example.com"
	demoToken = "Demo"
)

// fillDemo creates the demo account and its boards unless they already exist. It
// sets a new password, replaces the demo token and prints both.
func fillDemo(ctx context.Context, g *globals, db *store.DB) error {
	password := strings.ToLower(rand.Text()[:16])
	hash, err := account.HashPassword(password)
	if err != nil {
		return err
	}
	var u board.User
	err = db.Write(ctx, board.System(), func(tx *store.Tx) (err error) {
		if u, err = demoUser(ctx, tx, demoEmail, "Demo Person"); err != nil {
			return err
		}
		return tx.SetPassword(ctx, u.ID, hash)
	})
	if err != nil {
		return err
	}
	boardID, err := demoWorld(ctx, db, u)
	if err != nil {
		return err
	}
	var token string
	err = db.Write(ctx, board.Person(u.ID), func(tx *store.Tx) (err error) {
		if _, err := tx.RevokeTokens(ctx, u.ID, demoToken); err != nil {
			return err
		}
		_, token, err = app.AddToken(ctx, tx, app.NewToken{
			Name: demoToken, Scopes: []board.Scope{board.ScopeRead, board.ScopeWrite, board.ScopeAdmin},
		})
		return err
	})
	if err != nil {
		return err
	}
	g.print("Sign in at   %s", g.BaseURL)
	g.print("  email      %s", demoEmail)
	g.print("  password   %s", password)
	g.print("API token    %s", token)
	g.print("Reference    %s/docs", g.BaseURL)
	g.print("Try it:\n  curl -s -H 'Authorization: Bearer %s' '%s%s/boards/%s/cards?limit=3&view=compact'",
		token, g.BaseURL, rest.Prefix, boardID)
	return nil
}

// demoUser returns the account with the given email address. If there is none, it
// creates one without a password. Nobody can sign in to it until a password is set.
func demoUser(ctx context.Context, tx *store.Tx, email, name string) (board.User, error) {
	u, err := tx.UserByEmail(ctx, email)
	if board.IsCode(err, board.CodeNotFound) {
		u, err = app.AddUser(ctx, tx, app.NewUser{Email: email, Name: name})
	}
	return u, err
}
