// Dragging of cards in the calendar. The drop targets are days, the tray, and the buttons
// that change the month or week while a card is held over them.
import { daysBetween } from '../../lib/days'
import { startDrag } from '../../lib/drag'
import { addDays, spanOf } from '../../state/due'
import type { CalendarCard } from './calendarCard'
import type { CalendarPage, Target } from './calendarPage.svelte'

type DropTarget = { day: string } | { tray: true } | { step: 1 | -1 }

const stepDelay = 650 // ms

/** Starts dragging a card. `day` is the day under the pointer, if the card has dates. */
export function startCardDrag(event: PointerEvent, page: CalendarPage, card: CalendarCard, day?: string): void {
  if ((event.target as Element).closest('[data-still]')) return
  const grabbedDay = day ?? spanOf(card, page.zone)?.first
  dragCard(event, page, card, {
    targetOf(day) {
      const span = spanOf(card, page.zone)
      if (!span || !grabbedDay) return { first: day, last: day }
      const by = daysBetween(grabbedDay, day)
      return { first: addDays(span.first, by), last: addDays(span.last, by) }
    },
    drop(day) {
      if (grabbedDay) page.shiftDates(card, daysBetween(grabbedDay, day))
      else page.moveTo(card, day)
    },
    tray: true,
  })
}

/** Starts dragging the start or the end of a card's bar. */
export function startEndDrag(event: PointerEvent, page: CalendarPage, card: CalendarCard, end: 'start' | 'due'): void {
  event.stopPropagation()
  const span = spanOf(card, page.zone)
  if (!span) return
  // The start date must not be after the due date.
  const clamp = (day: string) =>
    end === 'due' ? (day < span.first ? span.first : day) : day > span.last ? span.last : day
  dragCard(event, page, card, {
    targetOf: (day) =>
      end === 'due' ? { first: span.first, last: clamp(day) } : { first: clamp(day), last: span.last },
    drop: (day) => page.moveEnd(card, end, clamp(day)),
    tray: false,
  })
}

type Drag = { targetOf: (day: string) => Target; drop: (day: string) => void; tray: boolean }

function dragCard(event: PointerEvent, page: CalendarPage, card: CalendarCard, drag: Drag): void {
  if (!page.canEdit(card)) return
  const element = event.currentTarget as HTMLElement
  const touch = event.pointerType !== 'mouse'
  let stepTimer: ReturnType<typeof setTimeout> | undefined
  startDrag<DropTarget>(event, () => ({
    element,
    targetAt: (x, y) => dropTargetAt(x, y, drag.tray, touch),
    scrollers: (x, y) => ({ y: scrollerAt(x, y) }),
    onstart: () => (page.dragged = card.id),
    ontarget(dropTarget) {
      clearTimeout(stepTimer)
      page.target =
        !dropTarget || 'step' in dropTarget ? null : 'tray' in dropTarget ? 'tray' : drag.targetOf(dropTarget.day)
      if (dropTarget && 'step' in dropTarget) stepTimer = repeatStep(dropTarget.step)
    },
    onend(dropTarget) {
      clearTimeout(stepTimer)
      page.dragged = null
      page.target = null
      if (!dropTarget || 'step' in dropTarget) return
      if ('tray' in dropTarget) page.clear(card)
      else drag.drop(dropTarget.day)
    },
  }))

  function repeatStep(by: 1 | -1): ReturnType<typeof setTimeout> {
    return setTimeout(() => {
      page.step(by)
      stepTimer = repeatStep(by)
    }, stepDelay)
  }
}

const inside = (node: Element, x: number, y: number) => {
  const box = node.getBoundingClientRect()
  return x >= box.left && x < box.right && y >= box.top && y < box.bottom
}

/**
 * Returns the drop target at a point. Touch drags cannot change the month or week, because
 * they end when the touched element is removed.
 */
function dropTargetAt(x: number, y: number, tray: boolean, touch: boolean): DropTarget | null {
  for (const button of touch ? [] : document.querySelectorAll<HTMLElement>('[data-step]')) {
    if (inside(button, x, y)) return { step: button.dataset.step === '1' ? 1 : -1 }
  }
  const trayElement = document.querySelector('[data-tray]')
  if (trayElement && inside(trayElement, x, y)) return tray ? { tray: true } : null
  for (const cell of document.querySelectorAll<HTMLElement>('[data-day]')) {
    const container = cell.closest('[data-days]')
    if (inside(cell, x, y) && (!container || inside(container, x, y))) return { day: cell.dataset.day! }
  }
  return null
}

function scrollerAt(x: number, y: number): Element | null {
  return [...document.querySelectorAll('[data-scroll]')].find((box) => inside(box, x, y)) ?? null
}
