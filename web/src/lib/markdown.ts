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

/**
 * Shows Markdown inside an element. What a person wrote becomes nodes without
 * scripts, styles, forms or pictures from elsewhere; no string becomes markup
 * that was not sanitized, whatever the renderer made of it.
 */
export function markdown(text: string): Attachment<HTMLElement> {
  return (node) => {
    const html = marked.parse(text) as string
    const clean = DOMPurify.sanitize(html, {
      RETURN_DOM_FRAGMENT: true,
      USE_PROFILES: { html: true },
      FORBID_TAGS: ['style', 'form', 'input', 'button', 'textarea', 'select', 'video', 'audio', 'img'],
      FORBID_ATTR: ['style', 'class', 'id', 'name'],
    })
    node.replaceChildren(clean)
  }
}
