import type { Attachment } from 'svelte/attachments'

/** Sets CSS custom properties on an element from script, because the content security policy forbids style attributes. */
export function cssVars(values: Readonly<Record<string, string | number>>): Attachment<HTMLElement> {
  return (node) => {
    for (const [name, value] of Object.entries(values)) node.style.setProperty(`--${name}`, String(value))
  }
}
