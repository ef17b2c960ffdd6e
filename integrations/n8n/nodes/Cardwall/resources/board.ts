import { limitFields, showFor, workspaceField } from '../../shared/fields'
import { operationField, type Resource } from '../operation'

export const board: Resource = {
  properties: [
    operationField('board', [
      {
        name: 'Get Many',
        value: 'getAll',
        action: 'Get many boards',
        description: 'Get the boards that you can see',
      },
    ]),
    ...showFor('board', ['getAll'], workspaceField, ...limitFields),
  ],
  operations: {
    getAll: async (call) =>
      await call.getMany('/boards', { workspaceId: call.parameter('workspaceId') || undefined }),
  },
}
