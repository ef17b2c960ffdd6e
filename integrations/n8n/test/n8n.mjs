// Runs a workflow with both nodes in a real n8n. N8N_DIR is a folder in which n8n was installed
// with npm. n8n uses SQLite, or the PostgreSQL server of CARDWALL_TEST_POSTGRES if that is set, as
// tools/with-postgres does. Run it with a version of Node.js that this n8n supports.
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, it } from 'node:test'
import { promisify } from 'node:util'
import { freePort, startServer } from '../../server.mjs'
import { deliver, until, wrongSecret } from './helpers.mjs'

const run = promisify(execFile)
const workflowId = 'cardwallTest1234'
const webhookId = '8f1c52f0-6f0b-4c53-9b0e-2f6f8c4a1d11'
/** How long n8n may take to activate a workflow or to run it, in seconds. */
const limit = 60

let server, proxy, n8n, board, list

before(async () => {
  if (!process.env.N8N_DIR) throw new Error('N8N_DIR is not set')
  server = await startServer()
  const { workspaceId, api } = server
  board = await api('POST', '/boards', { workspaceId, name: 'Engine' })
  list = await api('POST', `/boards/${board.id}/lists`, { name: 'To do' })
  proxy = await startProxy(server.url)
  n8n = await startN8n()
})

after(async () => {
  await n8n?.stop()
  await proxy?.close()
  await server?.stop()
})

it('accepts the credentials', async () => {
  const credentials = { id: 'cardwall', name: 'Cardwall', type: 'cardwallApi' }
  const test = (data) =>
    n8n.rest('POST', '/credentials/test', { credentials: { ...credentials, data } })
  const { serverUrl, apiToken } = credentialData()
  const good = await test({ serverUrl: `${serverUrl}/`, apiToken })
  assert.equal(good.status, 'OK', good.message)
  assert.equal((await test({ serverUrl, apiToken: 'wrong' })).status, 'Error')
})

it('shows the boards in a dropdown', async () => {
  const options = await n8n.rest('POST', '/dynamic-node-parameters/options', {
    nodeTypeAndVersion: { name: 'n8n-nodes-cardwall.cardwallTrigger', version: 1 },
    path: 'parameters.boardId',
    methodName: 'getBoards',
    currentNodeParameters: {},
    credentials: { cardwallApi: { id: 'cardwall', name: 'Cardwall' } },
  })
  assert.deepEqual(options, [{ name: 'Engine', value: board.id, description: 'Engines' }])
})

it('creates the webhook when the workflow is activated', async () => {
  const { versionId } = await n8n.rest('GET', `/workflows/${workflowId}`)
  await n8n.rest('POST', `/workflows/${workflowId}/activate`, { versionId })
  const webhook = await until(async () => (await webhooks())[0], limit)
  assert.equal(webhook.name, 'n8n: Follow new cards')
})

it('runs the workflow, and comments once although the response is lost', async () => {
  const lost = proxy.loseNext('POST', '/comments')
  const card = await server.api('POST', '/cards', { listId: list.id, title: 'Mill' })
  await executed(1)
  assert.ok(lost.done)
  const comments = await server.api('GET', `/cards/${card.id}/comments`)
  assert.deepEqual(
    comments.map(({ text }) => text),
    [`card.created: Mill on ${board.id}:v3`],
  )
  const { archivedAt, dueDate } = await server.api('GET', `/cards/${card.id}`)
  assert.notEqual(archivedAt, null)
  assert.equal(dueDate, null)
  const lists = await server.api('GET', `/boards/${board.id}/lists`)
  assert.equal(lists[0].name, 'After Mill')
})

it('gets the delivery again if the card cannot be read', async () => {
  const lost = proxy.loseNext('GET', '/cards/')
  await server.api('POST', '/cards', { listId: list.id, title: 'Later' })
  await executed(2)
  assert.ok(lost.done)
})

it('runs once for a delivery, and not for a forged one', async () => {
  const card = await server.api('POST', '/cards', { listId: list.id, title: 'By hand' })
  await executed(3)
  await server.api('POST', `/cards/${card.id}/restore`) // the workflow archived it
  const { staticData } = await n8n.rest('GET', `/workflows/${workflowId}`)
  const { secret } = Object.values(staticData)[0]
  const delivery = { id: 'itg_1:v1', type: 'card.created', data: { cardId: card.id } }
  const url = `${n8n.url}/webhook/${webhookId}/webhook`
  assert.equal(await deliver(url, wrongSecret, delivery), 401)
  assert.equal(await deliver(url, secret, delivery), 200)
  await executed(4)
  assert.equal(await deliver(url, secret, delivery), 200)
  assert.equal((await executions()).length, 4)
})

it('deletes the webhook when the workflow is deactivated', async () => {
  await n8n.rest('POST', `/workflows/${workflowId}/deactivate`, {})
  await until(async () => (await webhooks()).length === 0, limit)
})

const webhooks = () => server.api('GET', `/webhooks?workspaceId=${server.workspaceId}`)
const executions = async () => (await n8n.rest('GET', '/executions')).results

/** Waits until the workflow has run a number of times, each time with success. */
async function executed(count) {
  const all = await until(async () => {
    const ended = (await executions()).filter(({ stoppedAt }) => stoppedAt)
    return ended.length >= count && ended
  }, limit)
  assert.deepEqual(
    all.map(({ status }) => status),
    Array(count).fill('success'),
  )
}

const credentialData = () => ({ serverUrl: proxy.url, apiToken: server.token })

/**
 * Returns the workflow: the trigger, a comment that is retried, and a call of each kind of request.
 */
function workflow() {
  const credentials = { cardwallApi: { id: 'cardwall', name: 'Cardwall' } }
  const cardId = "={{ $('Card created').item.json.card.id }}"
  const node = (name, type, parameters, options) => ({
    id: crypto.randomUUID(),
    name,
    type: `n8n-nodes-cardwall.${type}`,
    typeVersion: 1,
    position: [0, 0],
    parameters,
    credentials,
    ...options,
  })
  const action = (name, parameters, options) => node(name, 'cardwall', parameters, options)
  const nodes = [
    node(
      'Card created',
      'cardwallTrigger',
      { boardId: board.id, events: ['card.created'] },
      { webhookId },
    ),
    action(
      'Comment',
      {
        resource: 'comment',
        operation: 'create',
        cardId,
        text: '={{ $json.type }}: {{ $json.card.title }} on {{ $json.id }}',
      },
      { retryOnFail: true, maxTries: 3, waitBetweenTries: 100 },
    ),
    action('Set due', { operation: 'setDue', cardId, dueDate: '={{ $now }}' }),
    action('Clear due', { operation: 'clearDue', cardId }),
    action('Archive', { operation: 'archive', cardId }),
    action('Read', {
      operation: 'getAll',
      boardId: board.id,
      limit: 1,
      filters: { archived: 'only', lists: [list.id] },
    }),
    action('List', {
      resource: 'list',
      operation: 'create',
      boardId: board.id,
      name: '=After {{ $json.title }}',
      position: 'top',
    }),
  ]
  const next = (i) => ({ main: [[{ node: nodes[i + 1].name, type: 'main', index: 0 }]] })
  return {
    id: workflowId,
    name: 'Follow new cards',
    active: false,
    settings: {},
    nodes,
    connections: Object.fromEntries(nodes.slice(0, -1).map(({ name }, i) => [name, next(i)])),
  }
}

/** Starts n8n with the packed package, the credentials and the workflow. */
async function startN8n() {
  const folder = await mkdtemp(join(tmpdir(), 'cardwall-n8n-'))
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const env = {
    ...process.env,
    ...database(),
    N8N_USER_FOLDER: folder,
    N8N_ENCRYPTION_KEY: 'test',
    N8N_LISTEN_ADDRESS: '127.0.0.1',
    N8N_PORT: String(port),
    N8N_RUNNERS_BROKER_PORT: String(await freePort()),
    N8N_SECURE_COOKIE: 'false',
    WEBHOOK_URL: `${url}/`,
    // n8n is to send requests only to Cardwall.
    N8N_DIAGNOSTICS_ENABLED: 'false',
    N8N_VERSION_NOTIFICATIONS_ENABLED: 'false',
    N8N_TEMPLATES_ENABLED: 'false',
    N8N_PERSONALIZATION_ENABLED: 'false',
    N8N_LICENSE_AUTO_RENEW_ENABLED: 'false',
    N8N_VERIFIED_PACKAGES_ENABLED: 'false',
  }
  const program = join(process.env.N8N_DIR, 'node_modules/n8n/bin/n8n')
  const command = (...args) => run(process.execPath, [program, ...args], { env })

  await installPackage(join(folder, '.n8n/nodes/node_modules/n8n-nodes-cardwall'))
  const write = async (name, value) => {
    await writeFile(join(folder, name), JSON.stringify([value]))
    return `--input=${join(folder, name)}`
  }
  const credentials = {
    id: 'cardwall',
    name: 'Cardwall',
    type: 'cardwallApi',
    data: credentialData(),
  }
  await command('import:credentials', await write('credentials.json', credentials))
  await command('import:workflow', await write('workflow.json', workflow()))

  const child = spawn(process.execPath, [program, 'start'], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  child.stdout.on('data', (chunk) => (output += chunk))
  child.stderr.on('data', (chunk) => (output += chunk))
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      const exited = new Promise((resolve) => child.once('close', resolve))
      child.kill('SIGTERM')
      await exited
    }
    await rm(folder, { recursive: true, force: true })
  }
  try {
    await until(() => {
      if (child.exitCode !== null) throw new Error('n8n exited')
      return fetch(`${url}/healthz/readiness`).then(
        ({ ok }) => ok,
        () => false,
      )
    }, 180)
    return { url, rest: await signIn(`${url}/rest`), stop }
  } catch (error) {
    await stop()
    throw new Error(`n8n did not start:\n${output}`, { cause: error })
  }
}

/** Packs the package as for the registry, and unpacks it where n8n installs community nodes. */
async function installPackage(folder) {
  await mkdir(folder, { recursive: true })
  const { stdout } = await run('npm', ['pack', '--json', `--pack-destination=${folder}`])
  const [{ filename }] = JSON.parse(stdout.slice(stdout.indexOf('[')))
  await run('tar', ['--extract', '--strip-components=1', `--file=${filename}`], { cwd: folder })
}

/** Returns n8n's settings for the database. */
function database() {
  const address = process.env.CARDWALL_TEST_POSTGRES
  if (!address) return {}
  return {
    DB_TYPE: 'postgresdb',
    DB_POSTGRESDB_HOST: address.match(/host=([^&]*)/)[1],
    DB_POSTGRESDB_DATABASE: 'postgres',
    DB_POSTGRESDB_USER: 'postgres',
  }
}

/** Creates the owner of the n8n, and returns a function that calls its internal API. */
async function signIn(url) {
  const call = async (method, path, body, headers) => {
    const response = await fetch(url + path, {
      method,
      headers: { 'Content-Type': 'application/json', ...headers },
      body: body && JSON.stringify(body),
    })
    const text = await response.text()
    assert.ok(response.ok, `${method} ${path}: ${response.status} ${text}`)
    return { data: JSON.parse(text).data, headers: response.headers }
  }
  const owner = {
    email: 'ada@example.com',
    firstName: 'Ada',
    lastName: 'Lovelace',
    password: 'Difference1',
  }
  const { headers } = await call('POST', '/owner/setup', owner)
  const cookie = headers.getSetCookie()[0].split(';')[0]
  return async (method, path, body) => (await call(method, path, body, { Cookie: cookie })).data
}

/** Starts a proxy of Cardwall that can lose the response to a request that took effect. */
async function startProxy(target) {
  let loss
  const proxy = createServer(async (request, response) => {
    const chunks = []
    for await (const chunk of request) chunks.push(chunk)
    const { host, connection, ...headers } = request.headers
    const result = await fetch(target + request.url, {
      method: request.method,
      headers,
      body: chunks.length ? Buffer.concat(chunks) : undefined,
    })
    const text = await result.text()
    if (loss && request.method === loss.method && request.url.includes(loss.path)) {
      loss.done = true
      loss = undefined
      response.writeHead(502).end()
      return
    }
    response.writeHead(result.status, { 'Content-Type': result.headers.get('Content-Type') })
    response.end(text)
  })
  const port = await freePort()
  await new Promise((resolve) => proxy.listen(port, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${port}`,
    loseNext: (method, path) => (loss = { method, path, done: false }),
    close: () => proxy.close().closeAllConnections(),
  }
}
