// Several servers on one PostgreSQL behind a proxy that acts as a simple load balancer. The proxy
// sends each request to a random server. It tries another server if the connection is refused, and
// also if the connection of a GET breaks before the response. Every ten seconds one server is
// killed and restarted. CARDWALL_TEST_POSTGRES is the database (tools/with-postgres).
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import { freePort, startServer, type RunningServer } from './serverProcess'

const killInterval = 10_000 // ms

type Node = { port: number; server: RunningServer }

/** Starts the proxy and the servers. Stopping the result stops all of them. */
export async function startNodes(folder: string, count: number): Promise<RunningServer> {
  const database = process.env.CARDWALL_TEST_POSTGRES
  if (!database) throw new Error('CARDWALL_TEST_POSTGRES is not set. Run the tests with tools/with-postgres.')
  const port = await freePort()
  const url = `http://localhost:${port}` // passkeys need a host name
  const start = (nodePort: number, ...flags: string[]) =>
    startServer(folder, nodePort, url, ['--database', database, ...flags])
  const nodes: Node[] = []
  for (let i = 0; i < count; i++) {
    const nodePort = await freePort()
    nodes.push({ port: nodePort, server: await start(nodePort, ...(i === 0 ? ['--demo'] : [])) })
  }
  const proxy = createServer((incoming, response) => forward(nodes, incoming, response)).listen(port, '127.0.0.1')

  let stopping = false
  let kills = 0
  // eslint-disable-next-line no-restricted-syntax -- servers are killed at regular times, whatever the tests do
  const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms).unref())
  const killLoop = (async () => {
    while (!stopping) {
      await wait(killInterval)
      if (stopping) return
      const node = nodes[kills++ % count]!
      await node.server.stop('SIGKILL')
      node.server = await start(node.port)
    }
  })()
  const { email, password, token, firstAccountLink } = nodes[0]!.server
  return {
    url,
    email,
    password,
    token,
    firstAccountLink,
    stop: async (signal) => {
      stopping = true
      await Promise.race([killLoop, wait(killInterval / 2)])
      console.log(`${kills} servers were killed.`)
      proxy.closeAllConnections()
      proxy.close()
      await Promise.all(nodes.map((node) => node.server.stop(signal)))
    },
  }
}

/** Forwards a request: tries the servers in turn, beginning at random, until one accepts it. */
function forward(nodes: Node[], incoming: IncomingMessage, response: ServerResponse): void {
  const body: Buffer[] = []
  incoming.on('data', (chunk: Buffer) => body.push(chunk))
  incoming.on('end', () => attempt(Math.floor(Math.random() * nodes.length), 0))

  function attempt(i: number, retries: number): void {
    const { port } = nodes[i % nodes.length]!
    let connected = false
    const proxied = request(
      { host: '127.0.0.1', port, method: incoming.method, path: incoming.url, headers: incoming.headers, agent: false },
      (upstream) => {
        response.writeHead(upstream.statusCode!, upstream.rawHeaders)
        upstream.pipe(response)
        upstream.on('aborted', () => response.destroy())
        upstream.on('error', () => response.destroy())
      },
    )
    proxied.on('socket', (socket) => socket.once('connect', () => (connected = true)))
    proxied.on('error', () => {
      if (response.headersSent || response.destroyed) return
      if (retries < 2 * nodes.length && (!connected || incoming.method === 'GET')) {
        // eslint-disable-next-line no-restricted-syntax -- a load balancer waits before it tries the next server
        setTimeout(() => attempt(i + 1, retries + 1), retries * 20)
        return
      }
      response.writeHead(502).end()
    })
    response.once('close', () => proxied.destroy())
    proxied.end(Buffer.concat(body))
  }
}
