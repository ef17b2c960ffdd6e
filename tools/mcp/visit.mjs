// The calls that every client makes after it has connected. It lists what the
// server offers, works like an agent, and makes one call that must fail.
import assert from 'node:assert/strict'

/**
 * Makes the calls and returns a report. Throws if a result is not as expected.
 *
 * @param client a connected client of either SDK generation
 * @param {string} title title of the card to create
 */
export async function visit(client, title) {
  const tools = await all((cursor) => client.listTools(cursor), 'tools')
  const templates = await all((cursor) => client.listResourceTemplates(cursor), 'resourceTemplates')
  const prompts = await all((cursor) => client.listPrompts(cursor), 'prompts')
  for (const tool of tools) {
    const hints = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint']
    for (const hint of hints) assert.equal(typeof tool.annotations?.[hint], 'boolean', `${tool.name} has no ${hint}`)
  }

  const [workspace] = await call(client, 'list_workspaces', {})
  const board = await call(client, 'create_board', { workspaceId: workspace.id, name: title })
  const list = await call(client, 'create_list', { boardId: board.id, name: 'To do' })
  const input = { listId: list.id, title, idempotencyKey: crypto.randomUUID() }
  const card = await call(client, 'create_card', input)
  const repeated = await call(client, 'create_card', input)
  assert.equal(repeated.id, card.id, 'a repeated call created another card')

  const resource = await client.readResource({ uri: `service://boards/${board.id}/cards/${card.id}` })
  assert.ok(resource.contents[0].text.includes(title), 'the resource does not contain the title of the card')
  const prompt = await client.getPrompt({ name: 'weekly_review', arguments: { boardId: board.id } })
  assert.ok(prompt.messages[0].content.text.includes(board.id), 'the prompt does not contain the id of the board')
  const completion = await client.complete({
    ref: { type: 'ref/resource', uri: 'service://boards/{boardId}' },
    argument: { name: 'boardId', value: board.id.slice(0, 8) },
  })
  assert.ok(completion.completion.values.includes(board.id), 'the completion does not contain the board')

  const missing = await client.callTool({ name: 'get_card', arguments: { cardId: 'crd_00000000000000000000000000' } })
  assert.equal(missing.isError, true, 'get_card succeeded for a card that does not exist')
  assert.match(missing.content[0].text, /^not_found: .+ Next: /s)

  return {
    server: client.getServerVersion()?.name,
    tools: tools.map((tool) => tool.name),
    templates: templates.map((template) => template.uriTemplate),
    prompts: prompts.map((prompt) => prompt.name),
    card: card.id,
  }
}

/** Returns the items of all pages of a list. */
async function all(page, name) {
  const out = []
  for (let cursor; ;) {
    const result = await page(cursor && { cursor })
    out.push(...result[name])
    if (!(cursor = result.nextCursor)) return out
  }
}

/** Calls a tool and returns the data of its result. If the result has a text, it must contain the same data. */
async function call(client, name, input) {
  const result = await client.callTool({ name, arguments: input })
  assert.ok(!result.isError, `${name}: ${result.content[0]?.text}`)
  for (const { text } of result.content) {
    assert.deepEqual(JSON.parse(text), result.structuredContent, `${name}: the text differs from the structured content`)
  }
  return result.structuredContent.data
}
