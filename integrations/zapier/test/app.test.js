// Runs the app with the runner of zapier-platform-core against a real server.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, request as httpRequest } from 'node:http'
import { after, before, describe, test } from 'node:test'
import zapier from 'zapier-platform-core'
import { startServer } from '../../server.mjs'
import app from '../index.js'

const tester = zapier.createAppTester(app)

let server, board, list, done, me, label
before(async () => {
  server = await startServer()
  me = await server.api('GET', '/me')
  const { workspaceId } = server
  board = await server.api('POST', '/boards', { workspaceId, name: 'Launch' })
  list = await server.api('POST', `/boards/${board.id}/lists`, { name: 'To do' })
  done = await server.api('POST', `/boards/${board.id}/lists`, { name: 'Done' })
  label = await server.api('POST', `/boards/${board.id}/labels`, { name: 'Bug', color: 'red' })
})
after(() => server?.stop())

/** Returns the bundle of a connection to the server, or to another address. */
const bundle = (inputData = {}, { authData = {}, ...more } = {}) => ({
  authData: { serverUrl: `${server.url}/`, token: server.token, ...authData },
  inputData,
  meta: { timezone: 'Europe/Berlin' },
  ...more,
})
/** Runs an action or search, and checks that a sample has no field that its records lack. */
async function perform({ perform, sample }, inputData, more) {
  const result = await tester(perform, bundle(inputData, more))
  for (const record of [result].flat()) {
    for (const name of Object.keys(sample)) assert.ok(name in record, `${name} of the sample`)
  }
  return result
}
const create = (key, input, more) => perform(app.creates[key].operation, input, more)
const search = (key, input, more) => perform(app.searches[key].operation, input, more)
const addCard = (title) => server.api('POST', '/cards', { listId: list.id, title })
/** Starts an HTTP server for a test, and returns its URL. */
async function listen(t, handler) {
  const http = createServer(handler).listen(0, '127.0.0.1')
  await once(http, 'listening')
  t.after(() => {
    http.closeAllConnections()
    http.close()
  })
  return `http://127.0.0.1:${http.address().port}`
}

const cards = async () =>
  (await server.api('GET', `/boards/${board.id}/cards?limit=200`)).map((c) => c.title)

test('the definition of the app is valid', async () => {
  const { results } = await zapier.createAppHandler(app)({ command: 'validate' })
  assert.deepEqual(results, [])
})

describe('connection', () => {
  const connect = (authData) => tester(app.authentication.test, bundle({}, { authData }))

  test('is named after its owner', async () => {
    const { name, email } = await connect({})
    assert.deepEqual([name, email], ['Ada Lovelace', 'ada@example.com'])
  })
  test('names a token that is not valid', async () => {
    await assert.rejects(connect({ token: 'cwl_wrong' }), {
      name: 'ExpiredAuthError',
      message: /API token is not valid/,
    })
  })
  test('accepts the address of any page', async () => {
    assert.equal((await connect({ serverUrl: `${server.url}/boards/x` })).id, me.id)
  })
  test('names an address that is not a server', async (t) => {
    const serverUrl = await listen(t, (request, response) => response.end('<p>Hello</p>'))
    await assert.rejects(connect({ serverUrl }), /Check the server URL/)
    await assert.rejects(connect({ serverUrl: 'a b' }), /not a URL/)
  })
})

test('dropdowns list what the account can see', async () => {
  const fill = async (key, inputData = {}) => {
    const records = await tester(app.triggers[key].operation.perform, bundle(inputData))
    return records.map(({ id, name }) => [id, name])
  }
  const { workspaceId } = server
  assert.deepEqual(await fill('workspaces'), [[workspaceId, 'Engines']])
  assert.deepEqual(await fill('boards', { workspaceId }), [[board.id, 'Launch']])
  assert.deepEqual(await fill('lists'), [])
  const boardId = board.id
  assert.deepEqual(await fill('lists', { boardId }), [
    [list.id, 'To do'],
    [done.id, 'Done'],
  ])
  assert.deepEqual(await fill('labels', { boardId }), [[label.id, 'Bug']])
  assert.deepEqual(await fill('members', { boardId }), [[me.id, 'Ada Lovelace']])
})

test('dropdowns list all pages', async () => {
  const { workspaceId } = server
  const large = await server.api('POST', '/boards', { workspaceId, name: 'Large' })
  const operation = { operation: 'create_list', input: { boardId: large.id, name: 'List' } }
  for (const count of [100, 100, 3]) {
    await server.api('POST', '/batch', { operations: Array(count).fill(operation) })
  }
  const input = bundle({ boardId: large.id })
  const records = await tester(app.triggers.lists.operation.perform, input)
  assert.equal(new Set(records.map(({ id }) => id)).size, 203)
})

describe('actions', () => {
  test('create a card with all its fields', async () => {
    const card = await create('create_card', {
      workspaceId: server.workspaceId,
      boardId: board.id,
      listId: list.id,
      title: 'Print',
      description: 'Two *copies*.',
      due: '2026-12-24T17:00:00Z',
      labels: [label.id],
      assignees: [me.id],
      position: 'top',
    })
    const read = await server.api('GET', `/cards/${card.id}`)
    assert.equal(read.description, 'Two *copies*.')
    assert.deepEqual([read.dueAt, read.timeZone], ['2026-12-24T17:00:00.000Z', 'Europe/Berlin'])
    assert.deepEqual([read.labels[0].id, read.assignees[0].id], [label.id, me.id])
    assert.equal((await cards())[0], 'Print')
  })
  test('update the fields of a card that are filled in, at once', async () => {
    const { id } = await addCard('Draft')
    const input = {
      cardId: id,
      description: 'Now final',
      done: true,
      due: '2026-12-24',
      labels: [label.id],
    }
    const card = await create('update_card', { ...input, title: '', assignees: [me.id] })
    assert.deepEqual([card.title, card.description, card.done], ['Draft', 'Now final', true])
    assert.deepEqual([card.dueDate, card.dueAt], ['2026-12-24', null])
    assert.deepEqual([card.labels[0].name, card.assignees[0].name], ['Bug', 'Ada Lovelace'])

    await assert.rejects(
      create('update_card', { cardId: id, title: 'X', labels: ['lbl_none'] }),
      /lbl_none|label/,
    )
    assert.equal((await server.api('GET', `/cards/${id}`)).title, 'Draft')
    await assert.rejects(create('update_card', { cardId: id }), /at least one field/)
  })
  test('move and archive a card', async () => {
    const { id } = await addCard('Mail')
    assert.equal((await create('move_card', { cardId: id, listId: done.id })).listId, done.id)
    assert.notEqual((await create('archive_card', { cardId: id })).archivedAt, null)
  })
  test('comment on a card', async () => {
    const { id } = await addCard('Call')
    const comment = await create('add_comment', { cardId: id, text: 'No one answers.' })
    assert.deepEqual(await server.api('GET', `/comments/${comment.id}`), comment)
  })
  test('create a list', async () => {
    const { name } = await create('create_list', { boardId: board.id, name: 'Later' })
    const lists = await server.api('GET', `/boards/${board.id}/lists`)
    assert.equal(lists.at(-1).name, name)
  })
  test('show the message of the server', async () => {
    await assert.rejects(create('create_card', { listId: 'lst_none', title: 'X' }), (error) => {
      const { message, code, status } = JSON.parse(error.message)
      assert.deepEqual([code, status], ['not_found', 404])
      assert.match(message, /no such object/)
      return true
    })
  })
})

describe('searches', () => {
  test('find a card by text and by number', async () => {
    const card = await addCard('Order the zebra poster')
    assert.equal((await search('find_card', { q: 'zebra is:open' }))[0].id, card.id)
    assert.deepEqual(await search('find_card', { q: 'giraffe' }), [])
    const byNumber = await search('find_card_by_number', { boardId: board.id, number: card.number })
    assert.equal(byNumber[0].id, card.id)
    assert.deepEqual(await search('find_card_by_number', { boardId: board.id, number: 999 }), [])
  })
  test('find a list and a board by name', async () => {
    assert.deepEqual(
      (await search('find_list', { boardId: board.id, name: ' to DO' })).map((l) => l.id),
      [list.id],
    )
    const found = await search('find_board', { workspaceId: server.workspaceId, name: 'launch' })
    assert.deepEqual(
      found.map((b) => b.id),
      [board.id],
    )
    assert.deepEqual(await search('find_board', { workspaceId: server.workspaceId, name: 'x' }), [])
  })
})

describe('a network that fails', () => {
  /** Starts a proxy whose responses to the first requests are replaced by faults. */
  async function faulty(t, ...faults) {
    const keys = []
    const serverUrl = await listen(t, (request, response) => {
      keys.push(request.headers['idempotency-key'])
      const fault = faults.shift()
      const { method, url, headers } = request
      if (typeof fault === 'function') return fault(response)
      const forward = httpRequest(server.url + url, { method, headers }, (answer) => {
        if (fault === 'cut') return response.destroy()
        response.writeHead(answer.statusCode, answer.headers)
        answer.pipe(response)
      })
      request.pipe(forward)
    })
    return { keys, more: { authData: { serverUrl } } }
  }
  const refuse = (status, headers) => (response) => response.writeHead(status, headers).end()

  test('a create whose response is lost is repeated and done once', async (t) => {
    const { keys, more } = await faulty(t, 'cut', refuse(502))
    await create('create_card', { listId: list.id, title: 'Once' }, more)
    assert.equal((await cards()).filter((title) => title === 'Once').length, 1)
    assert.equal(keys.length, 3)
    assert.equal(new Set(keys).size, 1)
  })
  test('a search on a busy server is repeated by Zapier later', async (t) => {
    const busy = refuse(503, { 'Retry-After': '9' })
    const { keys, more } = await faulty(t, busy, busy, busy)
    await assert.rejects(search('find_card', { q: 'zebra' }, more), {
      name: 'ThrottledError',
      message: /"delay":9/,
    })
    assert.equal(keys.length, 3)
  })
  test('a create is not repeated by Zapier if it may have been done', async (t) => {
    for (const fault of [refuse(503), refuse(429)]) {
      const { keys, more } = await faulty(t, 'cut', fault, fault)
      const failed = create('create_card', { listId: list.id, title: 'Perhaps' }, more)
      await assert.rejects(failed, { name: 'AppError', message: /may have made the change/ })
      assert.equal(keys.length, 3)
    }
    assert.equal((await cards()).filter((title) => title === 'Perhaps').length, 2)
  })
  test('a rate limit makes Zapier wait as long as the server asks', async (t) => {
    const { keys, more } = await faulty(t, refuse(429, { 'Retry-After': '7' }))
    const failed = create('create_card', { listId: list.id, title: 'Never' }, more)
    await assert.rejects(failed, { name: 'ThrottledError', message: /"delay":7/ })
    assert.equal(keys.length, 1)
  })
  test('a server that is not there is an error', async () => {
    const more = { authData: { serverUrl: 'http://127.0.0.1:9' } }
    await assert.rejects(
      create('create_card', { listId: list.id, title: 'Never' }, more),
      /ECONNREFUSED/,
    )
  })
})
