// Hidden triggers that fill the dropdowns of the editor.
import { list } from './api.js'
import { steps } from './steps.js'

const dropdown = (noun, perform) => ({
  noun,
  label: `${noun} Dropdown`,
  description: 'Fills a dropdown in the editor.',
  hidden: true,
  type: 'polling',
  perform,
})

/** Returns a dropdown of records of a board. It is empty until a board is chosen. */
function ofBoard(noun, path) {
  return dropdown(noun, async (z, bundle) => {
    const { boardId } = bundle.inputData
    if (!boardId) return []
    const records = await list(z, bundle, `/boards/${encodeURIComponent(boardId)}/${path}`)
    // A label may have only a color.
    return records.map(({ id, name, color }) => ({ id, name: name || color }))
  })
}

export const dropdowns = steps({
  workspaces: dropdown('Workspace', (z, bundle) => list(z, bundle, '/workspaces')),
  boards: dropdown('Board', (z, bundle) =>
    list(z, bundle, '/boards', { workspaceId: bundle.inputData.workspaceId }),
  ),
  lists: ofBoard('List', 'lists'),
  labels: ofBoard('Label', 'labels'),
  members: ofBoard('Person', 'members'),
})
