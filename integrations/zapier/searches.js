import { find, list } from './api.js'
import { board, optional, workspace } from './fields.js'
import * as samples from './samples.js'
import { steps } from './steps.js'

/** Returns a function that finds records with a name, without regard to case. */
const byName = (read) => async (z, bundle) => {
  const name = bundle.inputData.name.trim().toLowerCase()
  const records = await read(z, bundle)
  return records.filter((record) => record.name.toLowerCase() === name)
}

const boardPath = ({ inputData }, rest) => `/boards/${encodeURIComponent(inputData.boardId)}${rest}`

const name = { key: 'name', label: 'Name', type: 'string', required: true }

export const searches = steps({
  find_card: {
    noun: 'Card',
    label: 'Find Card',
    description: 'Finds a card by search text.',
    inputFields: [
      {
        key: 'q',
        label: 'Search text',
        type: 'string',
        required: true,
        helpText:
          'Words, phrases and filters, such as `is:open label:bug due:week "press release"`. ' +
          'The card that changed last comes first.',
      },
      optional(workspace),
    ],
    perform: (z, bundle) => {
      const { q, workspaceId } = bundle.inputData
      return list(z, bundle, '/search', { q, workspaceId }, 10)
    },
    sample: samples.card,
  },
  find_card_by_number: {
    noun: 'Card',
    label: 'Find Card by Number',
    description: 'Finds the card with a number on a board.',
    inputFields: [
      workspace,
      board,
      { key: 'number', label: 'Number', type: 'integer', required: true },
    ],
    perform: async (z, bundle) => {
      const path = boardPath(bundle, `/cards/by-number/${Number(bundle.inputData.number)}`)
      const card = await find(z, bundle, path)
      return card ? [card] : []
    },
    sample: samples.cardDetail,
  },
  find_list: {
    noun: 'List',
    label: 'Find List',
    description: 'Finds an open list of a board by its name.',
    inputFields: [workspace, board, name],
    perform: byName((z, bundle) => list(z, bundle, boardPath(bundle, '/lists'))),
    sample: samples.list,
  },
  find_board: {
    noun: 'Board',
    label: 'Find Board',
    description: 'Finds a board of a workspace by its name.',
    inputFields: [workspace, name],
    perform: byName((z, bundle) =>
      list(z, bundle, '/boards', { workspaceId: bundle.inputData.workspaceId }),
    ),
    sample: samples.board,
  },
})
