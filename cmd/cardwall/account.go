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
	Add userAddCommand `cmd:"" help:"Make an account; prints its id."`
}

type userAddCommand struct {
	Email         string `required:"" help:"Address to sign in with."`
	Name          string `required:"" help:"Name shown to others."`
	TimeZone      string `default:"UTC" help:"IANA time zone, such as Europe/Berlin."`
	PasswordStdin bool   `help:"Read the password from standard input; without it the account has none."`
}

func (userAddCommand) Help() string {
	return "Example:\n  echo 'correct horse battery' | cardwall user add --email ada@example.com --name 'Ada Lovelace' --password-stdin"
}

func (c *userAddCommand) Run(ctx context.Context, g *globals) error {
	in := app.NewUser{Email: c.Email, Name: c.Name, TimeZone: c.TimeZone}
	if c.PasswordStdin {
		line, err := bufio.NewReader(g.stdin).ReadString('\n')
		if err != nil && line == "" {
			return errors.New("no password came on standard input")
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
	Add    tokenAddCommand    `cmd:"" help:"Make an API token; prints it, once."`
	Revoke tokenRevokeCommand `cmd:"" help:"End an API token."`
	List   tokenListCommand   `cmd:"" help:"List a person's tokens that work."`
}

type tokenAddCommand struct {
	User      string        `required:"" placeholder:"EMAIL" help:"Owner of the token."`
	Name      string        `required:"" help:"What it is for."`
	Scopes    []string      `default:"read" help:"What it allows: read, write, admin; read is always among them."`
	Workspace string        `placeholder:"ID" help:"Limit it to one workspace."`
	ExpiresIn time.Duration `placeholder:"DURATION" help:"When it stops working, such as 720h; never when absent."`
}

func (tokenAddCommand) Help() string {
	return "Example:\n  cardwall token add --user ada@example.com --name 'Deploy script' --scopes read,write --expires-in 720h"
}

func (c *tokenAddCommand) Run(ctx context.Context, g *globals) error {
	scopes, err := board.ParseScopes(c.Scopes)
	if err != nil {
		return err
	}
	return g.with(ctx, func(db *store.DB) error {
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
				return fmt.Errorf("%s is in no workspace %s", u.Email, c.Workspace)
			}
			return err
		}
		g.print("%s", text)
		return nil
	})
}

func (c *tokenAddCommand) owner(ctx context.Context, db *store.DB) (u board.User, err error) {
	err = db.Read(ctx, board.System(), func(v *store.View) error {
		u, err = owner(ctx, v, c.User)
		return err
	})
	return u, err
}

type tokenRevokeCommand struct {
	ID string `arg:"" help:"The token's id (tok_…)."`
}

func (c *tokenRevokeCommand) Run(ctx context.Context, g *globals) error {
	err := g.write(ctx, board.System(), func(tx *store.Tx) error { return tx.RevokeToken(ctx, c.ID) })
	if board.IsCode(err, board.CodeNotFound) {
		return fmt.Errorf("there is no working token %s", c.ID)
	}
	return err
}

type tokenListCommand struct {
	User string `required:"" placeholder:"EMAIL" help:"Owner of the tokens."`
}

func (c *tokenListCommand) Run(ctx context.Context, g *globals) error {
	return g.with(ctx, func(db *store.DB) error {
		return db.Read(ctx, board.System(), func(v *store.View) error {
			u, err := owner(ctx, v, c.User)
			if err != nil {
				return err
			}
			tokens, err := v.Tokens(ctx, u.ID)
			for _, t := range tokens {
				g.print("%s  …%s  %v  %s", t.ID, t.LastFour, t.Scopes, t.Name)
			}
			return err
		})
	})
}
