import { flushSync } from 'svelte'
import { toStore } from 'svelte/store'
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

/** Attaches a field to a new textarea. Returns the textarea and a function that removes it. */
function mountField(field: DraftField, value = ''): { node: HTMLTextAreaElement; hide: () => void } {
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
  const first = mountField(new DraftField(() => 'comment:crd_1'))
  type(first.node, 'Half a comm')
  first.hide()

  const field = new DraftField(() => 'comment:crd_1')
  const second = mountField(field)
  expect(second.node.value).toBe('Half a comm')
  expect(field.restored).toBe(true)
  field.discard()
  expect(second.node.value).toBe('')
  expect(drafts.read('comment:crd_1')).toBeNull()
})

test('a draft belongs to one user, record and field', () => {
  drafts.write('comment:crd_1', 'by Ada')
  expect(drafts.read('comment:crd_2')).toBeNull()
  drafts.setUser('usr_grace')
  expect(drafts.read('comment:crd_1')).toBeNull()
  drafts.write('comment:crd_1', 'by Grace')
  drafts.clear()
  expect(drafts.has('comment:crd_1')).toBe(false)
  drafts.setUser('usr_ada')
  expect(drafts.read('comment:crd_1')?.text).toBe('by Ada')
})

test('a draft is removed after sending and after 30 days', () => {
  drafts.write('a', ' Sent ')
  drafts.sent('a', 'Sent')
  expect(drafts.has('a')).toBe(false)
  drafts.write('b', 'more text')
  drafts.sent('b', 'text')
  expect(drafts.has('b')).toBe(true)

  vi.useFakeTimers({ now: Date.now() + 29 * day })
  drafts.setUser('usr_ada')
  expect(drafts.has('b')).toBe(true)
  vi.setSystemTime(Date.now() + 2 * day)
  drafts.setUser('usr_ada')
  expect(drafts.has('b')).toBe(false)
})

test('rejected text is restored before text typed in the meantime', () => {
  const field = new DraftField(() => 'comment:crd_1')
  const { node } = mountField(field)
  type(node, 'second')
  drafts.restore('comment:crd_1', 'first', '\n\n')
  expect(node.value).toBe('first\n\nsecond')
  expect(drafts.read('comment:crd_1')?.text).toBe('first\n\nsecond')
})

test('rejected text does not replace a newer version of the same text', () => {
  const field = new DraftField(() => 'title:crd_1', { initial: () => 'Card' })
  const { node } = mountField(field, 'Card')
  type(node, 'Launch plan')
  drafts.restore('title:crd_1', 'Launch')
  expect(node.value).toBe('Launch plan')
  expect(drafts.read('title:crd_1')?.text).toBe('Launch plan')

  drafts.write('description:crd_1', 'Second version', 'Before')
  drafts.restore('description:crd_1', 'First version')
  expect(drafts.read('description:crd_1')).toMatchObject({ text: 'Second version', base: 'Before' })
})

test('a field with its initial text has no draft', () => {
  const field = new DraftField(() => 'title:crd_1', { initial: () => 'Card' })
  const { node } = mountField(field, 'Card')
  type(node, 'Card 2')
  expect(drafts.has('title:crd_1')).toBe(true)
  type(node, 'Card')
  expect(drafts.has('title:crd_1')).toBe(false)
})

test('an obsolete draft is deleted when its field is shown', () => {
  drafts.write('title:crd_1', 'Old title')
  const field = new DraftField(() => 'title:crd_1', { initial: () => 'Card', stale: (text) => text === 'Old title' })
  expect(mountField(field, 'Card').node.value).toBe('Card')
  expect(field.restored).toBe(false)
  expect(drafts.has('title:crd_1')).toBe(false)
})

test('text typed into a new card becomes a draft once the card has a server ID', () => {
  let draftKey: string | null = null
  const field = new DraftField(() => draftKey)
  const { node } = mountField(field)
  type(node, 'early')
  draftKey = 'comment:crd_9'
  field.attach(node)
  expect(drafts.read('comment:crd_9')?.text).toBe('early')
})

/** Stores the drafts "oldest", "middle" and "newest", and limits the storage to their size. */
function fillStorage(): void {
  vi.useFakeTimers()
  for (const key of ['oldest', 'middle', 'newest']) {
    drafts.write(key, 'x')
    vi.advanceTimersByTime(1000)
  }
  const original = localStorage
  const sizeWithout = (key: string) =>
    Object.keys(original).reduce((sum, k) => sum + (k === key ? 0 : original.getItem(k)!.length), 0)
  const limit = sizeWithout('')
  const full = new Proxy(original, {
    get: (_, name) =>
      name !== 'setItem'
        ? (original[name as keyof Storage] as () => void).bind(original)
        : (key: string, value: string) => {
            if (sizeWithout(key) + value.length > limit) throw new DOMException('full', 'QuotaExceededError')
            original.setItem(key, value)
          },
  })
  vi.stubGlobal('localStorage', full)
}

test('the oldest draft is deleted when the storage is full', () => {
  fillStorage()
  drafts.write('added', 'y')
  expect(drafts.read('added')?.text).toBe('y')
  expect(drafts.has('oldest')).toBe(false)
  expect(drafts.has('middle')).toBe(true)
})

test('has() reacts when a longer draft displaces the oldest one', () => {
  fillStorage()
  const values: boolean[] = []
  const unsubscribe = toStore(() => drafts.has('oldest')).subscribe((has) => values.push(has))
  drafts.write('newest', 'longer')
  flushSync()
  unsubscribe()
  expect(values).toEqual([true, false])
})
