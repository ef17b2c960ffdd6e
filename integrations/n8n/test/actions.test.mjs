// Runs every operation of the action node against a server and looks at its effect there.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { after, before, describe, it } from 'node:test'
import { freePort, startServer } from '../../server.mjs'
import { choices, evaluate, run } from './host.mjs'

let server, credentials, board, list, done, me, label

before(async () => {
  server = await startServer()
  // People often paste an address with a slash at its end.
  credentials = { serverUrl: `${server.url}//`, apiToken: server.token }
  const { workspaceId, api } = server
  board = await api('POST', '/boards', { workspaceId, name: 'Engine' })
  list = await api('POST', `/boards/${board.id}/lists`, { name: 'To do' })
  done = await api('POST', `/boards/${board.id}/lists`, { name: 'Done' })
  label = await api('POST', `/boards/${board.id}/labels`, { name: 'Bug', color: 'red' })
  me = await api('GET', '/me')
})

after(() => server?.stop())

const newCard = (title) => server.api('POST', '/cards', { listId: list.id, title })
const readCard = ({ id }) => server.api('GET', `/cards/${id}`)
/** Runs an operation on a card and returns its output. */
const onCard = async (operation, { id }, parameters = {}) =>
  (await run(credentials, { resource: 'card', operation, cardId: id, ...parameters }))[0]

describe('card', () => {
  it('is created with all fields', async () => {
    const [created] = await run(credentials, {
      resource: 'card',
      operation: 'create',
      boardId: board.id,
      listId: list.id,
      title: 'Mill',
      additionalFields: {
        description: 'With *gears*',
        dueDate: '2026-12-01T00:00:00.000+01:00',
        dueTime: '09:30',
        labels: [label.id],
        assignees: me.id,
        position: 'top',
      },
    })
    const card = await readCard(created)
    assert.equal(card.title, 'Mill')
    assert.equal(card.description, 'With *gears*')
    assert.equal(card.dueDate, '2026-12-01')
    assert.equal(card.dueAt, '2026-12-01T08:30:00.000Z') // the workflow's zone is Europe/Zurich
    assert.deepEqual([card.labels[0].id, card.assignees[0].id], [label.id, me.id])
  })

  it('is read', async () => {
    const card = await newCard('Read me')
    assert.equal((await onCard('get', card)).title, 'Read me')
  })

  it('is updated', async () => {
    const card = await newCard('Old')
    await onCard('update', card, {
      updateFields: { title: 'New', description: 'Text', done: true },
    })
    const { title, description, done } = await readCard(card)
    assert.deepEqual(
      { title, description, done },
      { title: 'New', description: 'Text', done: true },
    )
    await onCard('update', card, { updateFields: { done: false } })
    assert.equal((await readCard(card)).done, false)
  })

  it('gets a due date and loses it', async () => {
    const card = await newCard('Due')
    await onCard('setDue', card, {
      dueDate: '2026-12-02',
      additionalFields: { dueTime: '10:00', timeZone: 'America/New_York' },
    })
    assert.equal((await readCard(card)).dueAt, '2026-12-02T15:00:00.000Z')
    await onCard('setDue', card, { dueDate: '2026-12-03' })
    assert.deepEqual(await readCard(card).then(({ dueDate, dueAt }) => [dueDate, dueAt]), [
      '2026-12-03',
      null,
    ])
    await onCard('clearDue', card)
    assert.equal((await readCard(card)).dueDate, null)
  })

  it('is moved', async () => {
    const first = await newCard('First')
    const second = await newCard('Second')
    await onCard('move', first, { boardId: board.id, listId: done.id })
    await onCard('move', second, { listId: done.id, position: 'top' })
    const cards = await server.api('GET', `/boards/${board.id}/cards?list=${done.id}`)
    assert.deepEqual(
      cards.map(({ title }) => title),
      ['Second', 'First'],
    )
  })

  it('is archived and restored', async () => {
    const card = await newCard('Archive me')
    await onCard('archive', card)
    assert.notEqual((await readCard(card)).archivedAt, null)
    await onCard('restore', card)
    assert.equal((await readCard(card)).archivedAt, null)
  })
})

describe('cards of a board', () => {
  const many = (parameters) =>
    run(credentials, { resource: 'card', operation: 'getAll', boardId: big.id, ...parameters })
  let big, todo, later

  before(async () => {
    const { workspaceId, api } = server
    big = await api('POST', '/boards', { workspaceId, name: 'Big' })
    todo = await api('POST', `/boards/${big.id}/lists`, { name: 'To do' })
    later = await api('POST', `/boards/${big.id}/lists`, { name: 'Later' })
    const create = (listId, title) => api('POST', '/cards', { listId, title })
    for (let i = 0; i < 203; i++) await create(todo.id, `Card ${i}`)
    const last = await create(later.id, 'Later')
    await api('PATCH', `/cards/${last.id}`, { done: true })
  })

  it('are read from all pages', async () => {
    const cards = await many({ returnAll: true })
    assert.equal(new Set(cards.map(({ id }) => id)).size, 204)
  })

  it('are read up to the limit', async () => {
    assert.equal((await many({ limit: 3 })).length, 3)
    assert.equal((await many({ limit: 202 })).length, 202)
    assert.equal((await many({})).length, 50)
  })

  it('are filtered', async () => {
    const titles = async (filters) =>
      (await many({ returnAll: true, filters })).map(({ title }) => title)
    assert.deepEqual(await titles({ lists: [later.id] }), ['Later'])
    assert.deepEqual(await titles({ done: true, archived: 'true' }), ['Later'])
    assert.equal((await titles({ lists: `${later.id},${todo.id}`, done: false })).length, 203)
    assert.deepEqual(await titles({ assignees: [me.id] }), [])
  })
})

describe('comment', () => {
  it('is added, and all are read', async () => {
    const card = await newCard('Discuss')
    const add = (text) => ({ resource: 'comment', operation: 'create', cardId: card.id, text })
    await run(credentials, add('First'))
    await run(credentials, add('Second'))
    const seen = await server.api('GET', `/cards/${card.id}/comments`)
    const read = await run(credentials, {
      resource: 'comment',
      operation: 'getAll',
      cardId: card.id,
    })
    assert.deepEqual(
      read.map(({ text }) => text),
      ['First', 'Second'],
    )
    assert.deepEqual(read, seen)
  })
})

describe('list', () => {
  it('is created, read and archived', async () => {
    const lists = () =>
      run(credentials, { resource: 'list', operation: 'getAll', boardId: board.id })
    const [created] = await run(credentials, {
      resource: 'list',
      operation: 'create',
      boardId: board.id,
      name: 'Inbox',
      position: 'top',
    })
    assert.equal((await lists())[0].name, 'Inbox')
    await run(credentials, { resource: 'list', operation: 'archive', listId: created.id })
    assert.ok((await lists()).every(({ name }) => name !== 'Inbox'))
    assert.notEqual((await server.api('GET', `/lists/${created.id}`)).archivedAt, null)
  })
})

describe('boards and search', () => {
  it('finds the boards of a workspace', async () => {
    const boards = (workspaceId) =>
      run(credentials, { resource: 'board', operation: 'getAll', workspaceId })
    const other = await server.run('workspace', 'add', '--owner=ada@example.com', '--name=Other')
    assert.ok((await boards('')).some(({ id }) => id === board.id))
    assert.deepEqual(await boards(other), [])
  })

  it('finds cards', async () => {
    await newCard('Zanzibar')
    const search = (parameters) =>
      run(credentials, { resource: 'search', operation: 'cards', ...parameters })
    const found = await search({ q: 'zanzibar', workspaceId: server.workspaceId })
    assert.deepEqual(
      found.map(({ title }) => title),
      ['Zanzibar'],
    )
    assert.deepEqual(await search({ q: 'zanzibar is:archived' }), [])
  })
})

describe('a retry', () => {
  const create = (title) => ({ resource: 'card', operation: 'create', listId: list.id, title })
  const count = async (title) =>
    (await server.api('GET', `/boards/${board.id}/cards?limit=200`)).filter(
      (card) => card.title === title,
    ).length

  it('of the same execution does nothing twice', async () => {
    const options = { executionId: '231', items: 2 }
    const [first] = await run(credentials, create('Once'), options)
    const [again] = await run(credentials, create('Once'), options)
    assert.equal(again.id, first.id)
    assert.equal(await count('Once'), 2) // one for each item
  })

  it('with other parameters is rejected', async () => {
    await run(credentials, create('Before'), { executionId: '230' })
    const changed = run(credentials, create('After'), { executionId: '230' })
    await assert.rejects(changed, /Idempotency-Key/i)
    assert.equal(await count('After'), 0)
  })

  it('is told apart from another run of the node and another execution', async () => {
    await run(credentials, create('Twice'), { executionId: '232' })
    await run(credentials, create('Twice'), { executionId: '232', runIndex: 1 })
    await run(credentials, create('Twice'), { executionId: '233' })
    assert.equal(await count('Twice'), 3)
  })
})

describe('an error', () => {
  const missing = { resource: 'card', operation: 'get', cardId: 'crd_01jb2m3n4p5q6r7s8t9v0w1x2y' }

  it('has the message of the server', async () => {
    await assert.rejects(run(credentials, missing), (error) => {
      assert.equal(error.constructor.name, 'NodeApiError')
      assert.equal(error.httpCode, '404')
      assert.match(error.message, /no such object/)
      return true
    })
    const invalid = { resource: 'card', operation: 'create', listId: list.id, title: '' }
    await assert.rejects(run(credentials, invalid), /title/)
  })

  it('does not stop the other items if the node continues on fail', async () => {
    const card = await newCard('Here')
    const output = await run(
      credentials,
      (item) => ({ ...missing, cardId: item === 1 ? card.id : missing.cardId }),
      { items: 3, continueOnFail: true, full: true },
    )
    assert.deepEqual(
      output.map(({ pairedItem }) => pairedItem.item),
      [0, 1, 2],
    )
    assert.equal(output[1].json.title, 'Here')
    assert.deepEqual(Object.keys(output[2].json), ['error'])
  })

  it('says how long to wait', async (t) => {
    const limited = await respondWith(t, 429, {
      error: { code: 'rate_limited', message: 'Slow down.' },
    })
    await assert.rejects(run(limited, missing), (error) => {
      assert.equal(error.message, 'Slow down.')
      assert.match(error.description, /wait 12 seconds/)
      return true
    })
  })

  it('names the server URL if something else responds', async (t) => {
    const other = await respondWith(t, 404, '<h1>Not found</h1>')
    await assert.rejects(run(other, missing), /status 404.*Check the server URL/)
  })

  it('does not let an id change the path', async () => {
    await assert.rejects(
      run(credentials, { ...missing, cardId: '../boards' }),
      ({ httpCode }) => httpCode !== '200',
    )
  })
})

/** Starts a server with one response for a test, and returns credentials for it. */
async function respondWith(t, status, body) {
  const port = await freePort()
  const fake = createServer((_, response) => {
    response.writeHead(status, { 'Retry-After': '12' })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  })
  await new Promise((resolve) => fake.listen(port, '127.0.0.1', resolve))
  t.after(() => fake.close().closeAllConnections())
  return { serverUrl: `http://127.0.0.1:${port}`, apiToken: 't' }
}

describe('dropdowns', () => {
  const find = (options, value) => options.find((option) => option.value === value)

  it('show what the server has', async () => {
    const { id: boardId } = board
    assert.equal(
      find(await choices(credentials, 'getWorkspaces'), server.workspaceId).name,
      'Engines',
    )
    const boards = await choices(credentials, 'getBoards')
    assert.deepEqual(find(boards, boardId), {
      name: 'Engine',
      value: boardId,
      description: 'Engines',
    })
    assert.equal(find(await choices(credentials, 'getLists', { boardId }), list.id).name, 'To do')
    assert.equal(find(await choices(credentials, 'getLabels', { boardId }), label.id).name, 'Bug')
    assert.equal(find(await choices(credentials, 'getMembers', { boardId }), me.id).name, me.name)
  })

  it('need a board for its lists', async () => {
    await assert.rejects(choices(credentials, 'getLists'), /Choose a board first/)
  })
})

describe('credentials', () => {
  it('are tested with a request', async () => {
    const { createRequire } = await import('node:module')
    const { CardwallApi } = createRequire(import.meta.url)(
      '../dist/credentials/CardwallApi.credentials.js',
    )
    const { authenticate, test } = new CardwallApi()
    const response = await fetch(evaluate(test.request.baseURL, credentials) + test.request.url, {
      headers: {
        Authorization: evaluate(authenticate.properties.headers.Authorization, credentials),
      },
    })
    assert.equal(response.status, 200)
    assert.equal((await response.json()).data.email, 'ada@example.com')
  })
})
