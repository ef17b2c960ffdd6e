// Dragging of cards and lists on a board.
import { startDrag } from '../../lib/drag'
import type { BoardPage, Slot } from './boardPage.svelte'

const controls = 'button, input, textarea, select, [contenteditable]'

export function startCardDrag(event: PointerEvent, page: BoardPage, id: string): void {
  const tile = event.currentTarget as HTMLElement
  if (!page.canEdit || (event.target as Element).closest(controls)) return
  startDrag<Slot>(event, () => {
    const ids = page.selected.has(id) ? page.inOrder([...page.selected]) : [id]
    const lists = tile.closest('.lists')
    return {
      element: tile,
      count: ids.length,
      targetAt: (x, y) => cardSlotAt(x, y),
      scrollers: (x, y) => ({ x: lists, y: columnAt(x, y)?.querySelector('.cards') }),
      onstart() {
        page.draggedHeight = tile.offsetHeight
        page.dragged = new Set(ids)
      },
      ontarget: (slot) => (page.slot = slot),
      onend(slot) {
        page.dragged = new Set()
        page.slot = null
        if (slot) {
          page.cards.move(ids, slot.listId, slot.before ? { before: slot.before } : 'bottom')
          void page.focus(id)
        }
      },
    }
  })
}

export function startListDrag(event: PointerEvent, page: BoardPage, id: string): void {
  const header = event.currentTarget as HTMLElement
  if (!page.canEdit || (event.target as Element).closest(controls)) return
  startDrag<{ before: string | null }>(event, () => {
    const column = header.closest<HTMLElement>('[data-list]')!
    return {
      element: column,
      targetAt: (x) => ({ before: listSlotAt(x, id) }),
      scrollers: () => ({ x: column.closest('.lists') }),
      onstart: () => (page.draggedList = id),
      ontarget: (slot) => (page.listSlot = slot),
      onend(slot) {
        page.draggedList = null
        page.listSlot = null
        if (slot) page.lists.move(id, slot.before ? { before: slot.before } : 'bottom')
      },
    }
  })
}

function columns(): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>('.lists > [data-list]')]
}

function columnAt(x: number, y: number): HTMLElement | null {
  const all = columns()
  const inside = all.find((c) => {
    const box = c.getBoundingClientRect()
    return x >= box.left - 6 && x <= box.right + 6
  })
  const first = all[0]
  if (inside || !first) return inside ?? null
  const area = first.parentElement!.getBoundingClientRect()
  if (y < area.top) return null
  return x < first.getBoundingClientRect().left ? first : (all.at(-1) ?? null)
}

function cardSlotAt(x: number, y: number): Slot | null {
  const column = columnAt(x, y)
  if (!column) return null
  const listId = column.dataset.list!
  for (const tile of column.querySelectorAll<HTMLElement>('[data-card]')) {
    if (tile.classList.contains('away')) continue
    const box = tile.getBoundingClientRect()
    if (y < box.top + box.height / 2) return { listId, before: tile.dataset.card! }
  }
  // Below the last mounted card, the slot is before the first card that is not mounted yet.
  const next = column.querySelector<HTMLElement>('[data-next]')?.dataset.next
  return { listId, before: next || null }
}

function listSlotAt(x: number, moved: string): string | null {
  for (const column of columns()) {
    if (column.dataset.list === moved) continue
    const box = column.getBoundingClientRect()
    if (x < box.left + box.width / 2) return column.dataset.list!
  }
  return null
}
