// State of the calendar page besides the cards: view, days, filters, focus and
// drag, and the actions that keys, menus and the mouse share.
import { getContext, setContext, tick } from 'svelte'
import type { HomeBoard } from '../../api/contract'
import { addMonths, longDay, monthText, rangeText, shortDay, weekNumber, weekOf, weeksOfMonth } from '../../lib/days'
import { address, go } from '../../lib/router.svelte'
import { addDays, inputOf, withDates, resolve, shifted, spanOf, wallClock, type DateChange } from '../../state/due'
import { session } from '../../state/session.svelte'
import { toast } from '../../state/toasts.svelte'
import type { DueInput } from '../../api/types'
import { colorOf } from '../../ui/boardColor'
import { datedCard, inOrder, type DatedCard, type CalendarCard } from './calendarCard'
import { readParams, writeParams, type CalendarParams, type View } from './params'
import { CalendarStore } from './calendarStore.svelte'

/** The keyboard position: a day, or an item on it. */
export type Cursor = { day: string; item: string | null }
export type Anchor = Element | { x: number; y: number }
/** The days that a dragged card would get if dropped now, or the tray. */
export type Target = { first: string; last: string } | 'tray'

const context = Symbol('calendar page')
const trayKey = 'cardwall-calendar-tray'
const trayOpenWidth = 1400 // window width in pixels from which the tray is open by default
const trayMinWidth = 1100

export class CalendarPage {
  now = $state.raw(new Date())
  cursor = $state.raw<Cursor | null>(null)
  dragged = $state<string | null>(null)
  target = $state.raw<Target | null>(null)
  menu = $state.raw<{ card: CalendarCard; anchor: Anchor } | null>(null)
  picker = $state.raw<{ card: CalendarCard; anchor: Anchor } | null>(null)
  tray = $state(false)

  readonly store: CalendarStore
  readonly zone = session.me.timeZone

  constructor(readonly workspaceId: string) {
    this.store = new CalendarStore(workspaceId, this.zone)
    const stored = localStorage.getItem(trayKey)
    this.tray = stored === null ? innerWidth >= trayOpenWidth : stored === 'yes' && innerWidth >= trayMinWidth
  }

  // -- state in the address --

  readonly params: CalendarParams = $derived.by(() => readParams(address.query))
  readonly today: string = $derived.by(() => wallClock(this.now, this.zone).date)
  readonly day: string = $derived.by(() => this.params.date || this.today)
  readonly weeks: readonly string[][] = $derived.by(() =>
    this.params.view === 'week' ? [weekOf(this.day)] : weeksOfMonth(this.day),
  )
  readonly from: string = $derived.by(() => this.weeks[0]![0]!)
  readonly to: string = $derived.by(() => this.weeks.at(-1)!.at(-1)!)
  readonly heading: string = $derived.by(() =>
    this.params.view === 'week' ? rangeText(this.from, this.to) : monthText(this.day),
  )
  readonly week: number = $derived.by(() => weekNumber(this.from))

  setParams(fields: Partial<CalendarParams>): void {
    const next = { ...this.params, ...fields }
    if (next.date === this.today) next.date = ''
    go(`/workspaces/${this.workspaceId}/calendar${writeParams(next)}`, { replace: true })
  }

  /** Moves one month or week forward or back. */
  step(by: 1 | -1): void {
    const date = this.params.view === 'week' ? addDays(this.day, 7 * by) : addMonths(`${this.day.slice(0, 7)}-01`, by)
    const now = this.params.view === 'month' && date.slice(0, 7) === this.today.slice(0, 7)
    this.setParams({ date: now ? '' : date })
  }

  showView(view: View): void {
    this.setParams({ view })
  }

  toggleTray(): void {
    this.tray = !this.tray
    localStorage.setItem(trayKey, this.tray ? 'yes' : 'no')
  }

  // -- visible cards --

  readonly #workspace = $derived.by(() => session.workspaces.find((w) => w.id === this.workspaceId))
  /** The open boards with the calendar feature. */
  readonly boards: readonly HomeBoard[] = $derived.by(
    () => this.#workspace?.boards.filter((b) => !b.archivedAt && b.features.calendar) ?? [],
  )
  readonly boardOf: ReadonlyMap<string, HomeBoard> = $derived.by(() => new Map(this.boards.map((b) => [b.id, b])))

  #passes(card: CalendarCard): boolean {
    const { boards, mine, open } = this.params
    if (boards.length > 0 && !boards.includes(card.boardId)) return false
    if (open && card.done) return false
    return !mine || !!this.store.mine?.has(card.id)
  }

  readonly cards: readonly DatedCard[] = $derived.by(() => {
    const found: DatedCard[] = []
    for (const card of this.store.cards.values()) {
      if (!this.#passes(card)) continue
      const dated = datedCard(card, this.now, this.zone)
      if (dated && dated.first <= this.to && dated.last >= this.from) found.push(dated)
    }
    return found.sort(inOrder)
  })

  /** Open cards without a date, last changed first. */
  readonly waiting: readonly CalendarCard[] = $derived.by(() =>
    [...this.store.cards.values()]
      .filter((c) => !c.done && !c.dueDate && !c.startDate && this.boardOf.has(c.boardId) && this.#passes(c))
      .sort((a, b) => (a.updatedAt < b.updatedAt ? 1 : a.updatedAt > b.updatedAt ? -1 : a.id < b.id ? 1 : -1)),
  )

  /** Whether the calendar is filtered by board or person. */
  readonly narrowed: boolean = $derived.by(() => this.params.boards.length > 0 || this.params.mine)

  /** The number of undated cards, with a plus if not all are loaded. */
  readonly undated: string = $derived.by(() =>
    this.narrowed ? `${this.waiting.length}${this.store.trayMore ? '+' : ''}` : String(this.store.undated),
  )

  /** The search query for undated cards. */
  readonly trayQuery: string = $derived.by(() => {
    const { boards, mine } = this.params
    const off = this.#workspace?.boards.filter((b) => !b.features.calendar).map((b) => b.id) ?? []
    return [
      'is:open -has:due,start sort:-updated',
      boards.length > 0 ? `board:${boards.join(',')}` : off.length > 0 ? `-board:${off.slice(0, 20).join(',')}` : '',
      mine ? 'member:me' : '',
    ]
      .filter(Boolean)
      .join(' ')
  })

  on(day: string): DatedCard[] {
    return this.cards.filter((c) => c.first <= day && day <= c.last)
  }

  color(card: CalendarCard): string {
    return colorOf(this.boardOf.get(card.boardId) ?? { id: card.boardId, color: null })
  }

  /** Describes a card for its tooltip: days, state and board. */
  describe(card: DatedCard): string {
    const days =
      card.first === card.last ? longDay(card.first, this.today) : `${shortDay(card.first)} to ${shortDay(card.last)}`
    const state = card.done ? 'done' : card.how === 'overdue' ? 'overdue' : ''
    return [days, state, this.boardOf.get(card.boardId)?.name].filter(Boolean).join(', ')
  }

  canEdit(card: CalendarCard): boolean {
    const role = this.boardOf.get(card.boardId)?.role
    return !this.#workspace?.readOnly && (role === 'admin' || role === 'editor')
  }

  hasStarts(card: CalendarCard): boolean {
    return !!this.boardOf.get(card.boardId)?.features.startDates
  }

  // -- actions --

  #may(card: CalendarCard): boolean {
    const can = this.canEdit(card)
    if (!can)
      toast(this.#workspace?.readOnly ? 'This workspace is read-only.' : 'You can view this board but not change it.')
    return can
  }

  #set(card: CalendarCard, due: DueInput): void {
    const before = inputOf(card)
    if (JSON.stringify(resolve(due)) === JSON.stringify(resolve(before)) || !this.#may(card)) return
    this.store.setDue(card.id, due, before, dueChangeText(card.title, spanOf(resolve(due), this.zone), due))
  }

  /** Moves the existing dates of a card by the given number of days. */
  shift(card: CalendarCard, days: number): void {
    if (days !== 0) this.#set(card, shifted(card, days))
  }

  /** Sets the due date of a card to a day, and keeps the length of its span. */
  moveTo(card: CalendarCard, day: string): void {
    const span = spanOf(card, this.zone)
    if (span) this.shift(card, (Date.parse(day) - Date.parse(card.dueDate ? span.last : span.first)) / 86_400_000)
    else this.#set(card, { dueDate: day })
  }

  /** Moves one end of a card's span. */
  moveEnd(card: CalendarCard, end: 'start' | 'due', day: string): void {
    const was = inputOf(card)
    const own = end === 'due' ? was.dueTime : was.startTime
    const to = { date: day, ...(own ? { time: own } : {}) }
    this.#set(card, withDates(card, end === 'due' ? { due: to } : { start: to }))
  }

  setDates(card: CalendarCard, to: DateChange): void {
    this.#set(card, withDates(card, to))
  }

  clear(card: CalendarCard): void {
    if (card.dueDate || card.startDate) this.#set(card, {})
  }

  toggleDone(card: CalendarCard): void {
    if (!this.#may(card)) return
    this.store.setDone(card.id, !card.done, `“${card.title}” marked as ${card.done ? 'not done' : 'done'}`)
  }

  open(card: CalendarCard): void {
    go(`/cards/${card.id}`)
  }

  pick(card: CalendarCard, anchor: Anchor): void {
    if (!this.#may(card)) return
    // Opening the picker closes a floating list, so anchor it to a point instead.
    const leaves = anchor instanceof Element && anchor.closest('[popover]') !== null
    const { right, top } = leaves ? anchor.getBoundingClientRect() : { right: 0, top: 0 }
    this.picker = { card, anchor: leaves ? { x: right, y: top } : anchor }
  }

  // -- focus --

  /** Focuses a day or an item on it. If the day is out of view, it is shown first. */
  async focus(cursor: Cursor): Promise<void> {
    this.cursor = cursor
    if (cursor.day < this.from || cursor.day > this.to) this.setParams({ date: cursor.day })
    await tick()
    this.element(cursor)?.focus()
  }

  /** Returns the element at the cursor, or that of the day if its card is hidden. */
  element({ day, item }: Cursor): HTMLElement | null {
    const cell = document.querySelector<HTMLElement>(`[role=gridcell][data-day="${day}"]`)
    if (item === null || !cell) return cell
    const found = cell.closest('[role=row]')?.querySelector<HTMLElement>(`[data-item="${item}"]`)
    return found ?? cell.querySelector<HTMLElement>('[data-item^="more"]') ?? cell
  }
}

function dueChangeText(title: string, span: { first: string; last: string } | null, due: DueInput): string {
  if (!span) return `Date removed from “${title}”`
  if (span.first !== span.last) return `“${title}” runs from ${shortDay(span.first)} to ${shortDay(span.last)}`
  return `“${title}” ${due.dueDate ? 'is due' : 'starts'} ${shortDay(span.first)}`
}

export function provideCalendar(page: CalendarPage): CalendarPage {
  return setContext(context, page)
}

export function calendar(): CalendarPage {
  return getContext<CalendarPage>(context)
}
