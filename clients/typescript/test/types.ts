// The compiler checks this file; no test runs it.
import type { Client } from '@cardwall/client'

export async function types(client: Client, boardId: string): Promise<void> {
  const params = { path: { boardId } }
  const name: string = (await client.GET('/me')).data.name
  const blob: Blob = await client.GET('/boards/{boardId}/export', { params, parseAs: 'blob' })
  const update = await client.PATCH('/boards/{boardId}', { params, body: { name } })
  const version: number | undefined = update.boardVersion
  for await (const card of client.all('/boards/{boardId}/cards', { params })) {
    const title: string = card.title
    void title
  }
  for await (const workspace of client.all('/workspaces')) void (workspace.name satisfies string)
  void [blob, version]

  // @ts-expect-error The path has a parameter.
  await client.GET('/boards/{boardId}/cards')
  // @ts-expect-error There is no such path.
  await client.GET('/bords')
  // @ts-expect-error There is no such parameter.
  await client.GET('/boards/{boardId}/cards', { params: { ...params, query: { lmit: 3 } } })
  // @ts-expect-error There is no such field.
  await client.PATCH('/boards/{boardId}', { params, body: { title: name } })
  // @ts-expect-error The path returns no list.
  client.all('/me')
}
