/** Calls `then` when the browser is idle, within half a second. The returned function cancels it. */
export function whenIdle(then: () => void): () => void {
  if ('requestIdleCallback' in globalThis) {
    const handle = requestIdleCallback(then, { timeout: 500 })
    return () => cancelIdleCallback(handle)
  }
  const handle = setTimeout(then, 50)
  return () => clearTimeout(handle)
}
