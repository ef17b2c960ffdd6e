package main

import (
	"context"
	"strconv"

	"cardwall/clients/go"
)

// boardsCommand works with the boards of a server, through its API.
type boardsCommand struct {
	List   boardsListCommand   `cmd:"" help:"List the boards that you can see."`
	Create boardsCreateCommand `cmd:"" help:"Create a board, and print its id."`
}

type boardsListCommand struct {
	Workspace string `env:"-" placeholder:"WORKSPACE" help:"Only boards of this workspace: its id or name."`
	Archived  bool   `env:"-" help:"Include archived boards."`
	listFlags
	remoteFlags
}

func (c boardsListCommand) Run(ctx context.Context, g *globals) error {
	client, err := c.client(ctx, g)
	if err != nil {
		return err
	}
	params := cardwall.ListBoardsParams{IncludeArchived: c.Archived}
	if c.Workspace != "" {
		if params.WorkspaceID, err = findWorkspace(ctx, client, c.Workspace); err != nil {
			return err
		}
	}
	boards := client.IterateBoards(ctx, params)
	return printList(g, c.listFlags, boards, []string{"ID", "NAME", "OPEN CARDS", "ROLE"}, func(b cardwall.Board) []string {
		return []string{b.ID, b.Name, strconv.FormatInt(b.OpenCards, 10), b.Role}
	})
}

type boardsCreateCommand struct {
	Name      string   `arg:"" help:"Name of the board."`
	Workspace string   `env:"-" placeholder:"WORKSPACE" help:"Workspace of the board: its id or name. Required if you are in several."`
	List      []string `env:"-" sep:"none" placeholder:"NAME" help:"List to create on the board. Can be repeated."`
	outputFlags
	remoteFlags
}

func (c boardsCreateCommand) Run(ctx context.Context, g *globals) error {
	client, err := c.client(ctx, g)
	if err != nil {
		return err
	}
	workspace, err := findWorkspace(ctx, client, c.Workspace)
	if err != nil {
		return err
	}
	params := cardwall.CreateBoardParams{WorkspaceID: workspace, Name: c.Name}
	for _, name := range c.List {
		params.Lists = append(params.Lists, cardwall.NewList{Name: name})
	}
	board, err := client.CreateBoard(ctx, params)
	if err != nil {
		return err
	}
	return printRecord(g, c.outputFlags, board.Data.ID, board.Data)
}
