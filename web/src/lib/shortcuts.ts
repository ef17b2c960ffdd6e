// Decides which keys are shortcuts of the page, and which belong to the focused
// control.

const fields = 'input, textarea, select, [contenteditable]:not([contenteditable="false"])'
const controls = 'button, summary, a[href], [role="button"], [role="option"], [role^="menuitem"], [role="tab"]'
// Letters are still shortcuts when the focus is on a card tile, which they act on, or on the link to the
// current page, which has the focus after navigation.
const exceptions = 'a[data-card], [data-card] a, a[data-item], a[aria-current="page"]'

/**
 * Reports whether a key is a shortcut of the page. Keys pressed in a field, a popover
 * or a dialog are not shortcuts, except in the dialog `within`. A single character,
 * Delete or Backspace is not a shortcut if a control has the focus.
 */
export function isShortcut(event: KeyboardEvent, within: Element | null = null): boolean {
  const at = event.target
  if (event.defaultPrevented) return false
  if (!(at instanceof Element)) return true
  if (at.closest(fields)) return false
  const box = at.closest('[popover], dialog')
  if (box && box !== within) return false
  const single = event.key.length === 1 || event.key === 'Delete' || event.key === 'Backspace'
  if (!single || event.ctrlKey || event.metaKey) return true
  return !at.closest(controls) || at.matches(exceptions)
}
