const byStyle = CSS.supports('field-sizing', 'content')

/** An attachment that grows a textarea with its content, and never below its rows. */
export function autoGrow(node: HTMLTextAreaElement): () => void {
  if (byStyle) {
    node.style.setProperty('field-sizing', 'content') // overrides the rows attribute
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
  // Also when it becomes visible: in a closed dialog it has no height.
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
