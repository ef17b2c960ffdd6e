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
  const proxy = createServer((asked, answer) => forward(nodes, asked, answer)).listen(port, '127.0.0.1')

  let ended = false
  let kills = 0
  const wait = (ms: number) => new Promise((over) => setTimeout(over, ms).unref())
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

/** Tries the servers one after another, from a random one on, until one accepts the request. */
function forward(nodes: Node[], asked: IncomingMessage, answer: ServerResponse): void {
  const body: Buffer[] = []
  asked.on('data', (chunk: Buffer) => body.push(chunk))
  asked.on('end', () => attempt(Math.floor(Math.random() * nodes.length), 0))

  function attempt(i: number, tries: number): void {
    const { port } = nodes[i % nodes.length]!
    let connected = false
    const onward = request(
      { host: '127.0.0.1', port, method: asked.method, path: asked.url, headers: asked.headers, agent: false },
      (answered) => {
        answer.writeHead(answered.statusCode!, answered.rawHeaders)
        answered.pipe(answer)
        answered.on('aborted', () => answer.destroy())
        answered.on('error', () => answer.destroy())
      },
    )
    onward.on('socket', (socket) => socket.once('connect', () => (connected = true)))
    onward.on('error', () => {
      if (answer.headersSent || answer.destroyed) return
      if (tries < 2 * nodes.length && (!connected || asked.method === 'GET')) {
        setTimeout(() => attempt(i + 1, tries + 1), tries * 20)
        return
      }
      answer.writeHead(502).end()
    })
    answer.once('close', () => onward.destroy())
    onward.end(Buffer.concat(body))
  }
}
