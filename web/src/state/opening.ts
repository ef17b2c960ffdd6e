// Asks for the board of the address before the application stands, so that its
// data and its code come side by side.
import { app, data } from '../api/client'
import type { OpenedBoard } from '../api/contract'

let early: { boardId: string; opened: Promise<OpenedBoard> } | null = null

/** Begins to open the board that an address names, if it names one. */
export function openEarly(path: string): void {
  const boardId = /^\/boards\/(\w+)$/.exec(path)?.[1]
  if (!boardId) return
  const opened = ask(boardId)
  early = { boardId, opened }
  opened.catch(() => (early = null)) // perhaps nobody is signed in yet
}

/** A board with all that the page shows of it; what was asked for early is given once. */
export function openBoard(boardId: string): Promise<OpenedBoard> {
  const asked = early
  early = null
  return asked?.boardId === boardId ? asked.opened : ask(boardId)
}

function ask(boardId: string): Promise<OpenedBoard> {
  return data(app.GET('/boards/{boardId}/open', { params: { path: { boardId } } }))
}
