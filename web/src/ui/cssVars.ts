import type { Attachment } from 'svelte/attachments'

/** Sets custom properties of an element. The content security policy forbids style attributes. */
export function cssVars(values: Readonly<Record<string, string | number>>): Attachment<HTMLElement> {
  return (node) => {
    for (const [name, value] of Object.entries(values)) node.style.setProperty(`--${name}`, String(value))
  }
}
