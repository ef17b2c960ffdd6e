// The actions that change something.
import { write } from './api.js'
import { toDue } from './due.js'
import * as fields from './fields.js'
import * as samples from './samples.js'
import { steps } from './steps.js'

const cardPath = ({ cardId }, rest) => `/cards/${encodeURIComponent(cardId)}${rest}`

/** Returns the due date of the input, or undefined. */
function dueOf(z, { inputData, meta }) {
  const { due, allDay } = inputData
  return due ? toDue(z, due, allDay, meta.timezone) : undefined
}

function createCard(z, bundle) {
  const { listId, title, description, labels, assignees, position } = bundle.inputData
  const due = dueOf(z, bundle)
  const body = fields.filled({ listId, title, description, labels, assignees, due, position })
  return write(z, bundle, 'POST', '/cards', body)
}

/** Performs up to four operations in one transaction, and returns the card after the last one. */
async function updateCard(z, bundle) {
  const { cardId, title, description, done, labels, assignees } = bundle.inputData
  const operations = []
  const add = (operation, input) => {
    if (Object.keys(input).length > 0) operations.push({ operation, input: { cardId, ...input } })
  }
  add('update_card', fields.filled({ title, description, done }))
  add('set_card_due', dueOf(z, bundle) ?? {})
  add('set_card_labels', fields.filled({ add: labels }))
  add('set_card_assignees', fields.filled({ add: assignees }))
  if (operations.length === 0) {
    throw new z.errors.Error('Fill in at least one field to update.', 'nothing_to_update', 400)
  }
  const { results } = await write(z, bundle, 'POST', '/batch', { operations })
  return results.at(-1).data
}

function moveCard(z, bundle) {
  const { listId, position } = bundle.inputData
  const body = fields.filled({ listId, position })
  return write(z, bundle, 'POST', cardPath(bundle.inputData, '/move'), body)
}

const archiveCard = (z, bundle) =>
  write(z, bundle, 'POST', cardPath(bundle.inputData, '/archive'), {})

function addComment(z, bundle) {
  const { text } = bundle.inputData
  return write(z, bundle, 'POST', cardPath(bundle.inputData, '/comments'), { text })
}

function createList(z, bundle) {
  const { boardId, name } = bundle.inputData
  return write(z, bundle, 'POST', `/boards/${encodeURIComponent(boardId)}/lists`, { name })
}

const { workspace, board, list, labels, assignees, card, title, description, due, optional } =
  fields
const place = [workspace, board, list]
const position = {
  key: 'position',
  label: 'Position',
  type: 'string',
  choices: { top: 'Top of the list', bottom: 'Bottom of the list' },
  helpText: 'The default is the bottom.',
}
const done = { key: 'done', label: 'Done', type: 'boolean' }
const text = { key: 'text', label: 'Text', type: 'text', required: true, helpText: 'Markdown.' }
const name = { key: 'name', label: 'Name', type: 'string', required: true }
// Labels and people are those of a board, which must be chosen to fill their dropdowns.
const chooser = [optional(workspace), optional(board)]

export const creates = steps({
  create_card: {
    noun: 'Card',
    label: 'Create Card',
    description: 'Creates a card in a list.',
    inputFields: [...place, title, description, ...due, labels, assignees, position],
    perform: createCard,
    sample: samples.card,
  },
  update_card: {
    noun: 'Card',
    label: 'Update Card',
    description:
      'Changes a card. Fields that you leave empty stay unchanged. Labels and assignees are added.',
    inputFields: [card, optional(title), description, done, ...due, ...chooser, labels, assignees],
    perform: updateCard,
    sample: samples.card,
  },
  move_card: {
    noun: 'Card',
    label: 'Move Card',
    description: 'Moves a card to another list of its board.',
    inputFields: [card, ...chooser, list, position],
    perform: moveCard,
    sample: samples.card,
  },
  archive_card: {
    noun: 'Card',
    label: 'Archive Card',
    description: 'Archives a card.',
    inputFields: [card],
    perform: archiveCard,
    sample: samples.card,
  },
  add_comment: {
    noun: 'Comment',
    label: 'Add Comment',
    description: 'Comments on a card.',
    inputFields: [card, text],
    perform: addComment,
    sample: samples.comment,
  },
  create_list: {
    noun: 'List',
    label: 'Create List',
    description: 'Creates a list at the right end of a board.',
    inputFields: [workspace, board, name],
    perform: createList,
    sample: samples.list,
  },
})
