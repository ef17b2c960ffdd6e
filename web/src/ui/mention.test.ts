import { readFileSync } from 'node:fs'
import { afterEach, expect, test } from 'vitest'
import { matching, mention } from './mention'

const people = [
  { id: '1', name: 'Ada Lovelace' },
  { id: '2', name: 'Grace Hopper' },
  { id: '3', name: 'Adele Goldberg' },
]

afterEach(() => document.body.replaceChildren())

test('matching finds people by the beginning of a first or last name', () => {
  expect(matching(people, 'ad').map((p) => p.id)).toEqual(['1', '3'])
  expect(matching(people, 'hop').map((p) => p.id)).toEqual(['2'])
  expect(matching(people, 'ada lov').map((p) => p.id)).toEqual(['1'])
  expect(matching(people, 'x')).toEqual([])
})

function field(of: readonly { id: string; name: string }[] = people): HTMLTextAreaElement {
  HTMLElement.prototype.showPopover ??= () => undefined
  const node = document.createElement('textarea')
  document.body.append(node)
  mention(() => of)(node)
  return node
}

function type(node: HTMLTextAreaElement, text: string): string[] {
  node.value = text
  node.setSelectionRange(text.length, text.length)
  node.dispatchEvent(new Event('input'))
  return [...document.querySelectorAll('[role=option]')].map((o) => o.textContent)
}

test('typing @ suggests people, and Enter inserts the selected name', () => {
  const node = field()
  expect(type(node, 'mail ada@gr')).toEqual([])
  expect(type(node, 'so, @ad')).toEqual(['Ada Lovelace', 'Adele Goldberg'])
  node.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowDown', cancelable: true }))
  node.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', cancelable: true }))
  expect(node.value).toBe('so, @Adele Goldberg ')
  expect(document.querySelectorAll('[role=option]')).toHaveLength(0)
})

test('suggestions follow the rule of the server for the start of a mention', () => {
  const table = JSON.parse(readFileSync('../internal/mention/testdata/mentions.json', 'utf8')) as {
    people: string[]
    typing: { text: string; suggestions: string[] }[]
  }
  const node = field(table.people.map((name) => ({ id: name, name })))
  for (const { text, suggestions } of table.typing) expect(type(node, text), text).toEqual(suggestions)
})
