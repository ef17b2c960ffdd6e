import type { Attachment } from 'svelte/attachments'

/**
 * Returns an attachment that calls `callback` once, when the element comes within `pixels`
 * of the visible area of its parent. The parent must be the scroll container.
 */
export function whenNear(pixels: number, callback: () => void): Attachment<HTMLElement> {
  return (node) => {
    const observer = new IntersectionObserver(
      (entries) => {
        if (!entries.some((e) => e.isIntersecting)) return
        observer.disconnect()
        callback()
      },
      { root: node.parentElement, rootMargin: `${pixels}px` },
    )
    observer.observe(node)
    return () => observer.disconnect()
  }
}
