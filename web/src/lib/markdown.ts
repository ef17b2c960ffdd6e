// Renders Markdown. This module is loaded with a card, not with the board, because it is large.
import DOMPurify from 'dompurify'
import { Marked, type Tokens } from 'marked'
import type { Attachment } from 'svelte/attachments'
import { wordEnd, wordStart } from './words'

const escapeHtml = (text: string) =>
  text.replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c]!)

// HTML is shown as text and images become links. Otherwise the HTML parser would
// report violations of the content security policy.
const marked = new Marked({
  gfm: true,
  breaks: true,
  async: false,
  renderer: {
    html: ({ text }: Tokens.HTML | Tokens.Tag) => escapeHtml(text),
    // A placeholder, because sanitizing removes form controls. addCheckboxes replaces it.
    checkbox: ({ checked }: Tokens.Checkbox) => `<span data-task="${checked}"></span>`,
    image: ({ href, text }: Tokens.Image) => `<a href="${escapeHtml(href)}">${escapeHtml(text || href)}</a>`,
  },
})

DOMPurify.addHook('afterSanitizeAttributes', (node) => {
  if (node instanceof HTMLAnchorElement) {
    node.rel = 'noopener noreferrer nofollow'
    if (node.origin !== location.origin) node.target = '_blank'
  }
})

/**
 * Returns a pattern for mentions of people in composed text. It follows the same rule as the server
 * (internal/mention).
 */
function mentionPattern(people: readonly string[]): RegExp | null {
  const names = people.map((name) => name.normalize('NFC'))
  const firstNames = names.map((name) => name.split(/[\p{Zs}\t]/u, 1)[0]!.toLowerCase())
  const unique = firstNames.filter((first) => firstNames.indexOf(first) === firstNames.lastIndexOf(first))
  const longestFirst = [...names, ...unique].filter(Boolean).sort((a, b) => b.length - a.length)
  if (longestFirst.length === 0) return null
  const anyName = longestFirst.map((name) =>
    name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/[\p{Zs}\t]/gu, '[\\p{Zs}\\t]'),
  )
  return new RegExp(`(?<![@＠/\\\\])${wordStart}[@＠](?:${anyName.join('|')})${wordEnd}`, 'giu')
}

/** Wraps matches of a pattern in the elements that `wrapper` returns, except inside elements that match `skip`. */
function wrapMatches(
  root: DocumentFragment,
  pattern: RegExp,
  skip: string,
  wrapper: (match: string) => Element | null,
): void {
  const texts: Text[] = []
  const walk = document.createTreeWalker(root, NodeFilter.SHOW_TEXT)
  while (walk.nextNode()) texts.push(walk.currentNode as Text)
  for (const text of texts) {
    if (text.parentElement?.closest(skip)) continue
    text.data = text.data.normalize('NFC')
    // From last to first, because each match splits the text node.
    for (const { 0: match, index } of [...text.data.matchAll(pattern)].reverse()) {
      const element = wrapper(match)
      if (!element) continue
      const rest = text.splitText(index)
      rest.splitText(match.length)
      rest.replaceWith(element)
      element.append(match)
    }
  }
}

/** Highlights mentions, except in code. */
function highlightMentions(root: DocumentFragment, names: readonly string[]): void {
  const pattern = mentionPattern(names)
  if (!pattern) return
  wrapMatches(root, pattern, 'code, pre', () => {
    const mark = document.createElement('span')
    mark.className = 'mention'
    return mark
  })
}

const cardNumber = new RegExp(`(?<![&#＃/])${wordStart}[#＃][1-9]\\d{0,8}${wordEnd}`, 'gu')

/** Makes each #12 a link to the card with that number, except in code and links. */
function linkCards(root: DocumentFragment, cardOf: NonNullable<MarkdownOptions['card']>): void {
  wrapMatches(root, cardNumber, 'code, pre, a', (match) => {
    const card = cardOf(Number(match.slice(1)))
    if (!card) return null
    const link = document.createElement('a')
    link.href = card.href
    link.title = card.title
    link.className = 'card-link'
    return link
  })
}

/** Adds a checkbox to each item of a task list. The checkboxes are disabled without `ontask`. */
function addCheckboxes(root: DocumentFragment, text: string, ontask: MarkdownOptions['ontask']): void {
  for (const [nth, placeholder] of root.querySelectorAll('[data-task]').entries()) {
    const item = placeholder.closest('li')
    const box = document.createElement('input')
    box.type = 'checkbox'
    box.checked = placeholder.getAttribute('data-task') === 'true'
    box.disabled = !ontask
    box.ariaLabel = ownText(item) || 'Task'
    box.onclick = (event) => event.stopPropagation()
    box.onchange = () => {
      const changed = toggleTask(text, nth)
      if (changed === null) box.checked = !box.checked
      else ontask?.(changed)
    }
    item?.classList.add('task')
    placeholder.replaceWith(box)
  }
}

/** Returns the text of a list item without nested lists. */
function ownText(item: Element | null): string {
  const copy = item?.cloneNode(true) as Element | undefined
  copy?.querySelectorAll('ul, ol').forEach((list) => list.remove())
  return copy?.textContent.trim() ?? ''
}

const taskMark = /(?<=^[\s>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)+\[)[ xX](?=\][ \t])/gm

/** Returns the checked state of each task in the text, in order. */
function tasksOf(text: string): boolean[] {
  const states: boolean[] = []
  marked.walkTokens(marked.lexer(text), (token) => {
    if (token.type === 'checkbox') states.push((token as Tokens.Checkbox).checked)
  })
  return states
}

/** Returns the text with its nth task toggled (counting from 0), or null if there is no such task. */
export function toggleTask(text: string, nth: number): string | null {
  const expected = tasksOf(text).map((checked, i) => (i === nth ? !checked : checked))
  // A match may be inside code, so find the match that changes the nth task.
  for (const { 0: mark, index } of [...text.matchAll(taskMark)].slice(nth)) {
    const changed = text.slice(0, index) + (mark === ' ' ? 'x' : ' ') + text.slice(index + 1)
    const actual = tasksOf(changed)
    if (
      nth < expected.length &&
      actual.length === expected.length &&
      actual.every((checked, i) => checked === expected[i])
    ) {
      return changed
    }
  }
  return null
}

/** The people and cards that the text can mention, and the handler for its tasks. */
export type MarkdownOptions = {
  /** The names of people who can be mentioned. */
  names?: readonly string[]
  /** Returns the card with a number on the board, or null if there is none. */
  card?: (number: number) => { href: string; title: string } | null
  /** Called with the changed text when a task is toggled. Without this handler, tasks are read-only. */
  ontask?: (text: string) => void
}

/**
 * Renders Markdown inside an element. The HTML is always sanitized, so it contains no
 * scripts, styles, forms or images. Mentions are highlighted, card numbers are
 * links, and task lists have checkboxes.
 */
export function markdown(text: string, { names = [], card, ontask }: MarkdownOptions = {}): Attachment<HTMLElement> {
  return (node) => {
    const html = marked.parse(text) as string
    const clean = DOMPurify.sanitize(html, {
      RETURN_DOM_FRAGMENT: true,
      USE_PROFILES: { html: true },
      FORBID_TAGS: ['style', 'form', 'input', 'button', 'textarea', 'select', 'video', 'audio', 'img'],
      FORBID_ATTR: ['style', 'class', 'id', 'name'],
    })
    highlightMentions(clean, names)
    if (card) linkCards(clean, card)
    addCheckboxes(clean, text, ontask)
    // Each block gets its text direction from its own first letter.
    for (const block of clean.querySelectorAll('p, li, h1, h2, h3, h4, h5, h6, blockquote, td, th')) {
      block.setAttribute('dir', 'auto')
    }
    node.replaceChildren(clean)
  }
}
