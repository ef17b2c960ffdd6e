import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { Client, type ClientOptions } from '@cardwall/client'

/** A request that the server has received. */
export interface Received {
  method: string
  url: string
  headers: IncomingMessage['headers']
  body: string
}

/** Sends the response to a request. */
export type Reply = (response: ServerResponse, request: Received) => void

/** Returns a reply with JSON, or with text if the body is a string. */
export function reply(status: number, body: unknown, headers: Record<string, string> = {}): Reply {
  return (response) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(text)
  }
}

/** Returns a reply with an error of the API. */
export function refusal(
  status: number,
  code: string,
  headers: Record<string, string> = {},
  more: Record<string, unknown> = {},
): Reply {
  return reply(status, { error: { code, message: `It is ${code}.`, ...more } }, headers)
}

/** Closes the connection without a response. */
export const cut: Reply = (response) => response.destroy()

/**
 * Starts a server for a test, which sends the replies one after the other and then repeats the last
 * one. Returns its address, a client with short waits, and the requests that it receives.
 */
export async function serve(t: TestContext, replies: Reply[], options: ClientOptions = {}) {
  const requests: Received[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { method = '', url = '', headers } = request
    const received = { method, url, headers, body: Buffer.concat(chunks).toString() }
    const next = replies[Math.min(requests.push(received), replies.length) - 1]!
    next(response, received)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const address = `http://127.0.0.1:${port}/`
  const client = new Client(address, 'token', { backoff: 1, ...options })
  return { address, client, requests }
}
