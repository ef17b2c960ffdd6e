// One server for all browser tests: the built binary with demo data in a new folder.
// CARDWALL_URL selects a running server instead, with CARDWALL_E2E_EMAIL, CARDWALL_E2E_PASSWORD
// and CARDWALL_E2E_TOKEN of a person on it, and CARDWALL_E2E_OUTBOX, the folder of its emails.
// CARDWALL_NODES sets a number of servers (e2e/nodes.ts).
import { join } from 'node:path'
import { serveNodes } from './nodes'
import { freePort, makeFolder, serve } from './running'

export default async function start(): Promise<() => Promise<void>> {
  if (process.env.CARDWALL_URL) return async () => undefined
  const { folder, remove } = makeFolder()
  const nodes = process.env.CARDWALL_NODES
  const running = nodes ? await serveNodes(folder, Number(nodes)) : await serve(folder, await freePort())
  process.env.CARDWALL_URL = running.url
  process.env.CARDWALL_E2E_EMAIL = running.email
  process.env.CARDWALL_E2E_PASSWORD = running.password
  process.env.CARDWALL_E2E_TOKEN = running.token
  process.env.CARDWALL_E2E_OUTBOX = join(folder, 'outbox')
  return async () => {
    await running.stop('SIGTERM')
    remove()
  }
}
