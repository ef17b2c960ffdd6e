// Starts the built server for the tests of an integration. CARDWALL_BIN names the binary.
import { execFile, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** Returns a port that nothing listens on. */
export function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address()
      probe.close(() => resolve(port))
    })
  })
}

/**
 * Starts a server with an account, the workspace "Engines" and a token with all scopes. Returns its
 * address, the token, and functions that call its API, run its other commands, and stop it.
 */
export async function startServer() {
  const binary = process.env.CARDWALL_BIN
  if (!binary) throw new Error('CARDWALL_BIN is not set; run make test-integrations')
  const folder = await mkdtemp(join(tmpdir(), 'cardwall-integration-'))
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const env = {
    ...process.env,
    CARDWALL_DATA: join(folder, 'data'),
    CARDWALL_ADDR: `127.0.0.1:${port}`,
    CARDWALL_BASE_URL: url,
    CARDWALL_WEBHOOK_ALLOW: '127.0.0.1',
    CARDWALL_WEBHOOK_RETRY_PAUSES: '1s,1s',
    CARDWALL_RATE_LIMITS: 'off',
  }
  /** Runs a command of the binary, and returns what it prints. */
  const run = async (...args) => (await promisify(execFile)(binary, args, { env })).stdout.trim()

  await run('user', 'add', '--email=ada@example.com', '--name=Ada Lovelace')
  const workspaceId = await run('workspace', 'add', '--owner=ada@example.com', '--name=Engines')
  const token = await run('token', 'add', '--user=ada@example.com', '--name=test', '--scopes=read,write,admin')

  const server = spawn(binary, ['serve'], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  await new Promise((resolve, reject) => {
    const onOutput = (chunk) => {
      output += chunk
      if (output.includes('"serving"')) resolve()
    }
    server.stdout.on('data', onOutput)
    server.stderr.on('data', onOutput)
    server.once('error', reject)
    server.once('exit', () => reject(new Error(`the server exited:\n${output}`)))
  })

  /** Calls the API, and returns the field data of the response. */
  const api = async (method, path, body) => {
    const response = await fetch(`${url}/api/public/v1${path}`, {
      method,
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: body && JSON.stringify(body),
    })
    const answer = await response.json()
    if (!response.ok) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`)
    return answer.data
  }
  const stop = async () => {
    if (server.exitCode === null && server.signalCode === null) {
      const exited = new Promise((resolve) => server.once('close', resolve))
      server.kill('SIGTERM')
      await exited
    }
    await rm(folder, { recursive: true, force: true })
  }
  return { url, token, workspaceId, run, api, stop }
}
