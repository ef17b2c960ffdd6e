import { path } from '../../shared/api'
import { limitFields, required, showFor } from '../../shared/fields'
import { operationField, type Resource } from '../operation'
import { cardIdField } from './cardFields'

export const comment: Resource = {
  properties: [
    operationField('comment', [
      {
        name: 'Create',
        value: 'create',
        action: 'Create a comment',
        description: 'Add a comment to a card',
      },
      {
        name: 'Get Many',
        value: 'getAll',
        action: 'Get many comments',
        description: 'Get the comments on a card, oldest first',
      },
    ]),
    ...showFor('comment', ['create', 'getAll'], cardIdField),
    ...showFor(
      'comment',
      ['create'],
      required({
        displayName: 'Text',
        name: 'text',
        type: 'string',
        typeOptions: { rows: 4 },
        default: '',
        description: 'The text of the comment, in Markdown',
      }),
    ),
    ...showFor('comment', ['getAll'], ...limitFields),
  ],
  operations: {
    create: async (call) =>
      await call.write('POST', path`/cards/${call.parameter('cardId')}/comments`, {
        text: call.parameter('text'),
      }),
    getAll: async (call) => await call.getMany(path`/cards/${call.parameter('cardId')}/comments`),
  },
}
