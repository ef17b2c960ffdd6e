// Loaded with the card, not with the board.
import DOMPurify from 'dompurify'
import { marked } from 'marked'
import type { Attachment } from 'svelte/attachments'

DOMPurify.addHook('afterSanitizeAttributes', (node) => {
  if (node instanceof HTMLAnchorElement) {
    node.rel = 'noopener noreferrer nofollow'
    if (node.origin !== location.origin) node.target = '_blank'
  }
})

/**
 * Shows Markdown inside an element. What a person wrote becomes nodes without
 * scripts, styles, forms or pictures from elsewhere; no string becomes markup.
 */
export function markdown(text: string): Attachment<HTMLElement> {
  return (node) => {
    const html = marked.parse(text, { gfm: true, breaks: true, async: false })
    const clean = DOMPurify.sanitize(html, {
      RETURN_DOM_FRAGMENT: true,
      USE_PROFILES: { html: true },
      FORBID_TAGS: ['style', 'form', 'input', 'button', 'textarea', 'select', 'video', 'audio', 'img'],
      FORBID_ATTR: ['style', 'class', 'id', 'name'],
    })
    node.replaceChildren(clean)
  }
}
