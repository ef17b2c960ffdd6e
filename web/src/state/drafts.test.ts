import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { DraftField, drafts } from './drafts.svelte'

const day = 24 * 3600_000

beforeEach(() => {
  localStorage.clear()
  drafts.setUser('usr_ada')
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
  document.body.replaceChildren()
})

/** Shows a field as a component does, and returns it with a function that hides it. */
function shown(field: DraftField, value = ''): { node: HTMLTextAreaElement; hide: () => void } {
  const node = document.createElement('textarea')
  node.value = value
  document.body.append(node)
  const hide = field.attach(node)
  return {
    node,
    hide: () => {
      if (hide) hide()
      node.remove()
    },
  }
}

function type(node: HTMLTextAreaElement, text: string): void {
  node.value = text
  node.dispatchEvent(new Event('input', { bubbles: true }))
}

test('typed text is restored when the field is shown again, until it is discarded', () => {
  const first = shown(new DraftField(() => 'comment:crd_1'))
  type(first.node, 'Half a comm')
  first.hide()

  const field = new DraftField(() => 'comment:crd_1')
  const second = shown(field)
  expect(second.node.value).toBe('Half a comm')
  expect(field.restored).toBe(true)
  field.discard()
  expect(second.node.value).toBe('')
  expect(drafts.read('comment:crd_1')).toBeNull()
})

test('a draft belongs to one person, object and field', () => {
  drafts.write('comment:crd_1', 'of Ada')
  expect(drafts.read('comment:crd_2')).toBeNull()
  drafts.setUser('usr_grace')
  expect(drafts.read('comment:crd_1')).toBeNull()
  drafts.write('comment:crd_1', 'of Grace')
  drafts.clear()
  expect(drafts.has('comment:crd_1')).toBe(false)
  drafts.setUser('usr_ada')
  expect(drafts.read('comment:crd_1')?.text).toBe('of Ada')
})

test('a draft is removed after sending and after 30 days', () => {
  drafts.write('a', ' Sent ')
  drafts.sent('a', 'Sent')
  expect(drafts.has('a')).toBe(false)
  drafts.write('b', 'typed on')
  drafts.sent('b', 'typed')
  expect(drafts.has('b')).toBe(true)

  vi.useFakeTimers({ now: Date.now() + 29 * day })
  drafts.setUser('usr_ada')
  expect(drafts.has('b')).toBe(true)
  vi.setSystemTime(Date.now() + 2 * day)
  drafts.setUser('usr_ada')
  expect(drafts.has('b')).toBe(false)
})

test('rejected text is restored before text typed since', () => {
  const field = new DraftField(() => 'comment:crd_1')
  const { node } = shown(field)
  type(node, 'second')
  drafts.restore('comment:crd_1', 'first', '\n\n')
  expect(node.value).toBe('first\n\nsecond')
  expect(drafts.read('comment:crd_1')?.text).toBe('first\n\nsecond')
})

test('a field that shows its own text has no draft', () => {
  const field = new DraftField(() => 'title:crd_1', { initial: () => 'Card' })
  const { node } = shown(field, 'Card')
  type(node, 'Card 2')
  expect(drafts.has('title:crd_1')).toBe(true)
  type(node, 'Card')
  expect(drafts.has('title:crd_1')).toBe(false)
})

test('an outdated draft is dropped when its field is shown', () => {
  drafts.write('title:crd_1', 'Old title')
  const field = new DraftField(() => 'title:crd_1', { initial: () => 'Card', stale: (text) => text === 'Old title' })
  expect(shown(field, 'Card').node.value).toBe('Card')
  expect(field.restored).toBe(false)
  expect(drafts.has('title:crd_1')).toBe(false)
})

test('text typed before a card has an ID is kept when it gets one', () => {
  let place: string | null = null
  const field = new DraftField(() => place)
  const { node } = shown(field)
  type(node, 'early')
  place = 'comment:crd_9'
  field.attach(node)
  expect(drafts.read('comment:crd_9')?.text).toBe('early')
})

test('the oldest drafts are dropped when storage is full', () => {
  vi.useFakeTimers()
  for (const place of ['old', 'older', 'new']) {
    drafts.write(place, 'x')
    vi.advanceTimersByTime(1000)
  }
  const original = localStorage
  const full = new Proxy(original, {
    get: (_, name) =>
      name !== 'setItem'
        ? (original[name as keyof Storage] as () => void).bind(original)
        : (key: string, value: string) => {
            if (original.length >= 3 && original.getItem(key) === null)
              throw new DOMException('full', 'QuotaExceededError')
            original.setItem(key, value)
          },
  })
  vi.stubGlobal('localStorage', full)
  drafts.write('newest', 'y')
  expect(drafts.read('newest')?.text).toBe('y')
  expect(drafts.has('old')).toBe(false)
  expect(drafts.has('older')).toBe(true)
})
