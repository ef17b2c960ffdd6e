// Fades the edges of a horizontally scrolling strip where it overflows. The styles are in controls.css ([data-hides]).
import { revealFocus } from './revealFocus'

/**
 * An attachment that sets data-hides to "before", "after" or "both", depending on where
 * the strip overflows, or to "" if it does not overflow. It also keeps the focused part of the strip in view.
 */
export function overflowFade(strip: HTMLElement): () => void {
  const update = () => {
    const before = strip.scrollLeft > 1
    const after = strip.scrollWidth - strip.clientWidth - strip.scrollLeft > 1
    strip.dataset.hides = before && after ? 'both' : before ? 'before' : after ? 'after' : ''
  }
  const resizeObserver = new ResizeObserver(update)
  const observeSizes = () => {
    resizeObserver.disconnect()
    for (const box of [strip, ...strip.children]) resizeObserver.observe(box)
  }
  const mutationObserver = new MutationObserver(observeSizes)
  observeSizes()
  mutationObserver.observe(strip, { childList: true })
  strip.addEventListener('scroll', update, { passive: true })
  const endReveal = revealFocus(strip)
  return () => {
    resizeObserver.disconnect()
    mutationObserver.disconnect()
    strip.removeEventListener('scroll', update)
    endReveal()
  }
}
