// Subscribes each trigger with the runner of zapier-platform-core, and passes it real deliveries.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { after, before, describe, test } from 'node:test'
import zapier from 'zapier-platform-core'
import { startServer } from '../../server.mjs'
import app from '../index.js'
import { kinds } from '../kinds.js'
import * as samples from '../samples.js'

const tester = zapier.createAppTester(app)

let server, workspaceId, board, list, done, me, label

/** The deliveries that have arrived, by the path of their address. */
const deliveries = {}
const receiver = createServer(async (request, response) => {
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  response.writeHead(200).end()
  ;(deliveries[request.url] ??= []).push(JSON.parse(Buffer.concat(chunks)))
  receiver.emit('delivery')
})
const address = (path) => `http://127.0.0.1:${receiver.address().port}${path}`

/** Returns the deliveries to a path, once there is one. */
async function delivered(path) {
  while (!deliveries[path]) await once(receiver, 'delivery')
  return deliveries[path]
}

before(async () => {
  server = await startServer()
  workspaceId = server.workspaceId
  receiver.listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  me = await server.api('GET', '/me')
  board = await server.api('POST', '/boards', { workspaceId, name: 'Launch' })
  list = await server.api('POST', `/boards/${board.id}/lists`, { name: 'To do' })
  done = await server.api('POST', `/boards/${board.id}/lists`, { name: 'Done' })
  label = await server.api('POST', `/boards/${board.id}/labels`, { name: 'Bug', color: 'red' })
})
after(async () => {
  receiver.closeAllConnections()
  receiver.close()
  await server?.stop()
})

/** Calls a function of a trigger as Zapier does. */
const call = (kind, name, inputData, more) => {
  const authData = { serverUrl: server.url, token: server.token }
  const { operation } = app.triggers[kind.replace('.', '_')]
  return tester(operation[name], { authData, inputData, ...more })
}
const subscribe = (kind, inputData, path) =>
  call(kind, 'performSubscribe', inputData, { targetUrl: address(path) })
const webhooks = () => server.api('GET', `/webhooks?workspaceId=${workspaceId}`)

const api = (...args) => server.api(...args)
const addCard = () => api('POST', '/cards', { listId: list.id, title: 'Poster' })
const addList = () => api('POST', `/boards/${board.id}/lists`, { name: 'Later' })

/** Returns a function that creates a card and sends requests about it. */
const toCard =
  (...requests) =>
  async () => {
    const { id } = await addCard()
    for (const [method, path, body] of requests) {
      await api(method, `/cards/${id}${path}`, typeof body === 'function' ? body() : body)
    }
  }

/** What causes an event of each kind. */
const causes = {
  'card.created': addCard,
  'card.updated': toCard(['PATCH', '', { title: 'Banner' }]),
  'card.moved': toCard(['POST', '/move', () => ({ listId: done.id })]),
  'card.completed': toCard(['PATCH', '', { done: true }]),
  'card.reopened': toCard(['PATCH', '', { done: true }], ['PATCH', '', { done: false }]),
  'card.archived': toCard(['POST', '/archive', {}]),
  'card.restored': toCard(['POST', '/archive', {}], ['POST', '/restore', {}]),
  'card.assignees_changed': toCard(['PATCH', '/assignees', () => ({ add: [me.id] })]),
  'card.labels_changed': toCard(['PATCH', '/labels', () => ({ add: [label.id] })]),
  'card.due_date_changed': toCard(['PUT', '/due', { dueDate: '2026-12-24' }]),
  'comment.added': toCard(['POST', '/comments', { text: 'Well done.' }]),
  'checklist_item.completed': async () => {
    const { id } = await addCard()
    const { items } = await api('POST', `/cards/${id}/checklists`, {
      title: 'Steps',
      items: ['One'],
    })
    await api('PATCH', `/checklist-items/${items[0].id}`, { done: true })
  },
  'list.created': addList,
  'list.archived': async () => api('POST', `/lists/${(await addList()).id}/archive`, {}),
  'status.posted': () =>
    api('POST', `/boards/${board.id}/status-updates`, { status: 'on_track', title: 'All is well' }),
}

/** Returns the names of an object's fields, and of those of its records. */
const shape = (item) =>
  Object.entries(item)
    .flatMap(([name, value]) =>
      name in samples.records
        ? [name, ...Object.keys(value).map((field) => `${name}.${field}`)]
        : [name],
    )
    .sort()

test('each kind of event has a trigger', () => {
  const document = new URL('../../../internal/rest/testdata/openapi.json', import.meta.url)
  const { webhooks } = JSON.parse(readFileSync(document))
  assert.deepEqual([...Object.keys(kinds), 'webhook.test'].sort(), Object.keys(webhooks).sort())
})

describe('triggers', () => {
  for (const kind of Object.keys(kinds)) {
    test(kind, async () => {
      const inputData = kind.startsWith('card.')
        ? { workspaceId }
        : { workspaceId, boardId: board.id }
      const path = `/${kind}`
      const subscribeData = await subscribe(kind, inputData, path)
      assert.deepEqual(Object.keys(subscribeData), ['id'])
      await causes[kind]()
      const [cleanedRequest] = await delivered(path)

      const received = { cleanedRequest, subscribeData }
      const [item, ...others] = await call(kind, 'perform', inputData, received)
      assert.deepEqual([item.type, others], [kind, []])
      const { sample } = app.triggers[kind.replace('.', '_')].operation
      assert.deepEqual(shape(item), shape(sample))
      for (const field of Object.keys(sample.changes)) assert.ok(field in item.changes, field)

      assert.deepEqual(await call(kind, 'perform', inputData, received), [], 'repeated')
      const recent = await call(kind, 'performList', inputData)
      assert.deepEqual(recent[0], item)

      await call(kind, 'performUnsubscribe', inputData, { subscribeData })
      assert.deepEqual((await webhooks()).length, 0)
      await call(kind, 'performUnsubscribe', inputData, { subscribeData })
    })
  }
})

test('a delivery that is not real, and a test event, start nothing', async () => {
  const subscribeData = await subscribe('card.created', { workspaceId }, '/forged')
  await addCard() // so that the board has the version of a card.created when the test is sent
  await api('POST', `/webhooks/${subscribeData.id}/test`, {})
  await addList()
  while ((await delivered('/forged')).length < 2) await once(receiver, 'delivery')
  const event = deliveries['/forged'].find(({ type }) => type === 'webhook.test')
  const { version } = await api('GET', `/boards/${board.id}`)
  for (const cleanedRequest of [
    event,
    { ...event, type: 'card.created', boardVersion: version },
    { ...event, type: 'card.created', boardVersion: version + 1 },
    {
      ...event,
      type: 'card.created',
      boardId: `x/../${board.id}/changes?since=0&type=card.created&`,
    },
    { ...event, type: 'card.created', boardId: 'brd_none' },
  ]) {
    const received = { cleanedRequest, subscribeData }
    assert.deepEqual(await call('card.created', 'perform', {}, received), [])
  }
  await call('card.created', 'performUnsubscribe', {}, { subscribeData })
})

test('a record that was deleted since is null', async () => {
  const input = { workspaceId, boardId: board.id }
  const subscribeData = await subscribe('comment.added', input, '/deleted')
  await causes['comment.added']()
  const [cleanedRequest] = await delivered('/deleted')
  await api('DELETE', `/comments/${cleanedRequest.data.commentId}`)
  const received = { cleanedRequest, subscribeData }
  const [item] = await call('comment.added', 'perform', input, received)
  assert.deepEqual([item.comment, item.card.title], [null, 'Poster'])
  await call('comment.added', 'performUnsubscribe', input, { subscribeData })
})

test('a subscription covers the chosen lists and labels, and says what it lacks', async () => {
  const input = { workspaceId, boardId: board.id, lists: [list.id], labels: [label.id] }
  const subscribeData = await subscribe('card.created', input, '/filtered')
  const [webhook] = await webhooks()
  assert.deepEqual([webhook.lists, webhook.labels], [[list.id], [label.id]])
  assert.equal(webhook.name, 'Zapier: New Card')
  await call('card.created', 'performUnsubscribe', input, { subscribeData })
  await assert.rejects(
    subscribe('card.created', { workspaceId, lists: [list.id] }, '/filtered'),
    /webhooks? of a board|boardId/,
  )
})
