/** Tells the toasts how far a bar at the bottom of the window reaches up, so that they appear above it. */
export function dock(bar: HTMLElement): () => void {
  const root = document.documentElement.style
  const measure = () => root.setProperty('--dock', `${innerHeight - bar.getBoundingClientRect().top}px`)
  const resized = new ResizeObserver(measure)
  resized.observe(bar)
  addEventListener('resize', measure)
  return () => {
    resized.disconnect()
    removeEventListener('resize', measure)
    root.removeProperty('--dock')
  }
}
