import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { clientId } from '../api/client'
import type { Attachment } from '../api/types'
import { attached, outcomeUnknown } from './attachFiles.svelte'
import { drafts } from './drafts.svelte'
import { operation } from './operations'
import { BoardStore } from './boardStore.svelte'
import { startSession } from './session.svelte'
import { toasts } from './toasts.svelte'

const at = '2026-03-02T09:00:00.000Z'

const list = (id: string) => ({ id, boardId: 'brd_1', name: id, archivedAt: null, createdAt: at, updatedAt: at })
const card = (id: string, more = {}) => ({
  id,
  boardId: 'brd_1',
  listId: 'l1',
  title: id,
  number: 1,
  labels: [],
  assignees: [],
  archivedAt: null,
  createdAt: at,
  updatedAt: at,
  ...more,
})
const opened = () => ({
  id: 'brd_1',
  name: 'Plans',
  version: 5,
  lists: [list('l1')],
  cards: [card('a'), card('b')],
  labels: [],
  members: [],
  collapsedLists: [],
})
const entry = (boardVersion: number, cardId: string, title: string) => ({
  id: `act_${boardVersion}`,
  type: 'card.updated',
  at,
  actor: { type: 'person', id: 'usr_2' },
  boardId: 'brd_1',
  listId: 'l1',
  cardId,
  changes: { title: { from: null, to: title } },
  boardVersion,
})

/** A fake EventSource. Tests emit the events of the live stream. */
class Stream {
  static readonly CLOSED = 2
  static current: Stream
  readyState = 1
  onerror: (() => void) | null = null
  #listeners = new Map<string, (event: { data: string }) => void>()
  constructor() {
    Stream.current = this
  }
  addEventListener(name: string, listener: (event: { data: string }) => void): void {
    this.#listeners.set(name, listener)
  }
  emit(name: string, data: unknown): void {
    this.#listeners.get(name)?.({ data: JSON.stringify(data) })
  }
  close(): void {
    this.readyState = Stream.CLOSED
  }
}

type Answer = { status?: number; body: unknown }
type Handler = (body: unknown) => Answer | Promise<Answer>
/** The responses of the fake server, by method and path. */
let handlers: Record<string, Handler>
let requests: string[]
let store: BoardStore

beforeAll(() => {
  vi.stubGlobal('EventSource', Stream)
  vi.stubGlobal('BroadcastChannel', undefined)
  vi.stubGlobal('fetch', async (request: Request) => {
    const name = `${request.method} ${new URL(request.url).pathname.replace(/^\/api\/\w+\/v1/, '')}`
    requests.push(name)
    const text = await request.text()
    const handler = handlers[name]
    if (!handler) throw new Error(`unexpected request: ${name}`)
    const { status = 200, body } = await handler(text ? JSON.parse(text) : undefined)
    return new Response(JSON.stringify(body), { status, headers: { 'Content-Type': 'application/json' } })
  })
  startSession({
    user: { id: 'usr_1', name: 'Ada', timeZone: 'UTC', theme: 'system' },
    workspaces: [],
    unread: 0,
    zoneOffsets: [],
  } as unknown as Parameters<typeof startSession>[0])
})
afterAll(() => vi.unstubAllGlobals())

beforeEach(async () => {
  vi.useFakeTimers()
  toasts.splice(0)
  requests = []
  handlers = {
    'GET /boards/brd_1/open': () => ({ body: { data: opened() } }),
    'PATCH /cards/a': (body) => ({ body: { data: card('a', body as object) } }),
    'POST /cards': (body) => ({ body: { data: card('crd_1', body as object) } }),
  }
  store = new BoardStore('brd_1')
  await store.open()
  await vi.advanceTimersByTimeAsync(50)
  Stream.current.emit('hello', { boards: { brd_1: 5 } })
  requests = []
})
afterEach(async () => {
  store.close()
  await vi.advanceTimersByTimeAsync(20_000)
  vi.useRealTimers()
})

const title = (id: string) => store.view?.cards.get(id)?.title
const waitForRequests = () => vi.advanceTimersByTimeAsync(50)

describe('own operations', () => {
  test('appear immediately, then as the server saved them', async () => {
    handlers['PATCH /cards/a'] = () => ({ body: { data: card('a', { title: 'As saved' }) } })
    store.do(operation('update_card', { cardId: 'a', title: 'As typed' }))
    expect(title('a')).toBe('As typed')
    await waitForRequests()
    expect(title('a')).toBe('As saved')
    expect(store.queue.waiting).toEqual([])
  })

  test('can be undone', async () => {
    store.do(operation('update_card', { cardId: 'a', title: 'New' }), {
      text: 'title changed',
      operations: [operation('update_card', { cardId: 'a', title: 'a' })],
    })
    await waitForRequests()
    store.history.undo()
    expect(title('a')).toBe('a')
    await waitForRequests()
    expect(requests).toEqual(['PATCH /cards/a', 'PATCH /cards/a'])
    expect(toasts.map((t) => t.text)).toEqual(['Undone: title changed'])
  })

  test('are reverted if the server rejects them, and the typed text becomes a draft', async () => {
    handlers['PATCH /cards/a'] = () => ({ status: 422, body: { error: { code: 'invalid', message: 'Too long.' } } })
    store.do(operation('update_card', { cardId: 'a', title: 'Rejected' }), { text: 'title changed', operations: [] })
    await waitForRequests()
    expect(title('a')).toBe('a')
    expect(toasts.map((t) => t.text)).toEqual(['Too long.'])
    expect(drafts.read('title:a')?.text).toBe('Rejected')
    expect(store.rejectedDraft).toBe('title:a')
    expect(store.history.canUndo).toBe(false)
  })

  test('a rejected request returns null and cannot be undone', async () => {
    handlers['PATCH /cards/a'] = () => ({ status: 422, body: { error: { code: 'invalid', message: 'Too long.' } } })
    const undo = { text: 'title changed', operations: [] }
    const result = store.request('update_card', { cardId: 'a', title: 'Rejected' }, undo)
    await waitForRequests()
    expect(await result).toBeNull()
    expect(store.history.canUndo).toBe(false)
  })

  test('a new record keeps its key when it gets its server ID', async () => {
    const assigned: string[] = []
    store.onIdAssigned((from, to) => assigned.push(`${from} ${to}`))
    store.do(operation('create_card', { id: 'new_1', listId: 'l1', title: 'New', position: 'top' }), {
      text: 'card added',
      operations: [operation('archive_card', { cardId: 'new_1' })],
    })
    expect(store.view?.order.get('l1')).toEqual(['new_1', 'a', 'b'])
    await waitForRequests()
    expect(store.view?.order.get('l1')).toEqual(['crd_1', 'a', 'b'])
    expect(assigned).toEqual(['new_1 crd_1'])
    expect(store.keyOf('crd_1')).toBe('new_1')
    handlers['POST /cards/crd_1/archive'] = () => ({ body: { data: card('crd_1', { archivedAt: at }) } })
    store.history.undo()
    await waitForRequests()
    expect(requests.at(-1)).toBe('POST /cards/crd_1/archive')
  })

  test('held operations appear immediately and can be canceled', async () => {
    store.hold([operation('archive_card', { cardId: 'a' })], 'Card archived')
    expect(store.view?.order.get('l1')).toEqual(['b'])
    toasts[0]!.action!.run()
    expect(store.view?.order.get('l1')).toEqual(['a', 'b'])
    await vi.advanceTimersByTimeAsync(20_000)
    expect(requests).toEqual([])
  })

  test('held operations cannot be undone once they are sent', async () => {
    handlers['POST /cards/a/archive'] = () => ({ body: { data: card('a', { archivedAt: at }) } })
    store.hold([operation('archive_card', { cardId: 'a' })], 'Card archived')
    await vi.advanceTimersByTimeAsync(8100)
    expect(requests).toEqual(['POST /cards/a/archive'])
    expect(store.history.canUndo).toBe(false)
  })
})

test('the copy of a large list is hidden while a job creates it', async () => {
  handlers['POST /lists/l1/copy'] = () => ({ status: 202, body: { data: { id: 'job_1', kind: 'copy_list' } } })
  const created = store.request('copy_list', { id: 'new_1', listId: 'l1', name: 'Again', position: { after: 'l1' } })
  expect(store.view?.listOrder).toEqual(['l1', 'new_1'])
  await waitForRequests()
  expect(await created).toMatchObject({ id: 'job_1' })
  expect(store.view?.listOrder).toEqual(['l1'])
  expect(store.keyOf('job_1')).toBe('job_1')
})

test('a large list stays hidden while a job moves it to another board', async () => {
  handlers['POST /lists/l1/move-to-board'] = () => ({
    status: 202,
    body: { data: { id: 'job_1', kind: 'move_list_to_board' } },
  })
  const moved = store.request('move_list_to_board', { listId: 'l1', boardId: 'brd_2', position: 'bottom' })
  await waitForRequests()
  expect(await moved).toMatchObject({ id: 'job_1' })
  expect(store.view?.listOrder).toEqual([])
})

describe('late responses', () => {
  /** Holds the first response to a request until the returned function is called. It is what the server knew before. */
  function holdFirst(name: string): () => void {
    const handler = handlers[name]!
    let release = () => {}
    const released = new Promise<void>((resolve) => (release = resolve))
    let first = true
    handlers[name] = async (body) => {
      const answer = handler(body)
      if (first) {
        first = false
        await released
      }
      return answer
    }
    return release
  }

  test('a board that was read before an operation was saved is read again', async () => {
    let saved = 'a'
    handlers['PATCH /cards/a'] = (body) => {
      saved = (body as { title: string }).title
      return { body: { data: card('a', { title: saved }) } }
    }
    handlers['GET /boards/brd_1/open'] = () => ({
      body: { data: { ...opened(), version: 6, cards: [card('a', { title: saved })] } },
    })
    const release = holdFirst('GET /boards/brd_1/open')
    const reloaded = store.reload()
    store.do(operation('update_card', { cardId: 'a', title: 'New' }))
    await waitForRequests()
    release()
    await reloaded
    expect(title('a')).toBe('New')
  })

  test('a board that was read before a change by others is brought up to date', async () => {
    const release = holdFirst('GET /boards/brd_1/open')
    const reloaded = store.reload()
    await waitForRequests()
    Stream.current.emit('change', entry(6, 'a', 'Theirs'))
    handlers['GET /boards/brd_1/changes'] = () => ({ body: { data: [entry(6, 'a', 'Theirs')], version: 6 } })
    release()
    await reloaded
    await waitForRequests()
    expect(title('a')).toBe('Theirs')
  })

  test('a card that was read before a comment was saved is read again', async () => {
    const comments: object[] = []
    const comment = { id: 'cmt_1', cardId: 'a', text: 'Hello', createdAt: at, author: { id: 'usr_1', name: 'Ada' } }
    handlers['GET /cards/a'] = () => ({ body: { data: card('a', { checklists: [] }) } })
    handlers['GET /cards/a/attachments'] = () => ({ body: { data: [] } })
    handlers['GET /cards/a/comments'] = () => ({ body: { data: [...comments] } })
    handlers['POST /cards/a/comments'] = () => {
      comments.push(comment)
      return { body: { data: comment } }
    }
    await store.loadCard('a')
    const release = holdFirst('GET /cards/a/comments')
    const loaded = store.loadCard('a')
    store.do(operation('add_comment', { id: 'new_1', cardId: 'a', text: 'Hello' }))
    await waitForRequests()
    release()
    await loaded
    expect(store.view?.details.get('a')?.comments.map((c) => c.text)).toEqual(['Hello'])
  })

  test('the copy of a lost response does not replace a later change by others', async () => {
    const mine = { body: { data: card('a', { title: 'Mine' }) } }
    handlers['PATCH /cards/a'] = () => ({ status: 503, body: {} })
    store.do(operation('update_card', { cardId: 'a', title: 'Mine' }))
    await waitForRequests()
    Stream.current.emit('change', { ...entry(6, 'a', 'Mine'), client: clientId })
    Stream.current.emit('change', entry(7, 'a', 'Theirs'))
    handlers['PATCH /cards/a'] = () => mine
    handlers['GET /boards/brd_1/changes'] = () => ({ body: { data: [], version: 7 } })
    handlers['GET /boards/brd_1/open'] = () => ({
      body: { data: { ...opened(), version: 7, cards: [card('a', { title: 'Theirs' })] } },
    })
    await vi.advanceTimersByTimeAsync(60_000)
    expect(store.queue.waiting).toEqual([])
    expect(title('a')).toBe('Theirs')
  })
})

describe('attached files', () => {
  const attachment = { id: 'att_1', cardId: 'a', boardId: 'brd_1', name: 'Brief.pdf', createdAt: at } as Attachment

  beforeEach(async () => {
    handlers['GET /cards/a'] = () => ({ body: { data: card('a', { attachments: 0, checklists: [] }) } })
    handlers['GET /cards/a/comments'] = () => ({ body: { data: [] } })
    handlers['GET /cards/a/attachments'] = () => ({ body: { data: [] } })
    await store.loadCard('a')
  })

  test('appear on the open board without a request', () => {
    requests = []
    attached(attachment)
    attached({ ...attachment, id: 'att_2', boardId: 'brd_2' })
    expect(store.view?.details.get('a')?.attachments).toEqual([attachment])
    expect(store.view?.cards.get('a')?.attachments).toBe(1)
    expect(requests).toEqual([])
  })

  test('are counted by the server if the card is not loaded', async () => {
    await store.open() // as for "Try again"
    requests = []
    handlers['GET /cards/b'] = () => ({ body: { data: card('b', { attachments: 1, checklists: [] }) } })
    handlers['GET /cards/b/comments'] = () => ({ body: { data: [] } })
    handlers['GET /cards/b/attachments'] = () => ({ body: { data: [{ ...attachment, cardId: 'b' }] } })
    attached({ ...attachment, cardId: 'b' })
    await waitForRequests()
    expect(store.view?.cards.get('b')?.attachments).toBe(1)
    expect(requests.filter((name) => name === 'GET /cards/b')).toHaveLength(1)
  })

  test('are not removed by an older response', async () => {
    const attachments: Attachment[] = []
    handlers['GET /cards/a/attachments'] = () => {
      const older = [...attachments]
      if (older.length === 0) {
        attachments.push(attachment)
        attached(attachment)
      }
      return { body: { data: older } }
    }
    await store.loadCard('a')
    expect(store.view?.details.get('a')?.attachments).toEqual([attachment])
  })

  test('are loaded if the server attached them after the upload had ended', async () => {
    const attachments: Attachment[] = []
    handlers['GET /cards/a/attachments'] = () => ({ body: { data: [...attachments] } })
    outcomeUnknown('a')
    await waitForRequests()
    expect(requests).toContain('GET /cards/a/attachments')
    attachments.push(attachment)
    Stream.current.emit('change', { ...entry(6, 'a', ''), type: 'attachment.added', client: clientId })
    await waitForRequests()
    expect(store.view?.details.get('a')?.attachments).toEqual([attachment])
  })

  test('stay in the card if they can’t be loaded again', async () => {
    attached(attachment)
    handlers['GET /cards/a/attachments'] = () => ({ status: 500, body: {} })
    await store.loadCard('a')
    expect(store.view?.details.get('a')?.attachments).toEqual([attachment])
  })
})

test('a board that is opened again shows the changes that wait', async () => {
  handlers['PATCH /cards/a'] = () => ({ status: 503, body: {} })
  store.do(operation('update_card', { cardId: 'a', title: 'As typed' }))
  await vi.advanceTimersByTimeAsync(10_000)
  store.close()
  const reopened = new BoardStore('brd_1')
  await reopened.open()
  expect(reopened.view?.cards.get('a')?.title).toBe('As typed')
  handlers['PATCH /cards/a'] = () => ({ body: { data: card('a', { title: 'As saved' }) } })
  handlers['GET /boards/brd_1/changes'] = () => ({ body: { data: [], version: 5 } })
  await vi.advanceTimersByTimeAsync(60_000)
  expect(reopened.view?.cards.get('a')?.title).toBe('As saved')
  reopened.close()
})

describe('changes by others', () => {
  test('after many new cards, the board is reloaded instead of each card', async () => {
    const cards = Array.from({ length: 100 }, (_, i) => `crd_${i}`)
    handlers['GET /cards/crd_0'] = () => ({ body: { data: card('crd_0') } })
    handlers['GET /cards/crd_0/comments'] = () => ({ body: { data: [] } })
    handlers['GET /cards/crd_0/attachments'] = () => ({ body: { data: [] } })
    handlers['GET /boards/brd_1/open'] = () => ({
      body: { data: { ...opened(), version: 105, cards: [...opened().cards, ...cards.map((id) => card(id))] } },
    })
    cards.forEach((id, i) => {
      const changes = { title: { from: null, to: id }, listId: { from: null, to: 'l1' } }
      Stream.current.emit('change', { ...entry(6 + i, id, ''), type: 'card.created', changes })
    })
    expect(store.view?.cards.size).toBe(102)
    await waitForRequests()
    const details = ['GET /cards/crd_0/comments', 'GET /cards/crd_0/attachments']
    expect(requests).toEqual(['GET /cards/crd_0', ...details, 'GET /boards/brd_1/open'])
    expect(store.view?.cards.size).toBe(102)
  })

  test('do not override pending operations', async () => {
    store.do(operation('update_card', { cardId: 'a', title: 'Mine' }))
    Stream.current.emit('change', entry(6, 'a', 'Theirs'))
    Stream.current.emit('change', entry(7, 'b', 'Theirs'))
    expect([title('a'), title('b')]).toEqual(['Mine', 'Theirs'])
    await waitForRequests()
  })

  test('are loaded if the stream skipped a version', async () => {
    handlers['GET /boards/brd_1/changes'] = () => ({
      body: { data: [entry(6, 'a', 'Six'), entry(7, 'b', 'Seven')], version: 7 },
    })
    Stream.current.emit('change', entry(7, 'b', 'Seven'))
    await waitForRequests()
    expect([title('a'), title('b')]).toEqual(['Six', 'Seven'])
    Stream.current.emit('change', entry(6, 'a', 'Outdated'))
    expect(title('a')).toBe('Six')
  })

  test('changes by this tab only advance the version', async () => {
    Stream.current.emit('change', { ...entry(6, 'a', 'Own'), client: clientId })
    expect(title('a')).toBe('a')
    Stream.current.emit('change', entry(7, 'b', 'Theirs'))
    await waitForRequests()
    expect(title('b')).toBe('Theirs')
    expect(requests).toEqual([])
  })

  test('the board polls while the stream is down', async () => {
    handlers['GET /boards/brd_1/changes'] = () => ({ body: { data: [entry(6, 'a', 'Polled')], version: 6 } })
    Stream.current.onerror?.()
    await vi.advanceTimersByTimeAsync(4100)
    expect(title('a')).toBe('Polled')
    Stream.current.emit('hello', { boards: { brd_1: 6 } })
  })

  test('a board disappears when the user loses access', () => {
    Stream.current.emit('gone', { boardId: 'brd_1' })
    expect(store.view).toBeNull()
    expect(store.failure?.status).toBe(404)
  })

  test('the list of viewers excludes the user', () => {
    const people = [
      { id: 'usr_1', name: 'Ada' },
      { id: 'usr_2', name: 'Ben' },
    ]
    Stream.current.emit('presence', { boardId: 'brd_1', people })
    expect(store.people.map((p) => p.name)).toEqual(['Ben'])
  })
})
