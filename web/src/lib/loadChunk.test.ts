import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { loadChunk, NeedsReload } from './loadChunk'

beforeEach(() => {
  vi.useFakeTimers()
  document.head.innerHTML = '<script type="module" src="/assets/index-1.js"></script>'
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
  document.head.replaceChildren()
})

/** Sets the documents that the server returns, in order. For null, the server is unreachable. The last one repeats. */
function serve(...documents: (string | null)[]): void {
  vi.stubGlobal('fetch', async () => {
    const next = documents.length > 1 ? documents.shift()! : documents[0]!
    if (next === null) throw new TypeError('Failed to fetch')
    return new Response(next)
  })
}

const currentDocument = '<script type="module" src="/assets/index-1.js"></script>'

/** Returns a loader that succeeds on the nth attempt. */
function chunk(nth: number): { load: () => Promise<string>; attempts: () => number } {
  let n = 0
  return {
    load: async () => {
      if (++n < nth) throw new TypeError('Failed to fetch dynamically imported module')
      return 'chunk'
    },
    attempts: () => n,
  }
}

const settled = async (request: Promise<unknown>) => {
  const result = request.catch((thrown: unknown) => thrown)
  await vi.runAllTimersAsync()
  return result
}

test('loadChunk retries for as long as the server is unreachable', async () => {
  serve(null)
  const { load, attempts } = chunk(12)
  expect(await settled(loadChunk(load))).toBe('chunk')
  expect(attempts()).toBe(12)
})

test('NeedsReload mentions an update only if the version has changed', async () => {
  serve(null, null, '<script type="module" src="/assets/index-2.js"></script>')
  const thrown = await settled(loadChunk(chunk(Infinity).load))
  expect(thrown).toBeInstanceOf(NeedsReload)
  expect((thrown as NeedsReload).explanation).toBe('Cardwall has been updated since you opened this page.')

  serve(currentDocument)
  expect(((await settled(loadChunk(chunk(Infinity).load))) as NeedsReload).explanation).toBe(
    'Part of this page couldn’t be loaded.',
  )
})

test('loadChunk retries after the first failure without checking the version', async () => {
  serve('<script type="module" src="/assets/index-2.js"></script>')
  const { load, attempts } = chunk(2)
  expect(await settled(loadChunk(load))).toBe('chunk')
  expect(attempts()).toBe(2)
})
