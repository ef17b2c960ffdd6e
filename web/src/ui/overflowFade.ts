// Fades the edges of a horizontally scrolling strip where it overflows: [data-hides] in controls.css.

/** The width of the fade in pixels (3rem). */
export const fadeWidth = 48

/** An attachment that sets data-hides to the edges where the strip overflows. */
export function overflowFade(strip: HTMLElement): () => void {
  const update = () => {
    const before = strip.scrollLeft > 1
    const after = strip.scrollWidth - strip.clientWidth - strip.scrollLeft > 1
    strip.dataset.hides = before && after ? 'both' : before ? 'before' : after ? 'after' : ''
  }
  const resized = new ResizeObserver(update)
  const watch = () => {
    resized.disconnect()
    for (const box of [strip, ...strip.children]) resized.observe(box)
  }
  const changed = new MutationObserver(watch)
  watch()
  changed.observe(strip, { childList: true })
  strip.addEventListener('scroll', update, { passive: true })
  return () => {
    resized.disconnect()
    changed.disconnect()
    strip.removeEventListener('scroll', update)
  }
}
