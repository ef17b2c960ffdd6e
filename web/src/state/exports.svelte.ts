// Exports in progress. The server runs at most two exports per user at a time,
// including those started in other windows. Further exports wait in a queue.
import { ApiError } from '../api/client'
import { send } from '../api/send'

export type Export = {
  /** The URL of the export, which identifies it. */
  readonly href: string
  /** The file name. */
  name: string
  state: 'waiting' | 'running' | 'done' | 'failed'
  bytes: number
  /** Why the export is waiting or has failed. */
  message: string | null
}

const maxRunning = 2
const retryDelay = 5000 // ms

const list = $state<Export[]>([])
const controllers = new Map<string, AbortController>()

export const exports = {
  of: (href: string): Export | undefined => list.find((item) => item.href === href),
  get running(): number {
    return list.filter((item) => item.state === 'running').length
  },
}

/** Starts an export. The browser saves the complete file under the name from the server. */
export function beginExport(href: string): void {
  const existing = exports.of(href)
  if (existing && (existing.state === 'running' || existing.state === 'waiting')) return
  remove(href)
  list.push({ href, name: 'Cardwall export.json', state: 'waiting', bytes: 0, message: null })
  startNext()
}

export function stopExport(href: string): void {
  controllers.get(href)?.abort()
  remove(href)
  startNext()
}

function remove(href: string): void {
  const index = list.findIndex((item) => item.href === href)
  if (index >= 0) list.splice(index, 1)
}

/** Starts waiting exports, up to the limit. */
function startNext(): void {
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
      item.message = 'Two exports are already running. This one starts when one of them finishes.'
      setTimeout(() => {
        if (item.state !== 'waiting' || controller.signal.aborted) return
        item.message = null
        startNext()
      }, retryDelay)
    } else {
      item.state = 'failed'
      item.message = thrown instanceof ApiError ? thrown.message : 'The connection was lost. Try again.'
    }
  } finally {
    if (controllers.get(item.href) === controller && item.state !== 'waiting') controllers.delete(item.href)
    startNext()
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

/** Saves the file. Throws if the export is incomplete: a complete one ends with "complete":true. */
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
