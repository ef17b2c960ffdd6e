// Global setup of Playwright: starts the built binary with demo data in a new folder.
// To test a running server instead, set CARDWALL_URL to its URL; CARDWALL_E2E_EMAIL,
// CARDWALL_E2E_PASSWORD and CARDWALL_E2E_TOKEN to the credentials of an account on it; and
// CARDWALL_E2E_OUTBOX to its outbox folder.
// CARDWALL_NODES is the number of servers to start (e2e/nodes.ts).
import { join } from 'node:path'
import { startNodes } from './nodes'
import { freePort, makeTempFolder, startDemoServer } from './serverProcess'

export default async function start(): Promise<() => Promise<void>> {
  if (process.env.CARDWALL_URL) return async () => undefined
  const { folder, remove } = makeTempFolder()
  const nodes = process.env.CARDWALL_NODES
  const server = nodes ? await startNodes(folder, Number(nodes)) : await startDemoServer(folder, await freePort())
  process.env.CARDWALL_URL = server.url
  process.env.CARDWALL_E2E_EMAIL = server.email
  process.env.CARDWALL_E2E_PASSWORD = server.password
  process.env.CARDWALL_E2E_TOKEN = server.token
  process.env.CARDWALL_E2E_OUTBOX = join(folder, 'outbox')
  return async () => {
    await server.stop('SIGTERM')
    remove()
  }
}
