package mcp

const instructions = `Cardwall manages work: workspaces hold boards, boards hold lists, lists hold cards.`
