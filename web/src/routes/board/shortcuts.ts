// The keyboard shortcuts of a board.
import type { BoardPage } from './boardPage.svelte'
import { isCommand, keyOf } from '../../lib/keys'
import { session } from '../../state/session.svelte'

/** Runs the shortcut of a key. Reports whether the key has one. */
export function handleShortcut(event: KeyboardEvent, page: BoardPage): boolean {
  if (isCommand(event, 'z')) {
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
  const key = keyOf(event)
  const direction = arrows[key]
  if (event.altKey) {
    if (!direction || !event.shiftKey) return false
    page.moveTargets(...direction)
    return true
  }
  const letters: Record<string, [number, number]> = { h: [-1, 0], l: [1, 0], k: [0, -1], j: [0, 1] }
  const onCard = page.targets.length > 0

  if (direction) {
    if (event.shiftKey && direction[1] !== 0) page.extendSelection(direction[1])
    else page.moveFocus(...direction)
    return true
  }
  // L moves the focus only if there is no target card, because otherwise it opens the labels.
  if (letters[key] && !(key === 'l' && onCard)) {
    page.moveFocus(...letters[key])
    return true
  }
  switch (key) {
    case 'c': {
      if (!page.canEdit) return false
      const card = page.focused && page.card(page.focused)
      const listId = card ? card.listId : page.view.listOrder[0]
      if (listId) page.composing = { listId, position: 'bottom' }
      return true
    }
    case 'f':
      page.filterOpen++
      return true
    case '?':
      page.helpOpen = true
      return true
    case 'Escape':
      if (page.selected.size > 0) page.selected.clear()
      else if (page.filtered || page.filterOpen) page.clearFilter()
      else return false
      return true
  }
  if (!onCard) return false
  const ids = page.targets
  const first = ids[0]!
  switch (key) {
    case ',':
      page.moveToAdjacentList(-1)
      return true
    case '.':
      page.moveToAdjacentList(1)
      return true
    case 's':
      page.openPicker('move', ids)
      return true
    case 'a':
      page.openPicker('people', ids)
      return true
    case 'l':
      page.openPicker('labels', ids)
      return true
    case 'd':
      page.openPicker('due', ids)
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
      const card = page.card(page.focused ?? first)
      if (card && page.canEdit) page.composing = { listId: card.listId, position: { after: card.id } }
      return true
    }
    case 'Delete':
      page.cards.archive(ids)
      return true
  }
  return false
}
