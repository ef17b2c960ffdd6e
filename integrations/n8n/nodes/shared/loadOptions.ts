import { NodeOperationError } from 'n8n-workflow'
import type { ILoadOptionsFunctions, INodePropertyOptions } from 'n8n-workflow'
import { path, requestAll } from './api'

interface Named {
  id: string
  name: string
}

interface Board extends Named {
  workspaceId: string
}

interface Label extends Named {
  color: string
}

/** The choices of the dropdowns, read from the server. */
export const loadOptions = { getWorkspaces, getBoards, getLists, getLabels, getMembers }

async function getWorkspaces(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
  return choices(await requestAll<Named>(this, '/workspaces'))
}

/** Returns the boards, each with the name of its workspace. */
async function getBoards(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
  const workspaces = await requestAll<Named>(this, '/workspaces')
  const names = new Map(workspaces.map(({ id, name }) => [id, name]))
  const boards = await requestAll<Board>(this, '/boards')
  return choices(boards, ({ workspaceId }) => names.get(workspaceId))
}

async function getLists(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
  return choices(await requestAll<Named>(this, path`/boards/${board(this)}/lists`))
}

/** Returns the labels. Those without a name are shown by their color. */
async function getLabels(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
  const labels = await requestAll<Label>(this, path`/boards/${board(this)}/labels`)
  return choices(labels.map(({ id, name, color }) => ({ id, name: name || color })))
}

/** Returns the people who can see the board and be assigned to its cards. */
async function getMembers(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
  return choices(await requestAll<Named>(this, path`/boards/${board(this)}/members`))
}

function choices<T extends Named>(
  records: T[],
  description: (record: T) => string | undefined = () => undefined,
): INodePropertyOptions[] {
  return records.map((record) => ({
    name: record.name,
    value: record.id,
    description: description(record),
  }))
}

/** Returns the id of the chosen board, whose lists, labels or members are to be shown. */
function board(context: ILoadOptionsFunctions): string {
  const id = context.getCurrentNodeParameter('boardId')
  if (typeof id === 'string' && id !== '') return id
  throw new NodeOperationError(context.getNode(), 'Choose a board first.')
}
