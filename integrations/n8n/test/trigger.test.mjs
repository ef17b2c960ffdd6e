// Runs the trigger node against a server that sends real deliveries to it.
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, it } from 'node:test'
import { startServer } from '../../server.mjs'
import { deliver, until, wrongSecret } from './helpers.mjs'
import { startTrigger } from './host.mjs'

let server, credentials, board, list, trigger

before(async () => {
  server = await startServer()
  credentials = { serverUrl: server.url, apiToken: server.token }
  const { workspaceId, api } = server
  board = await api('POST', '/boards', { workspaceId, name: 'Engine' })
  list = await api('POST', `/boards/${board.id}/lists`, { name: 'To do' })
})

after(() => server?.stop())

afterEach(async () => {
  await trigger?.close()
  for (const { id } of await webhooks()) await server.api('DELETE', `/webhooks/${id}`)
  trigger = undefined
})

/** Starts and activates a trigger for events of the board. */
async function activate(...events) {
  trigger = await startTrigger(credentials, { boardId: board.id, events })
  await trigger.create()
}

const newCard = (title, listId = list.id) => server.api('POST', '/cards', { listId, title })
const webhooks = () => server.api('GET', `/webhooks?workspaceId=${server.workspaceId}`)
const firstItem = () => until(() => trigger.items[0])

/** Sends a delivery to the trigger, signed with the secret of its webhook. */
const send = (delivery, age) => deliver(trigger.url, trigger.staticData.secret, delivery, age)

/** Returns a delivery about a card. */
const delivery = (id, cardId) => ({
  id,
  type: 'card.created',
  format: 'service-webhook/1',
  occurredAt: '2026-11-28T23:39:15.978Z',
  workspaceId: server.workspaceId,
  boardId: board.id,
  boardVersion: 7,
  actor: { type: 'person', id: 'usr_1' },
  data: { cardId, listId: list.id },
})

describe('the webhook', () => {
  it('is created with the name of the workflow, found, and deleted', async () => {
    await activate('card.created')
    const [webhook] = await webhooks()
    assert.equal(webhook.name, 'n8n: New cards')
    assert.deepEqual([webhook.boardId, webhook.events], [board.id, ['card.created']])
    assert.equal(webhook.id, trigger.staticData.webhookId)
    assert.equal(await trigger.checkExists(), true)

    await trigger.remove()
    assert.deepEqual(await webhooks(), [])
    assert.deepEqual(trigger.staticData, {})
    assert.equal(await trigger.checkExists(), false)
  })

  it('is created again if it was deleted in Cardwall', async () => {
    await activate('card.created')
    await server.api('DELETE', `/webhooks/${trigger.staticData.webhookId}`)
    assert.equal(await trigger.checkExists(), false)
    await trigger.create()
    assert.equal(await trigger.checkExists(), true)
    assert.equal((await webhooks()).length, 1)
  })

  it('is replaced if it is paused or the node was changed', async () => {
    await activate('card.created', 'card.moved')
    await server.api('POST', `/webhooks/${trigger.staticData.webhookId}/pause`)
    assert.equal(await trigger.checkExists(), false)
    await trigger.create()

    trigger.parameters = { ...trigger.parameters, events: ['card.moved', 'card.created'] }
    assert.equal(await trigger.checkExists(), true) // only the order differs
    trigger.parameters = { ...trigger.parameters, events: ['card.moved'] }
    assert.equal(await trigger.checkExists(), false)
    await trigger.create()

    trigger.parameters = { ...trigger.parameters, filters: { lists: [list.id] } }
    assert.equal(await trigger.checkExists(), false)
    await trigger.create()
    assert.equal(await trigger.checkExists(), true)

    const url = trigger.url
    trigger.url = url.replace('127.0.0.1', 'localhost')
    assert.equal(await trigger.checkExists(), false)
    trigger.url = url
    assert.equal((await webhooks()).length, 1)
  })

  it('covers a workspace', async () => {
    const { workspaceId } = server
    const parameters = { scope: 'workspace', workspaceId, events: ['list.created'] }
    trigger = await startTrigger(credentials, parameters)
    await trigger.create()
    assert.equal((await webhooks())[0].boardId, null)
    assert.equal(await trigger.checkExists(), true)
    const created = await server.api('POST', `/boards/${board.id}/lists`, { name: 'New' })
    const item = await firstItem()
    assert.equal(item.list.id, created.id)
    assert.ok(!('card' in item))
  })

  it('shows why it cannot be created', async () => {
    const token = await server.run(
      'token',
      'add',
      '--user=ada@example.com',
      '--name=read',
      '--scopes=read',
    )
    trigger = await startTrigger(
      { ...credentials, apiToken: token },
      {
        boardId: board.id,
        events: ['card.created'],
      },
    )
    await assert.rejects(trigger.create(), /scope/)
  })
})

describe('a delivery', () => {
  it('starts the workflow with the card', async () => {
    await activate('card.created')
    const card = await newCard('Mill')
    const item = await firstItem()
    assert.deepEqual(Object.keys(item), [
      'id',
      'type',
      'occurredAt',
      'workspaceId',
      'boardId',
      'boardVersion',
      'actor',
      'data',
      'card',
    ])
    assert.equal(item.id, `${board.id}:v${item.boardVersion}`)
    assert.equal(item.type, 'card.created')
    assert.deepEqual(item.data, { cardId: card.id, listId: list.id })
    assert.equal(item.card.title, 'Mill')
  })

  it('has the records of every kind of event', async () => {
    await activate('comment.added', 'checklist_item.completed', 'list.archived', 'status.posted')
    const { api } = server
    const card = await newCard('Records')
    await api('POST', `/cards/${card.id}/comments`, { text: 'Hello' })
    const checklist = await api('POST', `/cards/${card.id}/checklists`, { title: 'Steps' })
    const step = await api('POST', `/checklists/${checklist.id}/items`, { title: 'Step' })
    await api('PATCH', `/checklist-items/${step.id}`, { done: true })
    const other = await api('POST', `/boards/${board.id}/lists`, { name: 'Old' })
    await api('POST', `/lists/${other.id}/archive`)
    await api('POST', `/boards/${board.id}/status-updates`, {
      title: 'Week 1',
      status: 'on_track',
      text: 'Fine',
    })
    await until(() => trigger.items.length === 4)

    const item = (type) => trigger.items.find((item) => item.type === type)
    const comment = item('comment.added')
    assert.deepEqual([comment.comment.text, comment.card.id], ['Hello', card.id])
    const completed = item('checklist_item.completed')
    assert.deepEqual([completed.checklist.items[0].done, completed.card.id], [true, card.id])
    assert.equal(item('list.archived').list.name, 'Old')
    assert.equal(item('status.posted').statusUpdate.text, 'Fine')
  })

  it('is filtered by Cardwall', async () => {
    const parameters = { boardId: board.id, events: ['card.created', 'list.created'] }
    trigger = await startTrigger(credentials, { ...parameters, filters: { lists: [list.id] } })
    await trigger.create()
    const other = await server.api('POST', `/boards/${board.id}/lists`, { name: 'Other' })
    await newCard('Elsewhere', other.id)
    await newCard('Here')
    assert.equal((await firstItem()).card.title, 'Here')
    assert.equal(trigger.items.length, 1)
  })

  it('that is repeated starts nothing again', async () => {
    await activate('card.created')
    const card = await newCard('Repeat')
    await firstItem()
    const { rawBody } = trigger.requests[0]
    assert.equal(await send(JSON.parse(rawBody)), 200)
    assert.equal(trigger.items.length, 1)
  })

  it('that n8n could not start is sent again, and starts the workflow', async () => {
    await activate('card.created')
    trigger.failures = [500]
    await newCard('Again')
    assert.equal((await firstItem()).card.title, 'Again')
    await until(() => trigger.responses.length === 2)
    assert.deepEqual(trigger.responses, [500, 200])
  })

  it('that is forged or old is rejected', async () => {
    await activate('card.created')
    const card = await newCard('Forged')
    await firstItem()
    assert.equal(await deliver(trigger.url, wrongSecret, delivery('itg_2:v1', card.id)), 401)
    assert.equal(await send(delivery('itg_2:v1', card.id), 310), 401)
    assert.equal(await send(delivery('itg_2:v1', card.id), -310), 401)
    assert.equal((await fetch(trigger.url, { method: 'POST', body: '{}' })).status, 401)
    assert.equal(trigger.items.length, 1)
    assert.equal(await send(delivery('itg_2:v1', card.id), 290), 200)
    assert.equal(trigger.items.length, 2)
  })

  it('that is a test starts nothing', async () => {
    await activate('card.created')
    await server.api('POST', `/webhooks/${trigger.staticData.webhookId}/test`)
    await until(() => trigger.responses.length === 1)
    assert.deepEqual([trigger.responses, trigger.items], [[200], []])
  })

  it('about a deleted card has null instead of the card', async () => {
    await activate('card.created')
    const deleted = 'crd_01jb2m3n4p5q6r7s8t9v0w1x2y'
    assert.equal(await send(delivery('itg_3:v1', deleted)), 200)
    assert.equal(trigger.items[0].card, null)
  })

  it('is retried if the card cannot be read', async () => {
    await activate('card.created')
    trigger.credentials = { ...credentials, apiToken: 'wrong' }
    await newCard('Later')
    await until(() => trigger.responses.length === 1)
    assert.deepEqual([trigger.responses, trigger.items], [[503], []])
    trigger.credentials = credentials
    assert.equal((await firstItem()).card.title, 'Later') // Cardwall retried
  })
})

describe('the events of the node', () => {
  it('are those of the server', async () => {
    const document = await (await fetch(`${server.url}/api/public/v1/openapi.json`)).json()
    const { post } = document.paths['/webhooks']
    const { description } = post.requestBody.content['application/json'].schema.properties.events
    const known = description.match(/[a-z_]+\.[a-z_]+/g).filter((kind) => kind !== 'webhook.test')
    const { createRequire } = await import('node:module')
    const { events } = createRequire(import.meta.url)('../dist/nodes/CardwallTrigger/events.js')
    assert.deepEqual(events.map(({ value }) => value).toSorted(), known.toSorted())
  })
})
