// Drop positions of cards and lists that are dragged on a board.
import { press } from '../../lib/drag'
import type { BoardPage, Slot } from './boardPage.svelte'

const controls = 'button, input, textarea, select, [contenteditable]'

export function pressCard(event: PointerEvent, page: BoardPage, id: string): void {
  const tile = event.currentTarget as HTMLElement
  if (!page.canEdit || (event.target as Element).closest(controls)) return
  press<Slot>(event, () => {
    const ids = page.selected.has(id) ? page.inOrder([...page.selected]) : [id]
    const boardBox = tile.closest('.lists')
    return {
      lifted: tile,
      count: ids.length,
      placeAt: (x, y) => cardPlace(x, y),
      scrollers: (x, y) => ({ x: boardBox, y: columnAt(x, y)?.querySelector('.cards') }),
      onstart() {
        page.draggedHeight = tile.offsetHeight
        page.dragged = new Set(ids)
      },
      onplace: (place) => (page.slot = place),
      onend(place) {
        page.dragged = new Set()
        page.slot = null
        if (place) {
          page.cards.move(ids, place.listId, place.before ? { before: place.before } : 'bottom')
          void page.focus(id)
        }
      },
    }
  })
}

export function pressList(event: PointerEvent, page: BoardPage, id: string): void {
  const head = event.currentTarget as HTMLElement
  if (!page.canEdit || (event.target as Element).closest(controls)) return
  press<{ before: string | null }>(event, () => {
    const column = head.closest<HTMLElement>('[data-list]')!
    return {
      lifted: column,
      placeAt: (x) => ({ before: listPlace(x, id) }),
      scrollers: () => ({ x: column.closest('.lists') }),
      onstart: () => (page.draggedList = id),
      onplace: (place) => (page.listSlot = place),
      onend(place) {
        page.draggedList = null
        page.listSlot = null
        if (place) page.lists.move(id, place.before ? { before: place.before } : 'bottom')
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

function cardPlace(x: number, y: number): Slot | null {
  const column = columnAt(x, y)
  if (!column) return null
  const listId = column.dataset.list!
  for (const tile of column.querySelectorAll<HTMLElement>('[data-card]')) {
    if (tile.classList.contains('away')) continue
    const box = tile.getBoundingClientRect()
    if (y < box.top + box.height / 2) return { listId, before: tile.dataset.card! }
  }
  // Below the last mounted card comes the first one that is not mounted yet.
  const next = column.querySelector<HTMLElement>('[data-next]')?.dataset.next
  return { listId, before: next || null }
}

function listPlace(x: number, moved: string): string | null {
  for (const column of columns()) {
    if (column.dataset.list === moved) continue
    const box = column.getBoundingClientRect()
    if (x < box.left + box.width / 2) return column.dataset.list!
  }
  return null
}
