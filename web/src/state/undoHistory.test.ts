import { beforeEach, describe, expect, test } from 'vitest'
import { toasts } from './toasts.svelte'
import { UndoHistory } from './undoHistory.svelte'

type Step = { text: string; target: string }

let reverted: string[]
let history: UndoHistory<Step>

beforeEach(() => {
  toasts.splice(0)
  reverted = []
  history = new UndoHistory<Step>((step) => reverted.push(step.target))
})

const step = (target: string): Step => ({ text: `${target} changed`, target })

describe('UndoHistory', () => {
  test('undoes the latest step first and shows a toast', () => {
    history.add(step('title'))
    history.add(step('label'))
    history.undo()
    expect(reverted).toEqual(['label'])
    expect(toasts.map((t) => t.text)).toEqual(['Undone: label changed'])
    history.undo()
    history.undo()
    expect(reverted).toEqual(['label', 'title'])
    expect(history.canUndo).toBe(false)
  })

  test('undoes a step only once, from its toast or with a shortcut', () => {
    const moved = step('card')
    history.add(moved)
    history.showToast(moved)
    const button = toasts[0]!.action!
    history.undo()
    expect(toasts.map((t) => t.text)).toEqual(['Undone: card changed'])
    button.run()
    expect(reverted).toEqual(['card'])
  })

  test('the toast of an earlier step undoes that step', () => {
    const first = step('first')
    history.add(first)
    history.showToast(first, 'First changed. One label was removed.')
    history.add(step('second'))
    expect(toasts[0]!.text).toBe('First changed. One label was removed.')
    toasts[0]!.action!.run()
    expect(reverted).toEqual(['first'])
    expect(history.last?.target).toBe('second')
  })

  test('a dropped step loses its toast and cannot be undone', () => {
    const expired = step('comment')
    history.add(expired)
    history.showToast(expired)
    const button = toasts[0]!.action!
    history.drop((s) => s === expired)
    expect(toasts).toEqual([])
    button.run()
    history.undo()
    expect(reverted).toEqual([])
  })

  test('keeps the last 50 steps', () => {
    for (let i = 1; i <= 51; i++) history.add(step(`${i}`))
    for (let i = 0; i < 60; i++) history.undo()
    expect(reverted).toHaveLength(50)
    expect(reverted.at(-1)).toBe('2')
  })

  test('update changes steps, for example when a new record gets its server ID', () => {
    history.add(step('new_1'))
    history.update((s) => (s.target = 'crd_1'))
    history.undo()
    expect(reverted).toEqual(['crd_1'])
  })
})
