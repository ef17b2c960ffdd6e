// A receiver of webhooks on this machine, for one test.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, send, server, type World } from './fixtures'

export type ReceivedDelivery = { headers: IncomingHttpHeaders; body: string; event: { id: string; type: string } }
export type Reply = { status: number; text?: string }

export class Receiver {
  readonly deliveries: ReceivedDelivery[] = []
  reply: Reply = { status: 204 }
  /** A promise that responses wait for. */
  until: Promise<unknown> = Promise.resolve()
  private readonly server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString()
      this.deliveries.push({ headers: request.headers, body, event: JSON.parse(body) as ReceivedDelivery['event'] })
      void this.until.then(() => response.writeHead(this.reply.status).end(this.reply.text))
    })
  })

  static async start(reply: Reply = { status: 204 }): Promise<Receiver> {
    const receiver = new Receiver()
    receiver.reply = reply
    await new Promise<void>((resolve) => receiver.server.listen(0, '127.0.0.1', resolve))
    return receiver
  }

  /** The number of events received. An event is repeated if its server is killed before the response. */
  get events(): number {
    return new Set(this.deliveries.map((one) => one.event.id)).size
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
export function signatures(delivery: ReceivedDelivery, secret: string): { all: number; right: number } {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  const signed = `${delivery.headers['webhook-id']}.${delivery.headers['webhook-timestamp']}.${delivery.body}`
  const expected = createHmac('sha256', key).update(signed).digest()
  const all = String(delivery.headers['webhook-signature']).split(' ')
  const right = all.filter((s) => timingSafeEqual(Buffer.from(s.replace('v1,', ''), 'base64'), expected)).length
  return { all: all.length, right }
}

/** Creates a webhook for a URL as a program does. */
export async function subscribe(
  world: World,
  receiver: Receiver,
  more: { name?: string; wide?: boolean; events?: string[]; agent?: string } = {},
): Promise<string> {
  const response = await send('/api/public/v1/webhooks', {
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
  expect(response.ok, await response.clone().text()).toBeTruthy()
  return ((await response.json()) as { data: { id: string } }).data.id
}
