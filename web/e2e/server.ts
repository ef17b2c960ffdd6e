// One server for all browser tests: the built binary with demo data in a
// folder of its own. CARDWALL_URL names a server that runs already, with CARDWALL_E2E_EMAIL and
// CARDWALL_E2E_PASSWORD of a person on it, CARDWALL_E2E_TOKEN of theirs and
// CARDWALL_E2E_OUTBOX, the folder where it puts emails. With CARDWALL_NODES it
// is so many servers (e2e/nodes.ts).
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
