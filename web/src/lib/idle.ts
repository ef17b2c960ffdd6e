/** Calls when the browser has nothing better to do, within half a second; the answer calls it off. */
export function whenIdle(then: () => void): () => void {
  if ('requestIdleCallback' in globalThis) {
    const asked = requestIdleCallback(then, { timeout: 500 })
    return () => cancelIdleCallback(asked)
  }
  const asked = setTimeout(then, 50)
  return () => clearTimeout(asked)
}
