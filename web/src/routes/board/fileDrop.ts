// Attaches files that are dropped on a card of the board.
import { isTemporary } from '../../lib/id'
import { attachFiles, filesOf, hasFiles } from '../../state/attachFiles.svelte'
import type { BoardPage } from './boardPage.svelte'

/** Handles a dragover event: marks the card under the pointer. */
export function dragFiles(event: DragEvent, page: BoardPage): void {
  if (!hasFiles(event.dataTransfer)) return
  // Without this, dropping a file beside a card would open it instead of the page.
  event.preventDefault()
  const tile = event.target instanceof Element ? event.target.closest<HTMLElement>('.lists [data-card]') : null
  const id = tile?.dataset.card
  page.fileTarget = id && page.store.view && page.canEdit && !isTemporary(id) ? id : null
  event.dataTransfer!.dropEffect = page.fileTarget ? 'copy' : 'none'
}

/** Handles a drop event: attaches the files to the marked card. */
export function dropFiles(event: DragEvent, page: BoardPage): void {
  if (!hasFiles(event.dataTransfer)) return
  event.preventDefault()
  const card = page.fileTarget && page.card(page.fileTarget)
  page.fileTarget = null
  if (card) void attachFiles({ cardId: card.id, cardTitle: card.title }, filesOf(event.dataTransfer))
}
