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

/** Sets the documents that the server returns in turn; null means that it is unreachable. */
function serves(...documents: (string | null)[]): void {
  vi.stubGlobal('fetch', async () => {
    const found = documents.length > 1 ? documents.shift()! : documents[0]!
    if (found === null) throw new TypeError('Failed to fetch')
    return new Response(found)
  })
}

const same = '<script type="module" src="/assets/index-1.js"></script>'

/** A chunk that loads on the given attempt. */
function part(at: number): { load: () => Promise<string>; attempts: () => number } {
  let n = 0
  return {
    load: async () => {
      if (++n < at) throw new TypeError('Failed to fetch dynamically imported module')
      return 'part'
    },
    attempts: () => n,
  }
}

const settled = async (request: Promise<unknown>) => {
  const result = request.catch((thrown: unknown) => thrown)
  await vi.runAllTimersAsync()
  return result
}

test('a chunk waits while the server is unreachable, however long', async () => {
  serves(null)
  const { load, attempts } = part(12)
  expect(await settled(loadChunk(load))).toBe('part')
  expect(attempts()).toBe(12)
})

test('only a new version is reported as an update', async () => {
  serves(null, null, '<script type="module" src="/assets/index-2.js"></script>')
  const thrown = await settled(loadChunk(part(Infinity).load))
  expect(thrown).toBeInstanceOf(NeedsReload)
  expect((thrown as NeedsReload).explanation).toBe('Cardwall was updated since you opened this page.')

  serves(same)
  expect(((await settled(loadChunk(part(Infinity).load))) as NeedsReload).explanation).toBe(
    'Part of the page could not be loaded.',
  )
})

test('a load that failed once succeeds at the next attempt, without checking the version', async () => {
  serves('<script type="module" src="/assets/index-2.js"></script>')
  const { load, attempts } = part(2)
  expect(await settled(loadChunk(load))).toBe('part')
  expect(attempts()).toBe(2)
})
