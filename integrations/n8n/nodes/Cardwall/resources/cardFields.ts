import type { INodeProperties } from 'n8n-workflow'
import {
  assigneesField,
  boardField,
  boardOfChoicesField,
  labelsField,
  limitFields,
  listField,
  listsField,
  positionField,
  required,
  showFor,
} from '../../shared/fields'
import { operationField } from '../operation'

export const cardIdField: INodeProperties = {
  displayName: 'Card ID',
  name: 'cardId',
  type: 'string',
  default: '',
  required: true,
  placeholder: 'crd_01jb2m3n4p5q6r7s8t9v0w1x2y',
  description: 'The ID of the card, such as the ID of a card of an earlier node',
}

const titleField: INodeProperties = {
  displayName: 'Title',
  name: 'title',
  type: 'string',
  default: '',
}

const descriptionField: INodeProperties = {
  displayName: 'Description',
  name: 'description',
  type: 'string',
  typeOptions: { rows: 4 },
  default: '',
  description: 'The description of the card, in Markdown',
}

const dueDateField: INodeProperties = {
  displayName: 'Due Date',
  name: 'dueDate',
  type: 'dateTime',
  typeOptions: { dateOnly: true },
  default: '',
  description: 'The day on which the card is due. A time of day in the value is ignored.',
}

/** The parts of a due date besides the day. */
const dueFields: INodeProperties[] = [
  {
    displayName: 'Due Time',
    name: 'dueTime',
    type: 'string',
    default: '',
    placeholder: '09:30',
    description: 'The time of day at which the card is due, HH:MM. If empty, it is due all day.',
  },
  {
    displayName: 'Start Date',
    name: 'startDate',
    type: 'dateTime',
    typeOptions: { dateOnly: true },
    default: '',
    description: 'The day on which work starts. The board must have the feature start dates.',
  },
  {
    displayName: 'Start Time',
    name: 'startTime',
    type: 'string',
    default: '',
    placeholder: '09:00',
    description: 'The time of day at which work starts, HH:MM',
  },
  {
    displayName: 'Time Zone',
    name: 'timeZone',
    type: 'string',
    default: '',
    placeholder: 'Europe/Berlin',
    description: 'The time zone of the times. If empty, it is the time zone of the workflow.',
  },
]

const doneField: INodeProperties = {
  displayName: 'Done',
  name: 'done',
  type: 'boolean',
  default: true,
  description: 'Whether the card is done',
}

const archivedField: INodeProperties = {
  displayName: 'Archived',
  name: 'archived',
  type: 'options',
  options: [
    { name: 'Exclude Archived Cards', value: 'false' },
    { name: 'Include Archived Cards', value: 'true' },
    { name: 'Only Archived Cards', value: 'only' },
  ],
  default: 'false',
}

/** A collection of optional fields, in alphabetical order. */
function collection(displayName: string, name: string, options: INodeProperties[]) {
  return {
    displayName,
    name,
    type: 'collection',
    placeholder: 'Add Field',
    default: {},
    options: options.toSorted((a, b) => a.displayName.localeCompare(b.displayName)),
  } satisfies INodeProperties
}

export const cardProperties: INodeProperties[] = [
  operationField('card', [
    {
      name: 'Archive',
      value: 'archive',
      action: 'Archive a card',
      description: 'Archive a card',
    },
    {
      name: 'Clear Due Date',
      value: 'clearDue',
      action: 'Clear the due date of a card',
      description: 'Remove the due date and the start date of a card',
    },
    {
      name: 'Create',
      value: 'create',
      action: 'Create a card',
      description: 'Create a card in a list',
    },
    {
      name: 'Get',
      value: 'get',
      action: 'Get a card',
      description: 'Get a card by its ID',
    },
    {
      name: 'Get Many',
      value: 'getAll',
      action: 'Get many cards',
      description: 'Get the cards of a board or of some of its lists',
    },
    {
      name: 'Move',
      value: 'move',
      action: 'Move a card',
      description: 'Move a card to a list of the same board',
    },
    {
      name: 'Restore',
      value: 'restore',
      action: 'Restore a card',
      description: 'Restore an archived card',
    },
    {
      name: 'Set Due Date',
      value: 'setDue',
      action: 'Set the due date of a card',
      description: 'Set when a card is due',
    },
    {
      name: 'Update',
      value: 'update',
      action: 'Update a card',
      description: 'Change the title or description of a card, or mark it done or not done',
    },
  ]),
  ...showFor(
    'card',
    ['archive', 'clearDue', 'get', 'move', 'restore', 'setDue', 'update'],
    cardIdField,
  ),
  ...showFor('card', ['create', 'move'], boardOfChoicesField, required(listField)),
  ...showFor('card', ['move'], positionField),
  ...showFor(
    'card',
    ['create'],
    required(titleField),
    collection('Additional Fields', 'additionalFields', [
      assigneesField,
      descriptionField,
      dueDateField,
      ...dueFields,
      labelsField,
      positionField,
    ]),
  ),
  ...showFor(
    'card',
    ['setDue'],
    required(dueDateField),
    collection('Additional Fields', 'additionalFields', dueFields),
  ),
  ...showFor(
    'card',
    ['update'],
    collection('Update Fields', 'updateFields', [titleField, descriptionField, doneField]),
  ),
  ...showFor(
    'card',
    ['getAll'],
    required(boardField),
    ...limitFields,
    collection('Filters', 'filters', [
      archivedField,
      assigneesField,
      doneField,
      labelsField,
      listsField,
    ]),
  ),
]
