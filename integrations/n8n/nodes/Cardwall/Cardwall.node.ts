import { NodeConnectionTypes } from 'n8n-workflow'
import type {
  IDataObject,
  IExecuteFunctions,
  INodeExecutionData,
  INodeType,
  INodeTypeDescription,
} from 'n8n-workflow'
import { loadOptions } from '../shared/loadOptions'
import { Call, type Resource } from './operation'
import { board } from './resources/board'
import { card } from './resources/card'
import { comment } from './resources/comment'
import { list } from './resources/list'
import { search } from './resources/search'

const resources: Record<string, Resource> = { board, card, comment, list, search }

/** Performs actions in Cardwall. Each input item is one call of the API. */
export class Cardwall implements INodeType {
  description: INodeTypeDescription = {
    displayName: 'Cardwall',
    name: 'cardwall',
    icon: { light: 'file:../../icons/cardwall.svg', dark: 'file:../../icons/cardwall.dark.svg' },
    group: ['input'],
    version: 1,
    subtitle: '={{$parameter["operation"] + ": " + $parameter["resource"]}}',
    description: 'Create, change and find cards on Cardwall boards',
    defaults: { name: 'Cardwall' },
    usableAsTool: true,
    inputs: [NodeConnectionTypes.Main],
    outputs: [NodeConnectionTypes.Main],
    credentials: [{ name: 'cardwallApi', required: true }],
    properties: [
      {
        displayName: 'Resource',
        name: 'resource',
        type: 'options',
        noDataExpression: true,
        options: [
          { name: 'Board', value: 'board' },
          { name: 'Card', value: 'card' },
          { name: 'Comment', value: 'comment' },
          { name: 'List', value: 'list' },
          { name: 'Search', value: 'search' },
        ],
        default: 'card',
      },
      ...Object.values(resources).flatMap(({ properties }) => properties),
    ],
  }

  methods = { loadOptions }

  async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
    const output: INodeExecutionData[] = []
    for (let item = 0; item < this.getInputData().length; item++) {
      const result = perform(this, item)
      const records = await (this.continueOnFail() ? result.catch(errorRecord) : result)
      output.push(...records.map((json) => ({ json, pairedItem: { item } })))
    }
    return [output]
  }
}

/** Performs the operation of the node for an input item. */
async function perform(context: IExecuteFunctions, item: number): Promise<IDataObject[]> {
  const resource = context.getNodeParameter('resource', item) as string
  const operation = context.getNodeParameter('operation', item) as string
  return [await resources[resource].operations[operation](new Call(context, item))].flat()
}

/** Returns the output for an input item that failed, as n8n recognizes it. */
function errorRecord({ message }: Error): IDataObject[] {
  return [{ error: message }]
}
