import type { Attachment } from 'svelte/attachments'

/** Calls `then` once when the element is within this many pixels of the visible area. */
export function whenNear(pixels: number, then: () => void): Attachment<HTMLElement> {
  return (node) => {
    const watcher = new IntersectionObserver(
      (entries) => {
        if (!entries.some((e) => e.isIntersecting)) return
        watcher.disconnect()
        then()
      },
      { root: node.parentElement, rootMargin: `${pixels}px` },
    )
    watcher.observe(node)
    return () => watcher.disconnect()
  }
}
