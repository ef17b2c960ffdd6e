// Loaded with the card, not with the board.
import DOMPurify from 'dompurify'
import { Marked, type Tokens } from 'marked'
import type { Attachment } from 'svelte/attachments'

const escaped = (text: string) =>
  text.replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c]!)

// HTML is shown as it was written, and a picture as a link to it: neither gets
// as far as a parser that would report it as a breach of the policy.
const marked = new Marked({
  gfm: true,
  breaks: true,
  async: false,
  renderer: {
    html: ({ text }: Tokens.HTML | Tokens.Tag) => escaped(text),
    image: ({ href, text }: Tokens.Image) => `<a href="${escaped(href)}">${escaped(text || href)}</a>`,
  },
})

DOMPurify.addHook('afterSanitizeAttributes', (node) => {
  if (node instanceof HTMLAnchorElement) {
    node.rel = 'noopener noreferrer nofollow'
    if (node.origin !== location.origin) node.target = '_blank'
  }
})

/** The server tells whom it tells by the same rule (internal/board/mention.go). */
function mentions(names: readonly string[]): RegExp | null {
  const firsts = names.map((name) => name.split(' ', 1)[0]!)
  const single = firsts.filter((first) => firsts.indexOf(first) === firsts.lastIndexOf(first))
  const longest = [...names, ...single].filter(Boolean).sort((a, b) => b.length - a.length)
  if (longest.length === 0) return null
  const any = longest.map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|')
  const part = '[\\p{L}\\p{N}\\p{Mn}_'
  return new RegExp(`(?<!${part}@/\\\\])@(?:${any})(?!${part}])`, 'giu')
}

/** Marks who is mentioned in a text, but for what is code. */
function markMentions(root: DocumentFragment, names: readonly string[]): void {
  const mentioned = mentions(names)
  if (!mentioned) return
  const texts: Text[] = []
  const walk = document.createTreeWalker(root, NodeFilter.SHOW_TEXT)
  while (walk.nextNode()) texts.push(walk.currentNode as Text)
  for (const text of texts) {
    if (text.parentElement?.closest('code, pre')) continue
    // From the last to the first, since the text is cut there.
    for (const { 0: name, index } of [...text.data.matchAll(mentioned)].reverse()) {
      const mark = document.createElement('span')
      mark.className = 'mention'
      const rest = text.splitText(index)
      rest.splitText(name.length)
      rest.replaceWith(mark)
      mark.append(name)
    }
  }
}

/**
 * Shows Markdown inside an element. What a person wrote becomes nodes without
 * scripts, styles, forms or pictures from elsewhere; no string becomes markup
 * that was not sanitized, whatever the renderer made of it. Who is mentioned
 * among the people named stands out.
 */
export function markdown(text: string, names: readonly string[] = []): Attachment<HTMLElement> {
  return (node) => {
    const html = marked.parse(text) as string
    const clean = DOMPurify.sanitize(html, {
      RETURN_DOM_FRAGMENT: true,
      USE_PROFILES: { html: true },
      FORBID_TAGS: ['style', 'form', 'input', 'button', 'textarea', 'select', 'video', 'audio', 'img'],
      FORBID_ATTR: ['style', 'class', 'id', 'name'],
    })
    markMentions(clean, names)
    node.replaceChildren(clean)
  }
}
