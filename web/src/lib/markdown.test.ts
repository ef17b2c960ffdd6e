import { expect, test } from 'vitest'
import { markdown } from './markdown'

function shown(text: string, ...names: string[]): HTMLElement {
  const node = document.createElement('div')
  markdown(text, names)(node)
  return node
}
const marked = (node: HTMLElement) => [...node.querySelectorAll('.mention')].map((one) => one.textContent)

test('who is mentioned stands out, as far as the server tells them', () => {
  const people = ['Ada Lovelace', 'Grace Hopper', 'Grace Kelly', 'Jo (Ops)']
  const text = 'Hi @ada, @Grace Hopper and **@Jo (Ops)**: not @Grace, a@ada, //@ada, @adam or `@ada`.'
  const node = shown(text, ...people)
  expect(marked(node)).toEqual(['@ada', '@Grace Hopper', '@Jo (Ops)'])
  expect(node.textContent?.trim()).toBe(text.replace(/[*`]/g, ''))
  expect(marked(shown('@ada @ada', ...people))).toHaveLength(2)
  expect(marked(shown('@ada'))).toEqual([])
})

test('nothing of what was written becomes a mention by itself', () => {
  const node = shown('<span class="mention">me</span> @Ada', 'Ada')
  expect(marked(node)).toEqual(['@Ada'])
})
