const byStyle = CSS.supports('field-sizing', 'content')

/** Lets a textarea be as high as what is written in it, and never lower than its rows. */
export function grow(node: HTMLTextAreaElement): () => void {
  if (byStyle) {
    node.style.setProperty('field-sizing', 'content') // which makes rows void
    if (node.hasAttribute('rows')) {
      const style = getComputedStyle(node)
      const around = [style.paddingTop, style.paddingBottom, style.borderTopWidth, style.borderBottomWidth]
      const px = around.reduce((sum, length) => sum + (parseFloat(length) || 0), 0)
      node.style.minHeight = `max(${node.rows}lh + ${px}px, ${parseFloat(style.minHeight) || 0}px)`
    }
    return () => undefined
  }
  let width = 0
  const fit = () => {
    node.style.height = 'auto'
    node.style.height = `${node.scrollHeight + node.offsetHeight - node.clientHeight}px`
  }
  // Also when it is first seen: in a closed dialog it has no height.
  const seen = new ResizeObserver(() => {
    if (node.offsetWidth !== width) fit()
    width = node.offsetWidth
  })
  seen.observe(node)
  node.addEventListener('input', fit)
  return () => {
    seen.disconnect()
    node.removeEventListener('input', fit)
  }
}
