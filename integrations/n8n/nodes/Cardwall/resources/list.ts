import {
  boardField,
  boardOfChoicesField,
  limitFields,
  listField,
  positionField,
  required,
  showFor,
} from '../../shared/fields'
import { path } from '../../shared/api'
import { operationField, type Resource } from '../operation'

export const list: Resource = {
  properties: [
    operationField('list', [
      {
        name: 'Archive',
        value: 'archive',
        action: 'Archive a list',
        description: 'Archive a list with its cards',
      },
      {
        name: 'Create',
        value: 'create',
        action: 'Create a list',
        description: 'Create a list on a board',
      },
      {
        name: 'Get Many',
        value: 'getAll',
        action: 'Get many lists',
        description: 'Get the lists of a board',
      },
    ]),
    ...showFor('list', ['create', 'getAll'], required(boardField)),
    ...showFor('list', ['archive'], boardOfChoicesField, required(listField)),
    ...showFor(
      'list',
      ['create'],
      required({ displayName: 'Name', name: 'name', type: 'string', default: '' }),
      positionField,
    ),
    ...showFor('list', ['getAll'], ...limitFields),
  ],
  operations: {
    archive: async (call) =>
      await call.write('POST', path`/lists/${call.parameter('listId')}/archive`),
    create: async (call) =>
      await call.write('POST', path`/boards/${call.parameter('boardId')}/lists`, {
        name: call.parameter('name'),
        position: call.parameter('position'),
      }),
    getAll: async (call) => await call.getMany(path`/boards/${call.parameter('boardId')}/lists`),
  },
}
