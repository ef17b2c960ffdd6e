// Global setup of Playwright: starts the built binary with demo data in a new folder, once for each worker.
// To test a running server instead, set CARDWALL_URL to its URL; CARDWALL_E2E_EMAIL,
// CARDWALL_E2E_PASSWORD and CARDWALL_E2E_TOKEN to the credentials of an account on it; and
// CARDWALL_E2E_OUTBOX to its outbox folder.
// CARDWALL_NODES is the number of servers to start on one database (e2e/nodes.ts). The workers share them.
import { join } from 'node:path'
import type { FullConfig } from '@playwright/test'
import type { TestServer } from './api'
import { startNodes } from './nodes'
import { freePort, makeTempFolder, startDemoServer } from './serverProcess'

type StartedServer = { server: TestServer; stop: () => Promise<void> }

export default async function start({ workers }: FullConfig): Promise<() => Promise<void>> {
  const { CARDWALL_URL: url, CARDWALL_NODES: nodes } = process.env
  if (url) {
    passToWorkers([runningServer(url)])
    return async () => undefined
  }
  const count = nodes ? 1 : workers
  const started = await Promise.all(Array.from({ length: count }, () => startServer(Number(nodes ?? 0))))
  passToWorkers(started.map(({ server }) => server))
  return async () => void (await Promise.all(started.map(({ stop }) => stop())))
}

/** Passes the servers to the workers. See `server` in api.ts. */
function passToWorkers(servers: TestServer[]): void {
  process.env.CARDWALL_E2E_SERVERS = JSON.stringify(servers)
}

function runningServer(url: string): TestServer {
  const { CARDWALL_E2E_EMAIL: email, CARDWALL_E2E_PASSWORD: password } = process.env
  const { CARDWALL_E2E_TOKEN: token = '', CARDWALL_E2E_OUTBOX: outbox = '' } = process.env
  if (!email || !password) throw new Error('CARDWALL_E2E_EMAIL and CARDWALL_E2E_PASSWORD must be set')
  return { url, email, password, token, outbox }
}

async function startServer(nodes: number): Promise<StartedServer> {
  const { folder, remove } = makeTempFolder()
  const running = nodes > 0 ? await startNodes(folder, nodes) : await startDemoServer(folder, await freePort())
  const { url, email, password, token } = running
  const stop = async () => {
    await running.stop('SIGTERM')
    remove()
  }
  return { server: { url, email, password, token, outbox: join(folder, 'outbox') }, stop }
}
