import { expect, test } from 'vitest'
import { markdown, toggleTask, type Marks } from './markdown'

function show(text: string, marks?: Marks): HTMLElement {
  const node = document.createElement('div')
  markdown(text, marks)(node)
  return node
}
const shown = (text: string, ...names: string[]) => show(text, { names })
const marked = (node: HTMLElement) => [...node.querySelectorAll('.mention')].map((one) => one.textContent)

test('mentions listed by the server are highlighted', () => {
  const people = ['Ada Lovelace', 'Grace Hopper', 'Grace Kelly', 'Jo (Ops)']
  const text = 'Hi @ada, @Grace Hopper and **@Jo (Ops)**: not @Grace, a@ada, //@ada, @adam or `@ada`.'
  const node = shown(text, ...people)
  expect(marked(node)).toEqual(['@ada', '@Grace Hopper', '@Jo (Ops)'])
  expect(node.textContent?.trim()).toBe(text.replace(/[*`]/g, ''))
  expect(marked(shown('@ada @ada', ...people))).toHaveLength(2)
  expect(marked(shown('@ada'))).toEqual([])
})

test('text alone never becomes a mention', () => {
  const node = shown('<span class="mention">me</span> @Ada', 'Ada')
  expect(marked(node)).toEqual(['@Ada'])
})

test('each block has the direction of its text', () => {
  const node = show('Text\n\n# Title\n\nText\n\n- One\n\n> Quoted\n\n| A | B |\n|---|---|\n| 1 | 2 |\n')
  for (const block of ['h1', 'p', 'li', 'blockquote', 'th', 'td'])
    expect(node.querySelector(block)?.getAttribute('dir'), block).toBe('auto')
})

const tasks = (node: HTMLElement) =>
  [...node.querySelectorAll('input')].map((box) => `${box.checked ? 'x' : ' '} ${box.ariaLabel}`)

test('the box of a task list is a checkbox, read-only by default', () => {
  const node = show('- [ ] **Buy** milk\n- [x] Bread\n  1. [ ] Rye\n\n- not a task')
  expect(tasks(node)).toEqual(['  Buy milk', 'x Bread', '  Rye'])
  expect([...node.querySelectorAll('input')].every((box) => box.disabled)).toBe(true)
  expect(node.textContent).not.toMatch(/\[[ x]\]/)
  expect(show('<input type="checkbox"> <span data-task="true"></span>').querySelector('input')).toBeNull()
})

test('checking a task changes only its line', () => {
  const text = '```\n- [ ] code\n```\n> - [x] quoted\n\n* [ ] Milk [ ] or [x]\n  - [X] Oat'
  expect(toggleTask(text, 0)).toBe(text.replace('> - [x]', '> - [ ]'))
  expect(toggleTask(text, 1)).toBe(text.replace('* [ ]', '* [x]'))
  expect(toggleTask(text, 2)).toBe(text.replace('- [X]', '- [ ]'))
  expect(toggleTask(text, 3)).toBeNull()
  let changed = ''
  const node = show(text, { ontask: (to) => (changed = to) })
  document.body.append(node) // a control outside a document fires no change event
  node.querySelectorAll('input')[1]!.click()
  node.remove()
  expect(changed).toBe(text.replace('* [ ]', '* [x]'))
})

test('#1 links to the card with that number on the board', () => {
  const card = (number: number) => (number < 10 ? { href: `/cards/crd_${number}`, title: `Card ${number}` } : null)
  const node = show('See #1, (#2) and #99; not a#3, `#4`, #5th, &#6; or [#7](https://example.com).', { card })
  const links = [...node.querySelectorAll('a.card-link')].map((a) => [a.textContent, a.getAttribute('href')])
  expect(links).toEqual([
    ['#1', '/cards/crd_1'],
    ['#2', '/cards/crd_2'],
  ])
  expect(show('See #1').querySelector('a')).toBeNull()
})
