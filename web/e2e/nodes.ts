// Several servers on one PostgreSQL behind a proxy that sends each request to any of them, like
// a simple load balancer: a request that no server accepted goes to another one, and so does a
// GET whose connection broke before a response. Every ten seconds one server is killed and
// restarted. CARDWALL_TEST_POSTGRES is the database (tools/with-postgres).
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import { freePort, run, type Running } from './running'

const killEvery = 10_000

type Node = { port: number; running: Running }

export async function serveNodes(folder: string, count: number): Promise<Running> {
  const database = process.env.CARDWALL_TEST_POSTGRES
  if (!database) throw new Error('Give a database: tools/with-postgres sets CARDWALL_TEST_POSTGRES.')
  const port = await freePort()
  const url = `http://localhost:${port}` // passkeys need a host name
  const start = (at: number, ...flags: string[]) => run(folder, at, url, ['--database', database, ...flags])
  const nodes: Node[] = []
  for (let i = 0; i < count; i++) {
    const at = await freePort()
    nodes.push({ port: at, running: await start(at, ...(i === 0 ? ['--demo'] : [])) })
  }
  const proxy = createServer((incoming, response) => forward(nodes, incoming, response)).listen(port, '127.0.0.1')

  let ended = false
  let kills = 0
  const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms).unref())
  const killing = (async () => {
    while (!ended) {
      await wait(killEvery)
      if (ended) return
      const node = nodes[kills++ % count]!
      await node.running.stop('SIGKILL')
      node.running = await start(node.port)
    }
  })()
  const { email, password, token, first } = nodes[0]!.running
  return {
    url,
    email,
    password,
    token,
    first,
    stop: async (signal) => {
      ended = true
      await Promise.race([killing, wait(killEvery / 2)])
      console.log(`${kills} servers were killed.`)
      proxy.closeAllConnections()
      proxy.close()
      await Promise.all(nodes.map((node) => node.running.stop(signal)))
    },
  }
}

/** Tries the servers in turn, starting with a random one, until one accepts the request. */
function forward(nodes: Node[], incoming: IncomingMessage, response: ServerResponse): void {
  const body: Buffer[] = []
  incoming.on('data', (chunk: Buffer) => body.push(chunk))
  incoming.on('end', () => attempt(Math.floor(Math.random() * nodes.length), 0))

  function attempt(i: number, tries: number): void {
    const { port } = nodes[i % nodes.length]!
    let connected = false
    const onward = request(
      { host: '127.0.0.1', port, method: incoming.method, path: incoming.url, headers: incoming.headers, agent: false },
      (upstream) => {
        response.writeHead(upstream.statusCode!, upstream.rawHeaders)
        upstream.pipe(response)
        upstream.on('aborted', () => response.destroy())
        upstream.on('error', () => response.destroy())
      },
    )
    onward.on('socket', (socket) => socket.once('connect', () => (connected = true)))
    onward.on('error', () => {
      if (response.headersSent || response.destroyed) return
      if (tries < 2 * nodes.length && (!connected || incoming.method === 'GET')) {
        setTimeout(() => attempt(i + 1, tries + 1), tries * 20)
        return
      }
      response.writeHead(502).end()
    })
    response.once('close', () => onward.destroy())
    onward.end(Buffer.concat(body))
  }
}
