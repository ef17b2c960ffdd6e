// Keyboard shortcuts of a board.
import type { BoardPage } from './boardPage.svelte'
import { session } from '../../state/session.svelte'

/** Runs the shortcut of a key, and reports whether the board has one for it. */
export function boardKey(event: KeyboardEvent, page: BoardPage): boolean {
  if ((event.ctrlKey || event.metaKey) && !event.shiftKey && event.key.toLowerCase() === 'z') {
    if (!page.store.history.canUndo) return false
    page.store.history.undo()
    return true
  }
  if (event.ctrlKey || event.metaKey) return false
  const arrows: Record<string, [number, number]> = {
    ArrowLeft: [-1, 0],
    ArrowRight: [1, 0],
    ArrowUp: [0, -1],
    ArrowDown: [0, 1],
  }
  const way = arrows[event.key]
  if (event.altKey) {
    if (!way || !event.shiftKey) return false
    page.shift(...way)
    return true
  }
  const letters: Record<string, [number, number]> = { h: [-1, 0], l: [1, 0], k: [0, -1], j: [0, 1] }
  const onCard = page.targets.length > 0
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key

  if (way) {
    if (event.shiftKey && way[1] !== 0) page.extend(way[1])
    else page.step(...way)
    return true
  }
  // On a card, L opens the labels. H, J and K have no other meaning.
  if (letters[key] && !(key === 'l' && onCard)) {
    page.step(...letters[key])
    return true
  }
  switch (key) {
    case 'c': {
      if (!page.canEdit) return false
      const at = page.focused && page.card(page.focused)
      const listId = at ? at.listId : page.view.listOrder[0]
      if (listId) page.composing = { listId, position: 'bottom' }
      return true
    }
    case 'f':
      page.filtering = true
      return true
    case '?':
      page.helping = true
      return true
    case 'Escape':
      if (page.selected.size > 0) page.selected.clear()
      else if (page.filtered || page.filtering) page.clearFilter()
      else return false
      return true
  }
  if (!onCard) return false
  const ids = page.targets
  const first = ids[0]!
  switch (key) {
    case ',':
      page.sendBeside(-1)
      return true
    case '.':
      page.sendBeside(1)
      return true
    case 's':
      page.pick('move', ids)
      return true
    case 'a':
      page.pick('people', ids)
      return true
    case 'l':
      page.pick('labels', ids)
      return true
    case 'd':
      page.pick('due', ids)
      return true
    case 'i':
      page.cards.toggleAssignee(ids, session.me.id)
      return true
    case ' ':
      page.cards.setDone(ids)
      return true
    case 'x':
      if (page.focused) page.toggleSelected(page.focused)
      return true
    case 'e':
      if (page.canEdit) page.editing = page.focused ?? first
      return true
    case 'n': {
      const at = page.card(page.focused ?? first)
      if (at && page.canEdit) page.composing = { listId: at.listId, position: { after: at.id } }
      return true
    }
    case 'Delete':
      page.cards.archive(ids)
      return true
  }
  return false
}
