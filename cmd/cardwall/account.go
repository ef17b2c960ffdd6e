package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"cardwall/internal/account"
	"cardwall/internal/app"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

type userCommand struct {
	Add userAddCommand `cmd:"" help:"Create an account and print its id."`
}

type userAddCommand struct {
	Email         string `required:"" help:"Email address to sign in with."`
	Name          string `required:"" help:"Name shown to others."`
	TimeZone      string `default:"UTC" help:"IANA time zone, such as Europe/Berlin (default ${default})."`
	PasswordStdin bool   `help:"Read the password from standard input. Without this flag the account has no password."`
}

func (userAddCommand) Help() string {
	return "Example:\n" +
		"  echo 'correct horse battery' | " +
		"cardwall user add --email ada@example.com --name 'Ada Lovelace' --password-stdin"
}

func (c *userAddCommand) Run(ctx context.Context, g *globals) error {
	in := app.NewUser{Email: c.Email, Name: c.Name, TimeZone: c.TimeZone}
	if c.PasswordStdin {
		line, err := bufio.NewReader(g.stdin).ReadString('\n')
		if err != nil && line == "" {
			return errors.New("standard input contains no password")
		}
		if in.PasswordHash, err = account.HashPassword(strings.TrimRight(line, "\r\n"), c.Email, c.Name); err != nil {
			return err
		}
	}
	return g.write(ctx, board.System(), func(tx *store.Tx) error {
		u, err := app.AddUser(ctx, tx, in)
		if err == nil {
			g.print("%s", u.ID)
		}
		return err
	})
}

type tokenCommand struct {
	Add    tokenAddCommand    `cmd:"" help:"Create an API token and print it. It cannot be shown again."`
	Revoke tokenRevokeCommand `cmd:"" help:"Revoke an API token."`
	List   tokenListCommand   `cmd:"" help:"List a person's active API tokens."`
}

type tokenAddCommand struct {
	User      string        `required:"" placeholder:"EMAIL" help:"Owner of the token."`
	Name      string        `required:"" help:"Name that says what the token is for."`
	Scopes    []string      `default:"read" help:"Scopes: read, write, admin. The read scope is always included (default ${default})."`
	Workspace string        `placeholder:"ID" help:"Limit the token to one workspace."`
	ExpiresIn time.Duration `placeholder:"DURATION" help:"Time until the token expires, such as 720h (default: never)."`
}

func (tokenAddCommand) Help() string {
	return "Example:\n" +
		"  cardwall token add --user ada@example.com --name 'Deploy script' --scopes read,write --expires-in 720h"
}

func (c *tokenAddCommand) Run(ctx context.Context, g *globals) error {
	scopes, err := board.ParseScopes(c.Scopes)
	if err != nil {
		return err
	}
	return g.withStore(ctx, func(db *store.DB) error {
		u, err := c.owner(ctx, db)
		if err != nil {
			return err
		}
		in := app.NewToken{Name: c.Name, Scopes: scopes, WorkspaceID: c.Workspace}
		if c.ExpiresIn != 0 {
			at := board.InstantOf(db.Now().Add(c.ExpiresIn))
			in.ExpiresAt = &at
		}
		var text string
		if err := db.Write(ctx, board.Person(u.ID), func(tx *store.Tx) (err error) {
			_, text, err = app.AddToken(ctx, tx, in)
			return err
		}); err != nil {
			if board.IsCode(err, board.CodeNotFound) {
				return fmt.Errorf("%s is not a member of workspace %s", u.Email, c.Workspace)
			}
			return err
		}
		g.print("%s", text)
		return nil
	})
}

func (c *tokenAddCommand) owner(ctx context.Context, db *store.DB) (u board.User, err error) {
	err = db.Read(ctx, board.System(), func(v *store.View) error {
		u, err = userByEmail(ctx, v, c.User)
		return err
	})
	return u, err
}

type tokenRevokeCommand struct {
	ID string `arg:"" help:"Id of the token (tok_…)."`
}

func (c *tokenRevokeCommand) Run(ctx context.Context, g *globals) error {
	err := g.write(ctx, board.System(), func(tx *store.Tx) error { return tx.RevokeToken(ctx, c.ID) })
	if board.IsCode(err, board.CodeNotFound) {
		return fmt.Errorf("there is no active token %s", c.ID)
	}
	return err
}

type tokenListCommand struct {
	User string `required:"" placeholder:"EMAIL" help:"Owner of the tokens."`
}

func (c *tokenListCommand) Run(ctx context.Context, g *globals) error {
	return g.withStore(ctx, func(db *store.DB) error {
		return db.Read(ctx, board.System(), func(v *store.View) error {
			u, err := userByEmail(ctx, v, c.User)
			if err != nil {
				return err
			}
			tokens, err := v.Tokens(ctx, u.ID)
			for _, t := range tokens {
				g.print("%s  …%s  %s  %s", t.ID, t.LastFour, joinScopes(t.Scopes), t.Name)
			}
			return err
		})
	})
}

func joinScopes(scopes []board.Scope) string {
	names := make([]string, len(scopes))
	for i, s := range scopes {
		names[i] = string(s)
	}
	return strings.Join(names, ",")
}
