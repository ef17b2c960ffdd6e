// The second generation of the TypeScript client: client.mjs URL TITLE MODE,
// where MODE is legacy, auto or a revision; with a token in TOKEN or by the
// person's consent. Prints what it saw as JSON.
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client'
import { connectByConsent } from './authorize.mjs'
import { visit } from './visit.mjs'

const [url, title, mode] = process.argv.slice(2)
const name = 'Client of the second generation'

async function open(provider) {
  const authProvider = process.env.TOKEN ? { token: async () => process.env.TOKEN } : provider
  const transport = new StreamableHTTPClientTransport(new URL(url), { authProvider })
  const versionNegotiation = { mode: /^\d/.test(mode) ? { pin: mode } : mode }
  return { client: new Client({ name, version: '1' }, { versionNegotiation }), transport }
}

let client, transport, refreshed
if (process.env.TOKEN) {
  ;({ client, transport } = await open())
  await client.connect(transport)
} else {
  const finish = (transport, parameters) => transport.finishAuth(parameters)
  ;({ client, refreshed } = await connectByConsent(name, open, UnauthorizedError, finish))
}
const seen = await visit(client, title)
console.log(
  JSON.stringify({
    ...seen,
    protocol: client.getNegotiatedProtocolVersion(),
    refreshed: (await refreshed?.()) ?? false,
  }),
)
await client.close()
