// The triggers: one for each kind of event. Zapier subscribes a webhook for each enabled Zap.
import { find, list, remove, write } from './api.js'
import { board, filled, labels, list as listField, optional, workspace } from './fields.js'
import { kinds } from './kinds.js'
import * as samples from './samples.js'
import { steps } from './steps.js'

/** How to read the records that an event is about. A record that was deleted since is null. */
const readers = {
  card: (z, bundle, { cardId }) => find(z, bundle, `/cards/${cardId}`),
  comment: (z, bundle, { changes }) => find(z, bundle, `/comments/${changes.commentId.to}`),
  list: (z, bundle, { listId }) => find(z, bundle, `/lists/${listId}`),
  statusUpdate: (z, bundle, { changes }) =>
    find(z, bundle, `/status-updates/${changes.statusUpdateId.to}`),
  checklistItem: async (z, bundle, { changes }) => {
    const checklist = await find(z, bundle, `/checklists/${changes.checklistId.to}`)
    return checklist?.items.find(({ id }) => id === changes.itemId.to) ?? null
  },
}

/** Returns the item of an event: its entry in the activity of the board, and its records. */
async function toItem(z, bundle, entry) {
  const names = kinds[entry.type].records
  const found = await Promise.all(names.map((name) => readers[name](z, bundle, entry)))
  return { ...entry, ...Object.fromEntries(names.map((name, i) => [name, found[i]])) }
}

/**
 * Returns the item of a delivery, or none for a test event and for a delivery that was repeated.
 * Zapier cannot verify signatures. So only the place of the event is taken from the delivery, and
 * the event itself is read from the server.
 */
async function receive(z, bundle, kind) {
  const { id, type, boardId, boardVersion } = bundle.cleanedRequest
  if (type !== kind || !/^brd_\w+$/.test(boardId)) return []
  const since = { since: boardVersion - 1, limit: 1 }
  const [entry] = (await find(z, bundle, `/boards/${boardId}/changes`, since)) ?? []
  if (entry?.type !== kind) return []

  const delivery = `${bundle.subscribeData?.id} ${id}`
  if (await z.cache.get(delivery)) return []
  const item = await toItem(z, bundle, entry)
  await z.cache.set(delivery, true, 24 * 60 * 60)
  return [item]
}

/** Returns recent events as examples for the editor. They need not match the lists and labels. */
async function recent(z, bundle, kind) {
  const { workspaceId, boardId } = bundle.inputData
  let boards = [{ id: boardId }]
  if (!boardId) {
    boards = await list(z, bundle, '/boards', { workspaceId })
    boards.sort((a, b) => b.updatedAt.localeCompare(a.updatedAt))
  }
  const entries = []
  for (const { id } of boards.slice(0, 5)) {
    if (entries.length >= 3) break
    const page = await find(z, bundle, `/boards/${id}/activity`, { type: kind, limit: 3 })
    entries.push(...(page ?? []))
  }
  return Promise.all(entries.slice(0, 3).map((entry) => toItem(z, bundle, entry)))
}

async function subscribe(z, bundle, kind) {
  const { workspaceId, boardId, lists, labels } = bundle.inputData
  const body = filled({
    url: bundle.targetUrl,
    name: `Zapier: ${kinds[kind].label}`,
    events: [kind],
    workspaceId: boardId ? null : workspaceId,
    boardId,
    lists,
    labels,
  })
  const { id } = await write(z, bundle, 'POST', '/webhooks', body)
  return { id }
}

const inputFields = [
  workspace,
  optional(board, {
    helpText:
      'A board of which you are an admin. Without a board, the trigger covers each board that ' +
      'everyone in the workspace can see; for that, you must be an owner or admin of the workspace.',
  }),
  optional(listField, {
    key: 'lists',
    label: 'Lists',
    list: true,
    helpText: 'Only events in these lists. Requires a board.',
  }),
  optional(labels, { helpText: 'Only cards with one of these labels. Requires a board.' }),
]

const trigger = (kind, { noun, label, when, records, changes }) => ({
  noun,
  label,
  description: `Triggers when ${when}.`,
  type: 'hook',
  inputFields,
  perform: (z, bundle) => receive(z, bundle, kind),
  performList: (z, bundle) => recent(z, bundle, kind),
  performSubscribe: (z, bundle) => subscribe(z, bundle, kind),
  performUnsubscribe: (z, bundle) => remove(z, bundle, `/webhooks/${bundle.subscribeData.id}`),
  sample: samples.event(kind, changes, records),
})

export const events = steps(
  Object.fromEntries(
    Object.entries(kinds).map(([kind, info]) => [kind.replace('.', '_'), trigger(kind, info)]),
  ),
)
