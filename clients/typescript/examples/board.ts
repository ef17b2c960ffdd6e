// Creates, watches, follows and edits a board.
//
//   node build/examples/board.js import NAME FILE.csv
//   node build/examples/board.js watch BOARD PORT COUNT
//   node build/examples/board.js catch-up BOARD FILE
//   node build/examples/board.js edit BOARD LABEL
import { once } from 'node:events'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { Client, WebhookVerificationError, verifyWebhook } from '@cardwall/client'
import type { WebhookEvent, components } from '@cardwall/client'
import { parseCSV } from './csv.js'

type NewCard = components['schemas']['CreateCardInput']

/** The bulk operations take up to this many cards. */
const bulk = 100

/** Creates a board with the lists and cards of a file, and prints its id. */
async function importBoard(client: Client, name: string, file: string): Promise<void> {
  const rows = parseCSV(readFileSync(file, 'utf8'))
  const names = [...new Set(rows.map((row) => row.list ?? ''))]
  let workspaceId: string | undefined
  for await (const workspace of client.all('/workspaces')) {
    workspaceId = workspace.id
    break
  }
  if (!workspaceId) throw new Error('You are not in a workspace.')

  const lists = names.map((list) => ({ name: list }))
  const { data: board } = await client.POST('/boards', { body: { workspaceId, name, lists } })
  const listIds = new Map(names.map((list, i) => [list, board.lists[i]!.id]))
  const cards = rows.map(({ list = '', title = '', description = '', due }): NewCard => {
    const dates = due ? { due: { dueDate: due } } : {}
    return { listId: listIds.get(list)!, title, description, ...dates }
  })
  const params = { path: { boardId: board.id } }
  for (const part of parts(cards)) {
    await client.POST('/boards/{boardId}/cards', { params, body: { cards: part } })
  }
  console.log(board.id)
}

const events: WebhookEvent['type'][] = [
  'card.created',
  'card.updated',
  'card.moved',
  'card.completed',
  'card.reopened',
  'card.archived',
  'card.restored',
  'card.assignees_changed',
  'card.labels_changed',
  'card.due_date_changed',
  'comment.added',
]

/** Prints the next events of a board's cards, as they are delivered to a webhook. */
async function watch(client: Client, boardId: string, port: number, count: number): Promise<void> {
  let tellSecret!: (secret: string) => void
  let finish!: () => void
  const secret = new Promise<string>((resolve) => (tellSecret = resolve))
  const finished = new Promise<void>((resolve) => (finish = resolve))
  const seen = new Set<string>()
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    let event: WebhookEvent
    try {
      event = await verifyWebhook(await secret, request.headers, Buffer.concat(chunks))
    } catch (error) {
      if (!(error instanceof WebhookVerificationError)) throw error
      response.writeHead(401).end()
      return
    }
    response.writeHead(204).end()
    // A delivery is repeated if the response does not reach the server.
    if (seen.has(event.id) || seen.size >= count) return
    seen.add(event.id)
    console.log(event.type, event.id)
    if (seen.size === count) finish()
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')

  const url = `http://127.0.0.1:${port}/`
  const { data: webhook } = await client.POST('/webhooks', { body: { url, boardId, events } })
  try {
    tellSecret(webhook.secret)
    process.once('SIGINT', finish)
    await finished
  } finally {
    await client.DELETE('/webhooks/{webhookId}', { params: { path: { webhookId: webhook.id } } })
    server.close()
    server.closeAllConnections()
  }
}

/** Prints the changes of a board since the version in a file, and writes the new version to it. */
async function catchUp(client: Client, boardId: string, file: string): Promise<void> {
  const since = existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0
  const params = { path: { boardId }, query: { since } }
  let version = since
  for await (const page of client.pages('/boards/{boardId}/changes', { params })) {
    for (const change of page.data) console.log(change.boardVersion, change.type)
    version = page.boardVersion ?? version
  }
  // If the program stops before this, it prints the same changes again next time.
  writeFileSync(`${file}.new`, `${version}\n`)
  renameSync(`${file}.new`, file)
}

/** Adds a label to all open cards of a board, and prints how many did not have it. */
async function edit(client: Client, boardId: string, name: string): Promise<void> {
  const path = { boardId }
  let labelId: string | undefined
  for await (const label of client.all('/boards/{boardId}/labels', { params: { path } })) {
    if (label.name === name) labelId ??= label.id
  }
  if (!labelId) {
    const body = { name, color: 'sky' } as const
    const { data: label } = await client.POST('/boards/{boardId}/labels', {
      params: { path },
      body,
    })
    labelId = label.id
  }
  const cardIds: string[] = []
  const query = { labelNot: labelId, limit: 100 }
  for await (const card of client.all('/boards/{boardId}/cards', { params: { path, query } })) {
    cardIds.push(card.id)
  }
  for (const part of parts(cardIds)) {
    const body = { cardIds: part, addLabels: [labelId] }
    await client.PATCH('/boards/{boardId}/cards', { params: { path }, body })
  }
  console.log(cardIds.length)
}

/** Splits an array into parts that a bulk operation takes. */
function* parts<T>(all: T[]): Generator<T[]> {
  for (let i = 0; i < all.length; i += bulk) yield all.slice(i, i + bulk)
}

const usage =
  'usage: board import NAME FILE.csv | watch BOARD PORT COUNT | catch-up BOARD FILE | edit BOARD LABEL'
const { CARDWALL_URL, CARDWALL_TOKEN } = process.env
if (!CARDWALL_URL || !CARDWALL_TOKEN) throw new Error('Set CARDWALL_URL and CARDWALL_TOKEN.')
const client = new Client(CARDWALL_URL, CARDWALL_TOKEN)
const [command, first = '', second = '', third = ''] = process.argv.slice(2)
switch (command) {
  case 'import':
    await importBoard(client, first, second)
    break
  case 'watch':
    await watch(client, first, Number(second), Number(third))
    break
  case 'catch-up':
    await catchUp(client, first, second)
    break
  case 'edit':
    await edit(client, first, second)
    break
  default:
    console.error(usage)
    process.exitCode = 2
}
