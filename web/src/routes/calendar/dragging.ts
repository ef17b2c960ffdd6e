// Drop targets of a card dragged over the calendar: a day, the tray, or a button
// that changes the month or week while the card is held over it.
import { daysBetween } from '../../lib/days'
import { press } from '../../lib/drag'
import { addDays, spanOf } from '../../state/due'
import type { CalendarCard } from './calendarCard'
import type { CalendarPage, Target } from './calendarPage.svelte'

type Place = { day: string } | { tray: true } | { step: 1 | -1 }

const stepDelay = 650 // ms

/** Starts dragging a card. `at` is the day under the pointer, if the card has dates. */
export function pressCard(event: PointerEvent, page: CalendarPage, card: CalendarCard, at?: string): void {
  if ((event.target as Element).closest('[data-still]')) return
  const grabbedDay = at ?? spanOf(card, page.zone)?.first
  follow(event, page, card, {
    targetOf(day) {
      const span = spanOf(card, page.zone)
      if (!span || !grabbedDay) return { first: day, last: day }
      const by = daysBetween(grabbedDay, day)
      return { first: addDays(span.first, by), last: addDays(span.last, by) }
    },
    drop(day) {
      if (grabbedDay) page.shift(card, daysBetween(grabbedDay, day))
      else page.moveTo(card, day)
    },
    tray: true,
  })
}

/** Starts dragging one end of a card's bar. */
export function pressEnd(event: PointerEvent, page: CalendarPage, card: CalendarCard, end: 'start' | 'due'): void {
  event.stopPropagation()
  const span = spanOf(card, page.zone)
  if (!span) return
  // The start stays before the due date.
  const held = (day: string) =>
    end === 'due' ? (day < span.first ? span.first : day) : day > span.last ? span.last : day
  follow(event, page, card, {
    targetOf: (day) => (end === 'due' ? { first: span.first, last: held(day) } : { first: held(day), last: span.last }),
    drop: (day) => page.moveEnd(card, end, held(day)),
    tray: false,
  })
}

type Drag = { targetOf: (day: string) => Target; drop: (day: string) => void; tray: boolean }

function follow(event: PointerEvent, page: CalendarPage, card: CalendarCard, drag: Drag): void {
  if (!page.canEdit(card)) return
  const lifted = event.currentTarget as HTMLElement
  const touch = event.pointerType !== 'mouse'
  let stepTimer: ReturnType<typeof setTimeout> | undefined
  press<Place>(event, () => ({
    lifted,
    placeAt: (x, y) => placeAt(x, y, drag.tray, touch),
    scrollers: (x, y) => ({ y: scrollerAt(x, y) }),
    onstart: () => (page.dragged = card.id),
    onplace(place) {
      clearTimeout(stepTimer)
      page.target = !place || 'step' in place ? null : 'tray' in place ? 'tray' : drag.targetOf(place.day)
      if (place && 'step' in place) stepTimer = turn(page, place.step)
    },
    onend(place) {
      clearTimeout(stepTimer)
      page.dragged = null
      page.target = null
      if (!place || 'step' in place) return
      if ('tray' in place) page.clear(card)
      else drag.drop(place.day)
    },
  }))

  function turn(on: CalendarPage, by: 1 | -1): ReturnType<typeof setTimeout> {
    return setTimeout(() => {
      on.step(by)
      stepTimer = turn(on, by)
    }, stepDelay)
  }
}

const inside = (node: Element, x: number, y: number) => {
  const box = node.getBoundingClientRect()
  return x >= box.left && x < box.right && y >= box.top && y < box.bottom
}

/** Returns the drop target at a point. Touch drags cannot change the month: they need their element to stay. */
function placeAt(x: number, y: number, tray: boolean, touch: boolean): Place | null {
  for (const button of touch ? [] : document.querySelectorAll<HTMLElement>('[data-step]')) {
    if (inside(button, x, y)) return { step: button.dataset.step === '1' ? 1 : -1 }
  }
  const over = document.querySelector('[data-tray]')
  if (over && inside(over, x, y)) return tray ? { tray: true } : null
  for (const cell of document.querySelectorAll<HTMLElement>('[data-day]')) {
    const within = cell.closest('[data-days]')
    if (inside(cell, x, y) && (!within || inside(within, x, y))) return { day: cell.dataset.day! }
  }
  return null
}

function scrollerAt(x: number, y: number): Element | null {
  return [...document.querySelectorAll('[data-scroll]')].find((box) => inside(box, x, y)) ?? null
}
