import type { INodeProperties } from 'n8n-workflow'

const choose =
  'Choose from the list, or specify an ID using an <a href="https://docs.n8n.io/code/expressions/">expression</a>'
const chooseSeveral =
  'Choose from the list, or specify IDs using an <a href="https://docs.n8n.io/code/expressions/">expression</a>'

/** A dropdown with one choice. */
function dropdown(displayName: string, name: string, loadOptionsMethod: string): INodeProperties {
  return {
    displayName: `${displayName} Name or ID`,
    name,
    type: 'options',
    typeOptions: { loadOptionsMethod },
    default: '',
    description: choose,
  }
}

/** A dropdown whose choices belong to the board in the field boardId. */
function ofBoard(field: INodeProperties): INodeProperties {
  return { ...field, typeOptions: { ...field.typeOptions, loadOptionsDependsOn: ['boardId'] } }
}

function several(field: INodeProperties): INodeProperties {
  const displayName = field.displayName.replace(/ Name or ID$/, ' Names or IDs')
  return { ...field, displayName, type: 'multiOptions', default: [], description: chooseSeveral }
}

export const workspaceField = dropdown('Workspace', 'workspaceId', 'getWorkspaces')
export const boardField = dropdown('Board', 'boardId', 'getBoards')
export const listField = ofBoard(dropdown('List', 'listId', 'getLists'))
export const listsField = several(ofBoard(dropdown('List', 'lists', 'getLists')))
export const labelsField = several(ofBoard(dropdown('Label', 'labels', 'getLabels')))
export const assigneesField = several(ofBoard(dropdown('Assignee', 'assignees', 'getMembers')))

/** The board of an operation that needs it only for the choices of other fields. */
export const boardOfChoicesField: INodeProperties = {
  ...boardField,
  description: `The board whose lists, labels and members are shown. If you give IDs, it can be empty. ${choose}.`,
}

/** Where a card or list is put among its siblings. */
export const positionField: INodeProperties = {
  displayName: 'Position',
  name: 'position',
  type: 'options',
  options: [
    { name: 'Bottom', value: 'bottom', description: 'The end: of a board, its right end' },
    { name: 'Top', value: 'top', description: 'The start: of a board, its left end' },
  ],
  default: 'bottom',
}

/** The fields of an operation that returns a list: all records, or the first ones. */
export const limitFields: INodeProperties[] = [
  {
    displayName: 'Return All',
    name: 'returnAll',
    type: 'boolean',
    default: false,
    description: 'Whether to return all results or only up to a given limit',
  },
  {
    displayName: 'Limit',
    name: 'limit',
    type: 'number',
    typeOptions: { minValue: 1 },
    default: 50,
    description: 'Max number of results to return',
    displayOptions: { show: { returnAll: [false] } },
  },
]

/** Shows fields only for some operations of a resource. */
export function showFor(
  resource: string,
  operations: string[],
  ...fields: INodeProperties[]
): INodeProperties[] {
  return fields.map((field) => ({
    ...field,
    displayOptions: {
      show: { ...field.displayOptions?.show, resource: [resource], operation: operations },
    },
  }))
}

/** Makes a field required. */
export function required(field: INodeProperties): INodeProperties {
  return { ...field, required: true }
}
