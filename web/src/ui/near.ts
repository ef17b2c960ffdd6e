import type { Attachment } from 'svelte/attachments'

/** Calls once when the element is seen, or would be after scrolling that many pixels. */
export function near(pixels: number, then: () => void): Attachment<HTMLElement> {
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
