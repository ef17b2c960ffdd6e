// The input fields that several triggers, searches and actions have.

export const workspace = {
  key: 'workspaceId',
  label: 'Workspace',
  type: 'string',
  required: true,
  dynamic: 'workspaces.id.name',
}

export const board = {
  key: 'boardId',
  label: 'Board',
  type: 'string',
  required: true,
  dynamic: 'boards.id.name',
}

export const list = {
  key: 'listId',
  label: 'List',
  type: 'string',
  required: true,
  dynamic: 'lists.id.name',
}

export const labels = {
  key: 'labels',
  label: 'Labels',
  type: 'string',
  list: true,
  dynamic: 'labels.id.name',
}

export const assignees = {
  key: 'assignees',
  label: 'Assignees',
  type: 'string',
  list: true,
  dynamic: 'members.id.name',
}

export const card = {
  key: 'cardId',
  label: 'Card ID',
  type: 'string',
  required: true,
  search: 'find_card.id',
  helpText: 'The id of a card, such as that of a trigger. It begins with `crd_`.',
}

export const title = { key: 'title', label: 'Title', type: 'string', required: true }

export const description = {
  key: 'description',
  label: 'Description',
  type: 'text',
  helpText: 'Markdown.',
}

export const due = [
  {
    key: 'due',
    label: 'Due',
    type: 'datetime',
    helpText: 'When the card is due.',
  },
  {
    key: 'allDay',
    label: 'Due all day',
    type: 'boolean',
    helpText: 'Whether to use only the date of **Due**, without its time.',
  },
]

/** Returns a field that may be left empty. */
export const optional = (field, changes) => ({ ...field, required: false, ...changes })

/** Returns an object without its empty fields: those that a person has not filled in. */
export function filled(input) {
  const isFilled = ([, value]) => value !== undefined && value !== null && value !== ''
  return Object.fromEntries(Object.entries(input).filter(isFilled))
}
