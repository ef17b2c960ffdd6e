/** An attachment that sets --dock to the height of a bottom bar, so that toasts appear above it. */
export function toastOffset(bar: HTMLElement): () => void {
  const root = document.documentElement.style
  const measure = () => root.setProperty('--dock', `${innerHeight - bar.getBoundingClientRect().top}px`)
  const observer = new ResizeObserver(measure)
  observer.observe(bar)
  addEventListener('resize', measure)
  return () => {
    observer.disconnect()
    removeEventListener('resize', measure)
    root.removeProperty('--dock')
  }
}
