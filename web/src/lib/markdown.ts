// Renders Markdown. Loaded with the card, not with the board.
import DOMPurify from 'dompurify'
import { Marked, type Tokens } from 'marked'
import type { Attachment } from 'svelte/attachments'

const escaped = (text: string) =>
  text.replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c]!)

// HTML is shown as text and an image as a link. Otherwise the HTML parser would
// report violations of the content security policy.
const marked = new Marked({
  gfm: true,
  breaks: true,
  async: false,
  renderer: {
    html: ({ text }: Tokens.HTML | Tokens.Tag) => escaped(text),
    // Replaced by a checkbox after sanitizing, which removes controls.
    checkbox: ({ checked }: Tokens.Checkbox) => `<span data-task="${checked}"></span>`,
    image: ({ href, text }: Tokens.Image) => `<a href="${escaped(href)}">${escaped(text || href)}</a>`,
  },
})

DOMPurify.addHook('afterSanitizeAttributes', (node) => {
  if (node instanceof HTMLAnchorElement) {
    node.rel = 'noopener noreferrer nofollow'
    if (node.origin !== location.origin) node.target = '_blank'
  }
})

/** Returns a pattern of mentions. The server notifies by the same rule (internal/board/mention.go). */
function mentionPattern(names: readonly string[]): RegExp | null {
  const firstNames = names.map((name) => name.split(' ', 1)[0]!)
  const single = firstNames.filter((first) => firstNames.indexOf(first) === firstNames.lastIndexOf(first))
  const longest = [...names, ...single].filter(Boolean).sort((a, b) => b.length - a.length)
  if (longest.length === 0) return null
  const any = longest.map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|')
  const part = '[\\p{L}\\p{N}\\p{Mn}_'
  return new RegExp(`(?<!${part}@/\\\\])@(?:${any})(?!${part}])`, 'giu')
}

/** Wraps matches of a pattern in elements, except inside elements that match `skip`. */
function replace(root: DocumentFragment, pattern: RegExp, skip: string, made: (found: string) => Element | null): void {
  const texts: Text[] = []
  const walk = document.createTreeWalker(root, NodeFilter.SHOW_TEXT)
  while (walk.nextNode()) texts.push(walk.currentNode as Text)
  for (const text of texts) {
    if (text.parentElement?.closest(skip)) continue
    // From last to first, because each match splits the text.
    for (const { 0: found, index } of [...text.data.matchAll(pattern)].reverse()) {
      const element = made(found)
      if (!element) continue
      const rest = text.splitText(index)
      rest.splitText(found.length)
      rest.replaceWith(element)
      element.append(found)
    }
  }
}

/** Highlights the people mentioned, except in code. */
function markMentions(root: DocumentFragment, names: readonly string[]): void {
  const pattern = mentionPattern(names)
  if (!pattern) return
  replace(root, pattern, 'code, pre', () => {
    const mark = document.createElement('span')
    mark.className = 'mention'
    return mark
  })
}

const cardNumber = /(?<![\p{L}\p{N}_&#/])#[1-9]\d{0,8}(?![\p{L}\p{N}_])/gu

/** Links each #12 to the card of that number, except in code and links. */
function linkCards(root: DocumentFragment, cardOf: NonNullable<Marks['card']>): void {
  replace(root, cardNumber, 'code, pre, a', (found) => {
    const card = cardOf(Number(found.slice(1)))
    if (!card) return null
    const link = document.createElement('a')
    link.href = card.href
    link.title = card.title
    link.className = 'card-link'
    return link
  })
}

/** Adds a checkbox to each item of a task list. It is enabled if ontask is given. */
function addCheckboxes(root: DocumentFragment, text: string, ontask: Marks['ontask']): void {
  for (const [at, mark] of root.querySelectorAll('[data-task]').entries()) {
    const item = mark.closest('li')
    const box = document.createElement('input')
    box.type = 'checkbox'
    box.checked = mark.getAttribute('data-task') === 'true'
    box.disabled = !ontask
    box.ariaLabel = ownText(item) || 'Task'
    box.onclick = (event) => event.stopPropagation()
    box.onchange = () => {
      const changed = toggleTask(text, at)
      if (changed === null) box.checked = !box.checked
      else ontask?.(changed)
    }
    item?.classList.add('task')
    mark.replaceWith(box)
  }
}

/** Returns the text of a list item without nested lists. */
function ownText(item: Element | null): string {
  const copy = item?.cloneNode(true) as Element | undefined
  copy?.querySelectorAll('ul, ol').forEach((list) => list.remove())
  return copy?.textContent.trim() ?? ''
}

const taskMark = /(?<=^[\s>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)+\[)[ xX](?=\][ \t])/gm

/** Returns whether each task of a text is checked, in order. */
function tasksOf(text: string): boolean[] {
  const found: boolean[] = []
  marked.walkTokens(marked.lexer(text), (token) => {
    if (token.type === 'checkbox') found.push((token as Tokens.Checkbox).checked)
  })
  return found
}

/** Returns the text with its nth task toggled, or null if there is no such task. */
export function toggleTask(text: string, nth: number): string | null {
  const wanted = tasksOf(text).map((checked, at) => (at === nth ? !checked : checked))
  // A match may be inside code, so use the one that changes the nth task.
  for (const { 0: mark, index } of [...text.matchAll(taskMark)].slice(nth)) {
    const changed = text.slice(0, index) + (mark === ' ' ? 'x' : ' ') + text.slice(index + 1)
    const now = tasksOf(changed)
    if (nth < wanted.length && now.length === wanted.length && now.every((checked, at) => checked === wanted[at])) {
      return changed
    }
  }
  return null
}

/** The people and cards that a text can refer to, and the handler of its tasks. */
export type Marks = {
  /** The names of people who can be mentioned. */
  names?: readonly string[]
  /** Returns the card with a number on the same board. */
  card?: (number: number) => { href: string; title: string } | null
  /** Called with the changed text when the reader toggles a task. Without it, tasks are read-only. */
  ontask?: (text: string) => void
}

/**
 * Renders Markdown inside an element. The output of the renderer is always
 * sanitized: it has no scripts, styles, forms or external images. Mentions are
 * highlighted, card numbers are links, and task lists have checkboxes.
 */
export function markdown(text: string, { names = [], card, ontask }: Marks = {}): Attachment<HTMLElement> {
  return (node) => {
    const html = marked.parse(text) as string
    const clean = DOMPurify.sanitize(html, {
      RETURN_DOM_FRAGMENT: true,
      USE_PROFILES: { html: true },
      FORBID_TAGS: ['style', 'form', 'input', 'button', 'textarea', 'select', 'video', 'audio', 'img'],
      FORBID_ATTR: ['style', 'class', 'id', 'name'],
    })
    markMentions(clean, names)
    if (card) linkCards(clean, card)
    addCheckboxes(clean, text, ontask)
    // Each paragraph, item and cell has the text direction of its own first letter.
    for (const block of clean.querySelectorAll('p, li, h1, h2, h3, h4, h5, h6, blockquote, td, th')) {
      block.setAttribute('dir', 'auto')
    }
    node.replaceChildren(clean)
  }
}
