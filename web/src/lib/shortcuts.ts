// Decides which keys are shortcuts of the page, and which belong to the focused
// control.

const fields = 'input, textarea, select, [contenteditable]:not([contenteditable="false"])'
const controls = 'button, summary, a[href], [role="button"], [role="option"], [role^="menuitem"], [role="tab"]'
// Card tiles, on which shortcuts act, and the link to the current page, which keeps the focus after a click.
const tiles = 'a[data-card], [data-card] a, a[data-item], a[aria-current="page"]'

/**
 * Reports whether a key is a shortcut of the page. Keys pressed in a field, a
 * popover or a dialog are not, except in the dialog `within`. A single letter,
 * Space or Delete is a shortcut only while no control has the focus.
 */
export function isShortcut(event: KeyboardEvent, within: Element | null = null): boolean {
  const at = event.target
  if (event.defaultPrevented || event.isComposing) return false
  if (!(at instanceof Element)) return true
  if (at.closest(fields)) return false
  const box = at.closest('[popover], dialog')
  if (box && box !== within) return false
  const single = event.key.length === 1 || event.key === 'Delete' || event.key === 'Backspace'
  if (!single || event.ctrlKey || event.metaKey) return true
  return !at.closest(controls) || at.matches(tiles)
}
