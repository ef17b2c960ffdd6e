// A receiver of webhooks on this machine, for one test.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, send, server, type World } from './fixtures'

export type Got = { headers: IncomingHttpHeaders; body: string; event: { id: string; type: string } }
export type Answer = { status: number; text?: string }

export class Receiver {
  readonly got: Got[] = []
  answer: Answer = { status: 204 }
  /** A promise that responses wait for. */
  until: Promise<unknown> = Promise.resolve()
  private readonly server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString()
      this.got.push({ headers: request.headers, body, event: JSON.parse(body) as Got['event'] })
      void this.until.then(() => response.writeHead(this.answer.status).end(this.answer.text))
    })
  })

  static async start(answer: Answer = { status: 204 }): Promise<Receiver> {
    const receiver = new Receiver()
    receiver.answer = answer
    await new Promise<void>((up) => receiver.server.listen(0, '127.0.0.1', up))
    return receiver
  }

  /** The number of events received. An event is repeated if its server is killed before the response. */
  get events(): number {
    return new Set(this.got.map((one) => one.event.id)).size
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/cardwall`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.server.closeAllConnections()
    await new Promise((closed) => this.server.close(closed))
  }
}

/** The number of a delivery's signatures, and of those made with a secret. */
export function signatures(got: Got, secret: string): { all: number; right: number } {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  const signed = `${got.headers['webhook-id']}.${got.headers['webhook-timestamp']}.${got.body}`
  const want = createHmac('sha256', key).update(signed).digest()
  const all = String(got.headers['webhook-signature']).split(' ')
  const right = all.filter((s) => timingSafeEqual(Buffer.from(s.replace('v1,', ''), 'base64'), want)).length
  return { all: all.length, right }
}

/** Creates a webhook for a URL as a program does. */
export async function subscribe(
  world: World,
  receiver: Receiver,
  more: { name?: string; wide?: boolean; events?: string[]; agent?: string } = {},
): Promise<string> {
  const answer = await send('/api/public/v1/webhooks', {
    headers: {
      Authorization: `Bearer ${server().token}`,
      'Content-Type': 'application/json',
      'User-Agent': more.agent ?? 'test',
    },
    body: JSON.stringify({
      url: receiver.url,
      name: more.name ?? 'Deploy bot',
      events: more.events ?? ['card.created', 'card.moved'],
      ...(more.wide ? { workspaceId: world.workspaceId } : { boardId: world.boardId }),
    }),
  })
  expect(answer.ok, await answer.clone().text()).toBeTruthy()
  return ((await answer.json()) as { data: { id: string } }).data.id
}
