import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { ApiError } from '../api/client'
import { connection } from '../api/connection.svelte'
import { OperationQueue, type Pending, type QueueOwner } from './operationQueue.svelte'
import { operation, type Operation } from './operations'
import { clearSession, startSession } from './session.svelte'

vi.mock('./live', () => ({ deliver: ({ kind }: { kind: string }) => log.push(`delivered ${kind}`) }))

const title = (cardId: string, text: string): Operation => operation('update_card', { cardId, title: text })
const newCard = (id: string): Operation => operation('create_card', { id, listId: 'l1', title: id, position: 'bottom' })

/** Describes an operation by its kind, record ID and title. */
function describeOperation({ operation: { kind, input } }: Pending): string {
  const ids = input as { id?: string; cardId?: string; title?: string }
  return [kind, ids.id ?? ids.cardId, ids.title].filter(Boolean).join(' ')
}

/** The responses of the fake server, in order. An ApiError is thrown. When the array is empty, attempts succeed. */
let responses: (ApiError | unknown)[]
let attempts: Pending[]
let log: string[]
let queue: OperationQueue

const owner: QueueOwner = {
  send: async (pending) => {
    attempts.push(pending)
    await new Promise((resolve) => setTimeout(resolve, 10))
    const response = responses.shift()
    if (response instanceof ApiError) throw response
    return response ?? { id: 'crd_1' }
  },
  onSent: (sent) => log.push(`sent ${describeOperation(sent)}`),
  onRejected: (_, dropped, thrown) =>
    log.push(`rejected ${dropped.map(describeOperation).join(', ')}: ${(thrown as Error).message}`),
  onAbandoned: (dropped) => log.push(`abandoned ${dropped.map(describeOperation).join(', ')}`),
  onReleased: (keys) => log.push(`released ${keys.length}`),
  onReachable: (reachable) => {
    if (!reachable) log.push('unreachable')
  },
  onResumed: () => log.push('resumed'),
}

const unreachable = () => new ApiError(0, 'unreachable', 'No response')
const sentOperations = () => attempts.map(describeOperation)

const user = { id: 'usr_1', name: 'Ada', timeZone: 'UTC', theme: 'system' }

beforeEach(() => {
  vi.useFakeTimers()
  startSession({ user, workspaces: [], unread: 0, zoneOffsets: [] } as unknown as Parameters<typeof startSession>[0])
  responses = []
  attempts = []
  log = []
  queue = OperationQueue.of('page', owner)
})
afterEach(() => {
  queue.discard()
  vi.useRealTimers()
})

describe('OperationQueue', () => {
  test('sends operations one after another, in order', async () => {
    queue.add([title('a', '1'), title('b', '2')])
    queue.add([title('a', '3')])
    expect(sentOperations()).toEqual(['update_card a 1'])
    expect(queue.waiting).toHaveLength(3)
    await vi.advanceTimersByTimeAsync(100)
    expect(log).toEqual(['sent update_card a 1', 'sent update_card b 2', 'sent update_card a 3'])
    expect(queue.waiting).toEqual([])
  })

  test('retries with the same key, in the same order, until the server responds', async () => {
    responses = [unreachable(), unreachable()]
    queue.add([title('a', '1')])
    queue.add([title('a', '2')])
    await vi.advanceTimersByTimeAsync(500)
    expect(queue.paused).toBe(true)
    expect(attempts).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(1000)
    expect(attempts).toHaveLength(2)
    await vi.advanceTimersByTimeAsync(5000)
    expect(sentOperations()).toEqual(['update_card a 1', 'update_card a 1', 'update_card a 1', 'update_card a 2'])
    expect(new Set(attempts.slice(0, 3).map((p) => p.key)).size).toBe(1)
    expect(log).toEqual(['unreachable', 'unreachable', 'sent update_card a 1', 'sent update_card a 2', 'resumed'])
  })

  test('pauses when the rate limit is reached', async () => {
    responses = [new ApiError(429, 'rate_limited', 'Too many requests')]
    queue.add([title('a', '1')])
    await vi.advanceTimersByTimeAsync(500)
    expect(queue.paused).toBe(true)
    expect(log).toEqual([])
    await vi.advanceTimersByTimeAsync(1000)
    expect(log).toEqual(['sent update_card a 1', 'resumed'])
  })

  test('resumes immediately when the browser is online again', async () => {
    responses = [unreachable()]
    queue.open()
    queue.add([title('a', '1')])
    await vi.advanceTimersByTimeAsync(20)
    dispatchEvent(new Event('online'))
    await vi.advanceTimersByTimeAsync(20)
    expect(log).toEqual(['unreachable', 'sent update_card a 1', 'resumed'])
    queue.close()
  })

  test('drops a rejected operation and those that need its record', async () => {
    const results: unknown[] = []
    responses = [new ApiError(409, 'limit_exceeded', 'The board is full.')]
    queue.add([newCard('new_1')], (result) => results.push(result))
    queue.add([title('new_1', 'Longer'), title('b', 'Kept')])
    await vi.advanceTimersByTimeAsync(100)
    expect(log).toEqual([
      'rejected create_card new_1 new_1, update_card new_1 Longer: The board is full.',
      'sent update_card b Kept',
    ])
    expect(results).toEqual([null])
  })

  test('drops held operations that need the record of a rejected one, and calls every onDone', async () => {
    const results: unknown[] = []
    responses = [new ApiError(409, 'limit_exceeded', 'The board is full.')]
    queue.add([newCard('new_1')])
    queue.add([title('new_1', 'Longer')], (result) => results.push(result))
    queue.hold([operation('delete_comment', { cardId: 'new_1', commentId: 'cmt_1' })])
    await vi.advanceTimersByTimeAsync(100)
    expect(queue.unsent).toEqual([])
    expect(results).toEqual([null])
    await vi.advanceTimersByTimeAsync(60_000)
    expect(sentOperations()).toEqual(['create_card new_1 new_1'])
  })

  test('replaces the temporary ID of a new record in later operations', async () => {
    queue.add([newCard('new_1')])
    queue.add([title('new_1', 'Longer')])
    queue.hold([operation('delete_comment', { cardId: 'new_1', commentId: 'cmt_1' })])
    await vi.advanceTimersByTimeAsync(100)
    expect(sentOperations()).toEqual(['create_card new_1 new_1', 'update_card crd_1 Longer'])
    expect(queue.unsent.map(describeOperation)).toEqual(['delete_comment crd_1'])
  })

  test('calls onDone with the result of the last operation', async () => {
    const results: unknown[] = []
    responses = [{ id: '1' }, { id: '2' }]
    queue.add([title('a', '1'), title('a', '2')], (result) => results.push(result))
    await vi.advanceTimersByTimeAsync(100)
    expect(results).toEqual([{ id: '2' }])
  })

  test('drops all operations if the user does not sign in again', async () => {
    const results: unknown[] = []
    responses = [new ApiError(401, 'unauthorized', 'Sign in')]
    queue.add([title('a', '1'), title('b', '2')], (result) => results.push(result))
    await vi.advanceTimersByTimeAsync(100)
    expect(log).toEqual(['abandoned update_card a 1, update_card b 2'])
    expect(results).toEqual([null])
    expect(queue.waiting).toEqual([])
  })
})

describe('held operations', () => {
  const deletion = operation('delete_label', { labelId: 'lbl_1' })

  test('are unsent for eight seconds, then sent', async () => {
    queue.hold([deletion])
    expect(queue.unsent).toHaveLength(1)
    expect(queue.waiting).toEqual([])
    await vi.advanceTimersByTimeAsync(7999)
    expect(attempts).toEqual([])
    await vi.advanceTimersByTimeAsync(100)
    expect(log).toEqual(['released 1', 'sent delete_label'])
  })

  test('are not sent after they were canceled', async () => {
    queue.cancel(queue.hold([deletion]))
    await vi.advanceTimersByTimeAsync(20_000)
    expect(queue.unsent).toEqual([])
    expect(log).toEqual([])
  })

  test('are sent when the board closes', async () => {
    queue.hold([deletion])
    queue.close()
    await vi.advanceTimersByTimeAsync(100)
    expect(log).toEqual(['released 1', 'sent delete_label', 'delivered missed'])
  })

  test('are sent when the page closes', () => {
    queue.open()
    queue.hold([deletion])
    dispatchEvent(new Event('pagehide'))
    expect(sentOperations()).toEqual(['delete_label'])
    queue.close()
  })
})

describe('the queue of a closed page', () => {
  test('retries until everything is sent, and shows that changes wait', async () => {
    responses = [unreachable(), unreachable()]
    queue.open()
    queue.add([title('a', '1'), title('a', '2')])
    await vi.advanceTimersByTimeAsync(20)
    expect(connection.unsent).toBe(false)
    queue.close()
    expect(connection.unsent).toBe(true)
    const guarded = new Event('beforeunload', { cancelable: true })
    dispatchEvent(guarded)
    expect(guarded.defaultPrevented).toBe(true)
    await vi.advanceTimersByTimeAsync(5000)
    expect(log.filter((line) => line.startsWith('sent'))).toEqual(['sent update_card a 1', 'sent update_card a 2'])
    expect(connection.unsent).toBe(false)
    const free = new Event('beforeunload', { cancelable: true })
    dispatchEvent(free)
    expect(free.defaultPrevented).toBe(false)
  })

  test('continues when the page is opened again', async () => {
    responses = [unreachable()]
    queue.open()
    queue.add([title('a', '1')])
    await vi.advanceTimersByTimeAsync(20)
    queue.close()
    const sent: string[] = []
    const reopened = OperationQueue.of('page', { ...owner, onSent: (pending) => sent.push(describeOperation(pending)) })
    expect(reopened.waiting.map(describeOperation)).toEqual(['update_card a 1'])
    expect(OperationQueue.of('other page', owner).waiting).toEqual([])
    reopened.open()
    expect(connection.unsent).toBe(false)
    await vi.advanceTimersByTimeAsync(20)
    expect(sent).toEqual(['update_card a 1'])
    reopened.close()
  })

  test('reports its changes to the pages that are open', async () => {
    queue.open()
    queue.add([title('a', '1')])
    await vi.advanceTimersByTimeAsync(20)
    queue.add([title('a', '2')])
    queue.close()
    await vi.advanceTimersByTimeAsync(20)
    expect(log).toEqual(['sent update_card a 1', 'sent update_card a 2', 'delivered missed'])
  })

  test('sends a change that is undone later', async () => {
    responses = [unreachable()]
    queue.open()
    queue.close()
    queue.add([title('a', '1')])
    await vi.advanceTimersByTimeAsync(20)
    expect(connection.unsent).toBe(true)
    dispatchEvent(new Event('online'))
    await vi.advanceTimersByTimeAsync(20)
    expect(log).toEqual(['unreachable', 'sent update_card a 1', 'delivered missed', 'resumed'])
  })

  test('drops its operations when the user signs out', async () => {
    responses = [unreachable()]
    queue.open()
    queue.add([title('a', '1')])
    await vi.advanceTimersByTimeAsync(20)
    queue.close()
    clearSession()
    expect(connection.unsent).toBe(false)
    await vi.advanceTimersByTimeAsync(60_000)
    expect(attempts).toHaveLength(1)
  })

  test('drops its operations if the user signed out before', async () => {
    responses = [unreachable()]
    queue.open()
    queue.add([title('a', '1')])
    await vi.advanceTimersByTimeAsync(20)
    clearSession()
    queue.close()
    await vi.advanceTimersByTimeAsync(60_000)
    expect(attempts).toHaveLength(1)
  })
})
