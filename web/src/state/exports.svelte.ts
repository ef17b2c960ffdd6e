// Exports in progress. The server runs two exports of a person at a time, including
// those started in other windows. The others wait in a queue.
import { ApiError } from '../api/client'
import { send } from '../api/send'

export type Export = {
  /** The address of the export, which identifies it. */
  readonly href: string
  /** The file name. */
  name: string
  state: 'waiting' | 'running' | 'done' | 'failed'
  bytes: number
  /** Why it is waiting or failed. */
  message: string | null
}

const maxRunning = 2
const retryDelay = 5000

const list = $state<Export[]>([])
const controllers = new Map<string, AbortController>()

export const exports = {
  of: (href: string): Export | undefined => list.find((item) => item.href === href),
  get running(): number {
    return list.filter((item) => item.state === 'running').length
  },
}

/** Starts an export. When it is complete, the browser saves it under the name that the server gives. */
export function beginExport(href: string): void {
  const before = exports.of(href)
  if (before && (before.state === 'running' || before.state === 'waiting')) return
  drop(href)
  list.push({ href, name: 'Cardwall export.json', state: 'waiting', bytes: 0, message: null })
  next()
}

export function stopExport(href: string): void {
  controllers.get(href)?.abort()
  drop(href)
  next()
}

function drop(href: string): void {
  const at = list.findIndex((item) => item.href === href)
  if (at >= 0) list.splice(at, 1)
}

function next(): void {
  for (const item of list) {
    if (item.state !== 'waiting' || item.message !== null) continue
    if (exports.running >= maxRunning) return
    void run(item)
  }
}

async function run(item: Export): Promise<void> {
  const controller = new AbortController()
  controllers.set(item.href, controller)
  item.state = 'running'
  item.message = null
  item.bytes = 0
  try {
    const parts = await read(item, controller.signal)
    await save(parts, item.name)
    item.state = 'done'
  } catch (thrown) {
    if (controller.signal.aborted) return
    if (thrown instanceof ApiError && thrown.code === 'rate_limited') {
      item.state = 'waiting'
      item.message = 'Two exports are running in another window. This one starts when one of them is done.'
      setTimeout(() => {
        if (item.state !== 'waiting' || controller.signal.aborted) return
        item.message = null
        next()
      }, retryDelay)
    } else {
      item.state = 'failed'
      item.message = thrown instanceof ApiError ? thrown.message : 'The connection was lost. Try again.'
    }
  } finally {
    if (controllers.get(item.href) === controller && item.state !== 'waiting') controllers.delete(item.href)
    next()
  }
}

/** Returns the file name in a Content-Disposition header (RFC 6266). */
export function fileName(disposition: string | null): string | undefined {
  const encoded = /filename\*=utf-8''([^;]+)/i.exec(disposition ?? '')?.[1]
  return encoded ? decodeURIComponent(encoded) : /filename="([^"]+)"/.exec(disposition ?? '')?.[1]
}

async function read(item: Export, signal: AbortSignal): Promise<Uint8Array<ArrayBuffer>[]> {
  const response = await send(new Request(item.href, { signal }))
  if (!response.ok || !response.body) {
    const { error } = (await response.json().catch(() => ({}))) as { error?: { code: string; message: string } }
    throw new ApiError(
      response.status,
      error?.code ?? 'internal',
      error?.message ?? `The server responded with an error (${response.status}).`,
    )
  }
  item.name = fileName(response.headers.get('Content-Disposition')) ?? item.name
  const parts: Uint8Array<ArrayBuffer>[] = []
  const reader = response.body.getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return parts
    parts.push(value)
    item.bytes += value.byteLength
  }
}

/** Saves the file. An incomplete export does not end with "complete":true and is not saved. */
async function save(parts: Uint8Array<ArrayBuffer>[], name: string): Promise<void> {
  const file = new Blob(parts, { type: 'application/json' })
  const end = await file.slice(-64).text()
  if (!/"complete":true\}\s*$/.test(end)) {
    throw new ApiError(0, 'truncated', 'The export was incomplete, so nothing was saved. Try again.')
  }
  const url = URL.createObjectURL(file)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  document.body.append(link)
  link.click()
  link.remove()
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
