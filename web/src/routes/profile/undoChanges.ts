// Undoes what an app or a program has changed on boards.
import { api, data, reason } from '../../api/client'
import type { components } from '../../api/schema'

export type OwnCall = components['schemas']['OwnCall']
type Undone = components['schemas']['Undone']

/** The calls that changed a board, newest first. */
export type BoardCalls = { id: string; name: string; calls: OwnCall[]; changes: number }

/** Groups calls by board, the board that was changed last first. Leaves out undos. */
export function byBoard(calls: readonly OwnCall[]): BoardCalls[] {
  const boards = new Map<string, BoardCalls>()
  for (const call of calls) {
    if (call.operation === 'undo_changes') continue
    const board = boards.get(call.boardId) ?? { id: call.boardId, name: call.boardName, calls: [], changes: 0 }
    board.calls.push(call)
    board.changes += call.changes
    boards.set(call.boardId, board)
  }
  return [...boards.values()]
}

// What one request can undo.
const maxCalls = 100
const maxChanges = 500

/** Splits calls into parts that one request each can undo. Returns their ids. */
export function requestParts(calls: readonly OwnCall[]): string[][] {
  const parts: string[][] = []
  let changes = 0
  for (const call of calls) {
    changes += call.changes
    const last = parts.at(-1)
    if (last && last.length < maxCalls && changes <= maxChanges) {
      last.push(call.id)
      continue
    }
    parts.push([call.id])
    changes = call.changes
  }
  return parts
}

/** The result of undoing calls on a board. */
export type BoardResult = Pick<BoardCalls, 'id' | 'name'> &
  Omit<Undone, 'callId'> & {
    /** The ids of the undos, newest first. */
    undos: string[]
    /** Why the undo stopped, or null. */
    problem: string | null
  }

/** Undoes calls on a board, newest first. Stops at the first error. */
export async function undoCalls(
  { id, name }: Pick<BoardCalls, 'id' | 'name'>,
  parts: string[][],
): Promise<BoardResult> {
  const result: BoardResult = {
    id,
    name,
    undone: 0,
    alreadyUndone: 0,
    refused: 0,
    reasons: [],
    undos: [],
    problem: null,
  }
  for (const callIds of parts) {
    try {
      const part = await data(
        api.POST('/boards/{boardId}/undo', { params: { path: { boardId: id } }, body: { callIds } }),
      )
      result.undone += part.undone
      result.alreadyUndone += part.alreadyUndone
      result.refused += part.refused
      result.reasons.push(...part.reasons)
      if (part.callId !== null) result.undos.unshift(part.callId)
    } catch (thrown) {
      result.problem = reason(thrown)
      break
    }
  }
  return result
}
