// A strip that is wider than its place fades where it goes on: [data-hides] in controls.css.

/** Over how much of an edge it fades, in pixels; 3rem. */
export const fade = 48

/** An attachment that says at which of its ends a strip hides something. */
export function fades(strip: HTMLElement): () => void {
  const look = () => {
    const before = strip.scrollLeft > 1
    const after = strip.scrollWidth - strip.clientWidth - strip.scrollLeft > 1
    strip.dataset.hides = before && after ? 'both' : before ? 'before' : after ? 'after' : ''
  }
  const resized = new ResizeObserver(look)
  const watch = () => {
    resized.disconnect()
    for (const box of [strip, ...strip.children]) resized.observe(box)
  }
  const changed = new MutationObserver(watch)
  watch()
  changed.observe(strip, { childList: true })
  strip.addEventListener('scroll', look, { passive: true })
  return () => {
    resized.disconnect()
    changed.disconnect()
    strip.removeEventListener('scroll', look)
  }
}
