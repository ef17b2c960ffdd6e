// remote.mjs URL TITLE [FLAG...]
//
// Runs a client that supports only local servers and connects through mcp-remote
// with the given flags. It uses the token in TOKEN. If TOKEN is not set, it asks
// for a person's consent. Prints a report as JSON.
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { visit } from './visit.mjs'

const [url, title, ...flags] = process.argv.slice(2)
if (process.env.TOKEN) flags.push('--header', 'Authorization: Bearer ${TOKEN}')
const transport = new StdioClientTransport({
  command: process.execPath,
  args: [fileURLToPath(import.meta.resolve('mcp-remote/dist/proxy.js')), url, ...flags],
  env: { ...process.env },
  stderr: 'pipe',
})
transport.stderr.pipe(process.stderr)
const client = new Client({ name: 'Program behind mcp-remote', version: '1' })
await client.connect(transport)
console.log(JSON.stringify(await visit(client, title)))
await client.close()
