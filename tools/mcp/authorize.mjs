// OAuth for the MCP clients: it keeps the state of a client in memory, and receives the browser's
// redirect with a local server.
import { createServer } from 'node:http'
import { once } from 'node:events'

/**
 * Returns an OAuth provider for the clients of both SDK generations. It prints
 * the address at which a person gives consent.
 *
 * @param {string} name name of the client on the consent page
 */
export async function authorizer(name) {
  let resolveCallback
  let callback = new Promise((resolve) => (resolveCallback = resolve))
  const server = createServer((request, response) => {
    const url = new URL(request.url, 'http://127.0.0.1')
    if (url.pathname !== '/callback') return response.writeHead(404).end()
    response.end('You can close this page.')
    resolveCallback(url.searchParams)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  server.unref() // do not keep the program running after its work

  const saved = { state: crypto.randomUUID() }
  const provider = {
    redirectUrl: `http://127.0.0.1:${server.address().port}/callback`,
    clientMetadata: {
      client_name: name,
      redirect_uris: [`http://127.0.0.1:${server.address().port}/callback`],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    state: () => saved.state,
    clientInformation: () => saved.client,
    saveClientInformation: (client) => void (saved.client = client),
    tokens: () => saved.tokens,
    saveTokens: (tokens) => void (saved.tokens = tokens),
    redirectToAuthorization: (url) => console.log(`Allow it at ${url}`),
    saveCodeVerifier: (verifier) => void (saved.verifier = verifier),
    codeVerifier: () => saved.verifier,
    saveDiscoveryState: (discovery) => void (saved.discovery = discovery),
    discoveryState: () => saved.discovery,
  }

  return {
    provider,
    saved,
    /** Waits for the redirect and returns its parameters. */
    async redirected() {
      server.ref()
      const parameters = await callback
      server.unref()
      callback = new Promise((resolve) => (resolveCallback = resolve))
      if (parameters.get('state') !== saved.state) throw new Error('the redirect has an unexpected state')
      return parameters
    },
  }
}

/**
 * Connects without a token, which must fail, and then connects with the token
 * that the client gets through the person's consent.
 *
 * @param {string} name name of the client on the consent page
 * @param {(provider) => Promise<{client, transport}>} open creates a client
 * @param UnauthorizedError error class of the client's SDK generation
 * @param {(transport, parameters: URLSearchParams) => Promise<void>} finish exchanges the code for a token
 */
export async function connectByConsent(name, open, UnauthorizedError, finish) {
  const { provider, saved, redirected } = await authorizer(name)
  const first = await open(provider)
  try {
    await first.client.connect(first.transport)
    throw new Error('the server accepted a client without a token')
  } catch (error) {
    if (!(error instanceof UnauthorizedError)) throw error
  }
  await finish(first.transport, await redirected())
  const { client, transport } = await open(provider)
  await client.connect(transport)
  return {
    client,
    /** Calls a tool that needs another scope, for which the client must ask the person. Reports whether it got the scope. */
    async steppedUp() {
      const call = { name: 'trash_board', arguments: { boardId: 'brd_00000000000000000000000000' } }
      try {
        await client.callTool(call)
        return false
      } catch (error) {
        if (!(error instanceof UnauthorizedError)) throw error
      }
      await finish(transport, await redirected())
      const result = await client.callTool(call)
      return saved.tokens.scope === 'read write admin' && result.content[0].text.startsWith('not_found: ')
    },
    /** Invalidates the access token, so that the client must refresh it. Reports whether it got new tokens. */
    async refreshed() {
      const before = saved.tokens
      saved.tokens = { ...before, access_token: 'cwl_' + '0'.repeat(36) }
      await client.callTool({ name: 'get_me', arguments: {} })
      return saved.tokens.access_token !== before.access_token && saved.tokens.refresh_token !== before.refresh_token
    },
  }
}
