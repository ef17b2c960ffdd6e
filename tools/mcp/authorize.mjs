// The OAuth state of a client, in memory, with a local page that receives the browser's
// redirect.
import { createServer } from 'node:http'
import { once } from 'node:events'

/**
 * A provider for the clients of both generations. It prints the address at
 * which a person says yes.
 *
 * @param {string} name of the client, as the person is shown it
 */
export async function authorizer(name) {
  let came
  const callback = new Promise((resolve) => (came = resolve))
  const server = createServer((request, response) => {
    const url = new URL(request.url, 'http://127.0.0.1')
    if (url.pathname !== '/callback') return response.writeHead(404).end()
    response.end('You can close this page.')
    came(url.searchParams)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  const kept = { state: crypto.randomUUID() }
  const provider = {
    redirectUrl: `http://127.0.0.1:${server.address().port}/callback`,
    clientMetadata: {
      client_name: name,
      redirect_uris: [`http://127.0.0.1:${server.address().port}/callback`],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    state: () => kept.state,
    clientInformation: () => kept.client,
    saveClientInformation: (client) => void (kept.client = client),
    tokens: () => kept.tokens,
    saveTokens: (tokens) => void (kept.tokens = tokens),
    redirectToAuthorization: (url) => console.log(`Allow it at ${url}`),
    saveCodeVerifier: (verifier) => void (kept.verifier = verifier),
    codeVerifier: () => kept.verifier,
    saveDiscoveryState: (discovery) => void (kept.discovery = discovery),
    discoveryState: () => kept.discovery,
  }

  return {
    provider,
    kept,
    /** The parameters with which the browser came back. */
    async returned() {
      const parameters = await callback
      server.close()
      if (parameters.get('state') !== kept.state) throw new Error('another answer came back')
      return parameters
    },
  }
}

/**
 * Connects once without a token, and again with the one that the person's yes
 * gave; then forgets the access token, so that the next call has to refresh it.
 *
 * @param {(provider) => Promise<{client, transport}>} open makes a client
 * @param UnauthorizedError the error of the client's generation
 * @param {(transport, parameters: URLSearchParams) => Promise<void>} finish redeems the code
 */
export async function connectByConsent(name, open, UnauthorizedError, finish) {
  const { provider, kept, returned } = await authorizer(name)
  const first = await open(provider)
  try {
    await first.client.connect(first.transport)
    throw new Error('the server let in who had no token')
  } catch (error) {
    if (!(error instanceof UnauthorizedError)) throw error
  }
  await finish(first.transport, await returned())
  const { client, transport } = await open(provider)
  await client.connect(transport)
  return {
    client,
    /** Makes the client refresh its access token, and reports whether it got a new one. */
    async refreshed() {
      const before = kept.tokens
      kept.tokens = { ...before, access_token: 'cwl_' + '0'.repeat(36) }
      await client.callTool({ name: 'get_me', arguments: {} })
      return kept.tokens.access_token !== before.access_token && kept.tokens.refresh_token !== before.refresh_token
    },
  }
}
