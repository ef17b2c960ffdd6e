// sdk.mjs URL TITLE
//
// Runs the first generation of the TypeScript client. It uses the token in TOKEN.
// If TOKEN is not set, it asks for a person's consent. Prints a report as JSON.
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { connectByConsent } from './authorize.mjs'
import { visit } from './visit.mjs'

const [url, title] = process.argv.slice(2)
const name = 'First-generation SDK'

async function open(provider) {
  const headers = process.env.TOKEN && { Authorization: `Bearer ${process.env.TOKEN}` }
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    authProvider: provider,
    requestInit: { headers },
  })
  return { client: new Client({ name, version: '1' }), transport }
}

let client, transport, refreshed
if (process.env.TOKEN) {
  ;({ client, transport } = await open())
  await client.connect(transport)
} else {
  const finish = (transport, parameters) => transport.finishAuth(parameters.get('code'))
  ;({ client, refreshed } = await connectByConsent(name, open, UnauthorizedError, finish))
}
const report = await visit(client, title)
console.log(
  JSON.stringify({ ...report, protocol: client.transport.protocolVersion, refreshed: (await refreshed?.()) ?? false }),
)
await client.close()
