const fieldSizingSupported = CSS.supports('field-sizing', 'content')

/** An attachment that makes a textarea grow with its content. The `rows` attribute is the minimum height. */
export function autoGrow(node: HTMLTextAreaElement): () => void {
  if (fieldSizingSupported) {
    node.style.setProperty('field-sizing', 'content') // overrides the rows attribute
    if (node.hasAttribute('rows')) {
      const style = getComputedStyle(node)
      const edges = [style.paddingTop, style.paddingBottom, style.borderTopWidth, style.borderBottomWidth]
      const px = edges.reduce((sum, length) => sum + (parseFloat(length) || 0), 0)
      node.style.minHeight = `max(${node.rows}lh + ${px}px, ${parseFloat(style.minHeight) || 0}px)`
    }
    return () => undefined
  }
  let width = 0
  const resize = () => {
    node.style.height = 'auto'
    node.style.height = `${node.scrollHeight + node.offsetHeight - node.clientHeight}px`
  }
  // Resize also when the width changes, such as when a dialog opens: until then, the textarea has no size.
  const observer = new ResizeObserver(() => {
    if (node.offsetWidth !== width) resize()
    width = node.offsetWidth
  })
  observer.observe(node)
  node.addEventListener('input', resize)
  return () => {
    observer.disconnect()
    node.removeEventListener('input', resize)
  }
}
