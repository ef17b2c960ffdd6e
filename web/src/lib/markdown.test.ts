import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { markdown, toggleTask, type MarkdownOptions } from './markdown'

function render(text: string, options?: MarkdownOptions): HTMLElement {
  const node = document.createElement('div')
  markdown(text, options)(node)
  return node
}
const renderWithNames = (text: string, ...names: string[]) => render(text, { names })
const mentionsIn = (node: HTMLElement) => [...node.querySelectorAll('.mention')].map((mention) => mention.textContent)

test('mentions of the given people are highlighted', () => {
  const people = ['Ada Lovelace', 'Grace Hopper', 'Grace Kelly', 'Jo (Ops)']
  const text = 'Hi @ada, @Grace Hopper and **@Jo (Ops)**: not @Grace, a@ada, //@ada, @adam or `@ada`.'
  const node = renderWithNames(text, ...people)
  expect(mentionsIn(node)).toEqual(['@ada', '@Grace Hopper', '@Jo (Ops)'])
  expect(node.textContent?.trim()).toBe(text.replace(/[*`]/g, ''))
  expect(mentionsIn(renderWithNames('@ada @ada', ...people))).toHaveLength(2)
  expect(mentionsIn(renderWithNames('@ada'))).toEqual([])
})

test('mentions are highlighted by the rule of the server', () => {
  const { people, texts } = JSON.parse(readFileSync('../internal/mention/testdata/mentions.json', 'utf8')) as {
    people: string[]
    texts: { text: string; mentions: string[] }[]
  }
  const plain = (text: string) =>
    text
      .normalize('NFC')
      .replace(/\p{Zs}/gu, ' ')
      .toLowerCase()
  for (const { text, mentions } of texts) {
    const marked = new Set(mentionsIn(renderWithNames(text, ...people)).map((mark) => plain(mark.slice(1))))
    const found = people.filter((name) => marked.has(plain(name)) || marked.has(plain(name).split(' ')[0]!))
    expect(found, text).toEqual(mentions)
  }
})

test('HTML cannot imitate a mention', () => {
  const node = renderWithNames('<span class="mention">me</span> @Ada', 'Ada')
  expect(mentionsIn(node)).toEqual(['@Ada'])
})

test('each block has dir="auto"', () => {
  const node = render('Text\n\n# Title\n\nText\n\n- One\n\n> Quoted\n\n| A | B |\n|---|---|\n| 1 | 2 |\n')
  for (const block of ['h1', 'p', 'li', 'blockquote', 'th', 'td'])
    expect(node.querySelector(block)?.getAttribute('dir'), block).toBe('auto')
})

const tasks = (node: HTMLElement) =>
  [...node.querySelectorAll('input')].map((box) => `${box.checked ? 'x' : ' '} ${box.ariaLabel}`)

test('task list items have checkboxes, read-only by default', () => {
  const node = render('- [ ] **Buy** milk\n- [x] Bread\n  1. [ ] Rye\n\n- not a task')
  expect(tasks(node)).toEqual(['  Buy milk', 'x Bread', '  Rye'])
  expect([...node.querySelectorAll('input')].every((box) => box.disabled)).toBe(true)
  expect(node.textContent).not.toMatch(/\[[ x]\]/)
  expect(render('<input type="checkbox"> <span data-task="true"></span>').querySelector('input')).toBeNull()
})

test('toggling a task changes only its line', () => {
  const text = '```\n- [ ] code\n```\n> - [x] quoted\n\n* [ ] Milk [ ] or [x]\n  - [X] Oat'
  expect(toggleTask(text, 0)).toBe(text.replace('> - [x]', '> - [ ]'))
  expect(toggleTask(text, 1)).toBe(text.replace('* [ ]', '* [x]'))
  expect(toggleTask(text, 2)).toBe(text.replace('- [X]', '- [ ]'))
  expect(toggleTask(text, 3)).toBeNull()
  let changed = ''
  const node = render(text, { ontask: (to) => (changed = to) })
  document.body.append(node) // an element outside the document fires no change event
  node.querySelectorAll('input')[1]!.click()
  node.remove()
  expect(changed).toBe(text.replace('* [ ]', '* [x]'))
})

test('#1 becomes a link to card 1 of the board', () => {
  const card = (number: number) => (number < 10 ? { href: `/cards/crd_${number}`, title: `Card ${number}` } : null)
  const node = render('See #1, (#2) and #99; not a#3, `#4`, #5th, &#6; or [#7](https://example.com).', { card })
  const links = [...node.querySelectorAll('a.card-link')].map((a) => [a.textContent, a.getAttribute('href')])
  expect(links).toEqual([
    ['#1', '/cards/crd_1'],
    ['#2', '/cards/crd_2'],
  ])
  expect(render('See #1').querySelector('a')).toBeNull()
  const joined = render('課題#1を、＃2번 a#3を #4abc', { card })
  expect([...joined.querySelectorAll('a.card-link')].map((a) => a.textContent)).toEqual(['#1', '＃2'])
})
