import { limitFields, required, showFor, workspaceField } from '../../shared/fields'
import { operationField, type Resource } from '../operation'

export const search: Resource = {
  properties: [
    operationField('search', [
      {
        name: 'Search Cards',
        value: 'cards',
        action: 'Search cards',
        description: 'Find cards on all boards that you can see',
      },
    ]),
    ...showFor(
      'search',
      ['cards'],
      required({
        displayName: 'Query',
        name: 'q',
        type: 'string',
        default: '',
        placeholder: 'is:open label:bug due:week "exact phrase" word*',
        description: 'The search text, with the same filters as in the search of Cardwall',
      }),
      workspaceField,
      ...limitFields,
    ),
  ],
  operations: {
    cards: async (call) =>
      await call.getMany('/search', {
        q: call.parameter('q'),
        workspaceId: call.parameter('workspaceId') || undefined,
      }),
  },
}
