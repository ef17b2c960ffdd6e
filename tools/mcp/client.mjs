// client.mjs URL TITLE MODE
//
// Runs the second generation of the TypeScript client. MODE is legacy, auto or a
// revision of the protocol. The client uses the token in TOKEN. If TOKEN is not
// set, it asks for a person's consent. Prints a report as JSON.
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client'
import { connectByConsent } from './authorize.mjs'
import { visit } from './visit.mjs'

const [url, title, mode] = process.argv.slice(2)
const name = 'Second-generation client'

async function open(provider) {
  const authProvider = process.env.TOKEN ? { token: async () => process.env.TOKEN } : provider
  const transport = new StreamableHTTPClientTransport(new URL(url), { authProvider })
  const versionNegotiation = { mode: /^\d/.test(mode) ? { pin: mode } : mode }
  return { client: new Client({ name, version: '1' }, { versionNegotiation }), transport }
}

let client, transport, refreshed, steppedUp
if (process.env.TOKEN) {
  ;({ client, transport } = await open())
  await client.connect(transport)
} else {
  const finish = (transport, parameters) => transport.finishAuth(parameters)
  ;({ client, refreshed, steppedUp } = await connectByConsent(name, open, UnauthorizedError, finish))
}
const report = await visit(client, title)
console.log(
  JSON.stringify({
    ...report,
    protocol: client.getNegotiatedProtocolVersion(),
    refreshed: (await refreshed?.()) ?? false,
    steppedUp: (await steppedUp?.()) ?? false,
  }),
)
await client.close()
