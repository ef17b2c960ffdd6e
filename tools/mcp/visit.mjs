// What every client does once it is connected: it looks around, works as an
// agent would, and is refused once. It fails with a sentence when the server is
// not what it should be, and tells what it saw otherwise.
import assert from 'node:assert/strict'

/**
 * @param client of either generation: both have the same methods
 * @param {string} title of the card to make
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
  const key = { listId: list.id, title, idempotencyKey: crypto.randomUUID() }
  const card = await call(client, 'create_card', key)
  const again = await call(client, 'create_card', key)
  assert.equal(again.id, card.id, 'a repeated call made another card')

  const resource = await client.readResource({ uri: `service://boards/${board.id}/cards/${card.id}` })
  assert.ok(resource.contents[0].text.includes(title), 'the resource does not show the card')
  const prompt = await client.getPrompt({ name: 'weekly_review', arguments: { boardId: board.id } })
  assert.ok(prompt.messages[0].content.text.includes(board.id), 'the prompt does not name the board')
  const completion = await client.complete({
    ref: { type: 'ref/resource', uri: 'service://boards/{boardId}' },
    argument: { name: 'boardId', value: board.id.slice(0, 8) },
  })
  assert.ok(completion.completion.values.includes(board.id), 'the board is not offered')

  const refused = await client.callTool({ name: 'get_card', arguments: { cardId: 'crd_00000000000000000000000000' } })
  assert.equal(refused.isError, true, 'a card that does not exist was found')
  assert.match(refused.content[0].text, /^not_found: .+ Next: /s)

  return {
    server: client.getServerVersion()?.name,
    tools: tools.map((tool) => tool.name),
    templates: templates.map((template) => template.uriTemplate),
    prompts: prompts.map((prompt) => prompt.name),
    card: card.id,
  }
}

/** Every page of a list. */
async function all(page, name) {
  const out = []
  for (let cursor; ;) {
    const answer = await page(cursor && { cursor })
    out.push(...answer[name])
    if (!(cursor = answer.nextCursor)) return out
  }
}

/** The record that a tool answers, which its text holds too. */
async function call(client, name, input) {
  const result = await client.callTool({ name, arguments: input })
  assert.ok(!result.isError, `${name}: ${result.content[0].text}`)
  assert.deepEqual(
    JSON.parse(result.content[0].text),
    result.structuredContent,
    `${name} says one thing twice, and not the same`,
  )
  return result.structuredContent.data
}
