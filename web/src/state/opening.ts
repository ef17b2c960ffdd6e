// Asks for the board of the address before the application stands, so that its
// data and its code come side by side.
import { app, data } from '../api/client'
import type { OpenedBoard } from '../api/contract'

type Asked = { boardId: string; opened: Promise<OpenedBoard>; come?: OpenedBoard }

let early: Asked | null = null

/** Begins to open the board that an address names, if it names one. */
export function openEarly(path: string): void {
  const boardId = /^\/boards\/(\w+)$/.exec(path)?.[1]
  if (!boardId) return
  const asked: Asked = { boardId, opened: ask(boardId) }
  early = asked
  asked.opened.then(
    (opened) => (asked.come = opened),
    () => (early = null), // perhaps nobody is signed in yet
  )
}

/** What was asked for early, once, if it is there already. */
export function openedEarly(boardId: string): OpenedBoard | null {
  if (early?.boardId !== boardId || !early.come) return null
  const { come } = early
  early = null
  return come
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
