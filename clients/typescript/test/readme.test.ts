import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { reply, serve } from './server.js'

test('the first program of the README lists the boards', async (t) => {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')
  const program = /```js\n(.*?)```/s.exec(readme)![1]!
  const board = (n: number) => ({ id: `brd_${n}`, name: `Board ${n}`, openCards: n })
  const { address, requests } = await serve(t, [
    reply(200, { data: { name: 'Ada' } }),
    reply(200, { data: [board(1)], nextCursor: 'next' }),
    reply(200, { data: [board(2)] }),
  ])
  const file = fileURLToPath(new URL('first.mjs', import.meta.url))
  writeFileSync(file, program.replace('https://cardwall.example.com', address))
  const env = { ...process.env, CARDWALL_TOKEN: 'secret' }
  const child = spawn(process.execPath, [file], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  assert.equal(await text(child.stdout), 'Boards of Ada:\nbrd_1 Board 1 1\nbrd_2 Board 2 2\n')
  assert.equal(requests[0]!.headers.authorization, 'Bearer secret')
})
