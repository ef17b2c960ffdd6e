import { createHash } from 'node:crypto'
import type {
  IDataObject,
  IExecuteFunctions,
  IHttpRequestMethods,
  INodeProperties,
} from 'n8n-workflow'
import { request, requestAll } from '../shared/api'

/** Performs an operation for one input item, and returns its output. */
export type Operation = (call: Call) => Promise<IDataObject | IDataObject[]>

/** A resource of the node: what n8n shows for it, and what it does. */
export interface Resource {
  properties: INodeProperties[]
  operations: Record<string, Operation>
}

/** An operation as n8n shows it: its name, and the sentence for the list of actions. */
export interface Choice {
  name: string
  value: string
  action: string
  description: string
}

const operation: INodeProperties = {
  displayName: 'Operation',
  name: 'operation',
  type: 'options',
  noDataExpression: true,
  default: '',
}

/** The field with which people choose the operation of a resource. The first one is preset. */
export function operationField(resource: string, options: Choice[]): INodeProperties {
  const displayOptions = { show: { resource: [resource] } }
  return { ...operation, displayOptions, options: [...options], default: options[0].value }
}

/** The execution of the node for one input item. */
export class Call {
  constructor(
    private readonly context: IExecuteFunctions,
    private readonly item: number,
  ) {}

  /** Returns a parameter of the node. */
  parameter<T = string>(name: string, fallback?: T): T {
    return this.context.getNodeParameter(name, this.item, fallback) as T
  }

  /** Returns the time zone of the workflow, as an IANA name. */
  timeZone(): string {
    return this.context.getTimezone()
  }

  /** Reads a record. */
  async get(route: string): Promise<IDataObject> {
    return await request(this.context, 'GET', route, { item: this.item })
  }

  /** Reads a list: all of it, or as much as the field limit says. */
  async getMany(route: string, query: IDataObject = {}): Promise<IDataObject[]> {
    const limit = this.parameter('returnAll', false) ? Infinity : this.parameter('limit', 50)
    return await requestAll(this.context, route, { query, item: this.item }, limit)
  }

  /** Changes something once, even if n8n retries the node. */
  async write(
    method: IHttpRequestMethods,
    route: string,
    body?: IDataObject,
  ): Promise<IDataObject> {
    const idempotencyKey = this.idempotencyKey()
    return await request(this.context, method, route, { body, idempotencyKey, item: this.item })
  }

  /**
   * Returns a key that is the same for all tries of this item, and different for anything else.
   * It contains the id of the n8n instance because execution ids are numbers that start at 1. It is
   * a hash because the server accepts at most 255 characters.
   */
  private idempotencyKey(): string {
    const { context, item } = this
    const source = [
      context.getInstanceId(),
      context.getExecutionId(),
      context.getNode().id,
      context.getWorkflowDataProxy(item).$runIndex as number,
      item,
      this.parameter('resource'),
      this.parameter('operation'),
    ]
    return `n8n-${createHash('sha256').update(JSON.stringify(source)).digest('hex')}`
  }
}
