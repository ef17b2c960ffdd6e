// Scrolls horizontally to the part of a strip that has the keyboard focus, such as a list of a board. Browsers
// do not scroll if 32 pixels of the focused control are in view.

/** An attachment that keeps the child of a strip in view that contains the keyboard focus. */
export function revealFocus(strip: HTMLElement): () => void {
  const onFocusin = ({ target }: FocusEvent) => {
    const part = [...strip.children].find((child) => child.contains(target as Node))
    if (part && (target as Element).matches(':focus-visible')) reveal(strip, part)
  }
  strip.addEventListener('focusin', onFocusin)
  return () => strip.removeEventListener('focusin', onFocusin)
}

/** Scrolls a strip until a part of it is in view, with the scroll padding of the strip beside it. */
export function reveal(strip: HTMLElement, part: Element): void {
  const [at, area] = [part.getBoundingClientRect(), strip.getBoundingClientRect()]
  const padding = parseFloat(getComputedStyle(strip).scrollPaddingLeft) || 0
  strip.scrollLeft += Math.min(0, at.left - area.left - padding) || Math.max(0, at.right - area.right + padding)
}
