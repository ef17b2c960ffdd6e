import type { Attachment } from 'svelte/attachments'

/** Sets custom properties of an element; the policy lets no style stand in the markup. */
export function vars(values: Readonly<Record<string, string | number>>): Attachment<HTMLElement> {
  return (node) => {
    for (const [name, value] of Object.entries(values)) node.style.setProperty(`--${name}`, String(value))
  }
}
