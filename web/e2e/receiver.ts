// A local webhook receiver for one test.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, send, server, type World } from './fixtures'

export type ReceivedDelivery = { headers: IncomingHttpHeaders; body: string; event: { id: string; type: string } }
export type Reply = { status: number; text?: string }

export class Receiver {
  readonly deliveries: ReceivedDelivery[] = []
  reply: Reply = { status: 204 }
  /** A promise that each response waits for. */
  responseGate: Promise<unknown> = Promise.resolve()
  private readonly server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString()
      this.deliveries.push({ headers: request.headers, body, event: JSON.parse(body) as ReceivedDelivery['event'] })
      void this.responseGate.then(() => response.writeHead(this.reply.status).end(this.reply.text))
    })
  })

  static async start(reply: Reply = { status: 204 }): Promise<Receiver> {
    const receiver = new Receiver()
    receiver.reply = reply
    await new Promise<void>((resolve) => receiver.server.listen(0, '127.0.0.1', resolve))
    return receiver
  }

  /** The number of distinct events received. A server that is killed before the response sends the event again. */
  get events(): number {
    return new Set(this.deliveries.map((delivery) => delivery.event.id)).size
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/cardwall`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.server.closeAllConnections()
    await new Promise((resolve) => this.server.close(resolve))
  }
}

/** Counts the signatures of a delivery, and those that are valid for a secret. */
export function signatures(delivery: ReceivedDelivery, secret: string): { total: number; valid: number } {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  const signed = `${delivery.headers['webhook-id']}.${delivery.headers['webhook-timestamp']}.${delivery.body}`
  const expected = createHmac('sha256', key).update(signed).digest()
  const all = String(delivery.headers['webhook-signature']).split(' ')
  const valid = all.filter((s) => timingSafeEqual(Buffer.from(s.replace('v1,', ''), 'base64'), expected)).length
  return { total: all.length, valid }
}

/** Creates a webhook as an API client would, and returns its ID. */
export async function subscribe(
  world: World,
  receiver: Receiver,
  options: { name?: string; wholeWorkspace?: boolean; events?: string[]; userAgent?: string } = {},
): Promise<string> {
  const response = await send('/api/public/v1/webhooks', {
    headers: {
      Authorization: `Bearer ${server().token}`,
      'Content-Type': 'application/json',
      'User-Agent': options.userAgent ?? 'test',
    },
    body: JSON.stringify({
      url: receiver.url,
      name: options.name ?? 'Deploy bot',
      events: options.events ?? ['card.created', 'card.moved'],
      ...(options.wholeWorkspace ? { workspaceId: world.workspaceId } : { boardId: world.boardId }),
    }),
  })
  expect(response.ok, await response.clone().text()).toBeTruthy()
  return ((await response.json()) as { data: { id: string } }).data.id
}
