// The state of the calendar page other than the cards (view, days, filters, focus and
// dragging), and the actions that keyboard shortcuts, menus and the mouse share.
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

/** The keyboard position: a day, or an item on a day. */
export type Cursor = { day: string; item: string | null }
export type Anchor = Element | { x: number; y: number }
/** The drop target of a dragged card: its new first and last day, or the tray. */
export type Target = { first: string; last: string } | 'tray'

const context = Symbol('calendar page')
const trayKey = 'cardwall-calendar-tray'
const trayOpenWidth = 1400 // pixels; the tray is open by default in windows at least this wide
const trayMinWidth = 1100 // pixels; the tray is never open initially in narrower windows

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

  // -- state in the URL --

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

  /** Shows the next (1) or previous (-1) month or week. */
  step(by: 1 | -1): void {
    const date = this.params.view === 'week' ? addDays(this.day, 7 * by) : addMonths(`${this.day.slice(0, 7)}-01`, by)
    const isCurrentMonth = this.params.view === 'month' && date.slice(0, 7) === this.today.slice(0, 7)
    this.setParams({ date: isCurrentMonth ? '' : date })
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

  #matchesFilter(card: CalendarCard): boolean {
    const { boards, mine, open } = this.params
    if (boards.length > 0 && !boards.includes(card.boardId)) return false
    if (open && card.done) return false
    return !mine || !!this.store.mine?.has(card.id)
  }

  readonly cards: readonly DatedCard[] = $derived.by(() => {
    const visible: DatedCard[] = []
    for (const card of this.store.cards.values()) {
      if (!this.#matchesFilter(card)) continue
      const dated = datedCard(card, this.now, this.zone)
      if (dated && dated.first <= this.to && dated.last >= this.from) visible.push(dated)
    }
    return visible.sort(inOrder)
  })

  /** The open cards without a date, most recently changed first. */
  readonly undatedCards: readonly CalendarCard[] = $derived.by(() =>
    [...this.store.cards.values()]
      .filter((c) => !c.done && !c.dueDate && !c.startDate && this.boardOf.has(c.boardId) && this.#matchesFilter(c))
      .sort((a, b) => (a.updatedAt < b.updatedAt ? 1 : a.updatedAt > b.updatedAt ? -1 : a.id < b.id ? 1 : -1)),
  )

  /** Whether the calendar is filtered by board or assignee. */
  readonly filtered: boolean = $derived.by(() => this.params.boards.length > 0 || this.params.mine)

  /** The number of undated cards as text, with a plus sign if not all are loaded. */
  readonly undatedCount: string = $derived.by(() =>
    this.filtered ? `${this.undatedCards.length}${this.store.trayMore ? '+' : ''}` : String(this.store.undated),
  )

  /** The search query for undated cards. */
  readonly trayQuery: string = $derived.by(() => {
    const { boards, mine } = this.params
    const excluded = this.#workspace?.boards.filter((b) => !b.features.calendar).map((b) => b.id) ?? []
    return [
      'is:open -has:due,start sort:-updated',
      boards.length > 0
        ? `board:${boards.join(',')}`
        : excluded.length > 0
          ? `-board:${excluded.slice(0, 20).join(',')}`
          : '',
      mine ? 'member:me' : '',
    ]
      .filter(Boolean)
      .join(' ')
  })

  /** Returns the cards on a day. */
  cardsOn(day: string): DatedCard[] {
    return this.cards.filter((c) => c.first <= day && day <= c.last)
  }

  color(card: CalendarCard): string {
    return colorOf(this.boardOf.get(card.boardId) ?? { id: card.boardId, color: null })
  }

  /** Describes a card for its tooltip: days, status and board. */
  describe(card: DatedCard): string {
    const days =
      card.first === card.last ? longDay(card.first, this.today) : `${shortDay(card.first)} to ${shortDay(card.last)}`
    const state = card.done ? 'done' : card.urgency === 'overdue' ? 'overdue' : ''
    return [days, state, this.boardOf.get(card.boardId)?.name].filter(Boolean).join(', ')
  }

  canEdit(card: CalendarCard): boolean {
    const role = this.boardOf.get(card.boardId)?.role
    return !this.#workspace?.readOnly && (role === 'admin' || role === 'editor')
  }

  usesStartDates(card: CalendarCard): boolean {
    return !!this.boardOf.get(card.boardId)?.features.startDates
  }

  // -- actions --

  #checkCanEdit(card: CalendarCard): boolean {
    const canEdit = this.canEdit(card)
    if (!canEdit)
      toast(this.#workspace?.readOnly ? 'This workspace is read-only.' : 'You have view-only access to this board.')
    return canEdit
  }

  #setDue(card: CalendarCard, due: DueInput): void {
    const previous = inputOf(card)
    if (JSON.stringify(resolve(due)) === JSON.stringify(resolve(previous)) || !this.#checkCanEdit(card)) return
    this.store.setDue(card.id, due, previous, dueChangeText(card.title, spanOf(resolve(due), this.zone), due))
  }

  /** Moves the dates of a card by a number of days. */
  shiftDates(card: CalendarCard, days: number): void {
    if (days !== 0) this.#setDue(card, shifted(card, days))
  }

  /**
   * Moves a card so that it is due on a day. A card that has only a start date starts on that
   * day instead. The duration stays the same.
   */
  moveTo(card: CalendarCard, day: string): void {
    const span = spanOf(card, this.zone)
    if (span) this.shiftDates(card, (Date.parse(day) - Date.parse(card.dueDate ? span.last : span.first)) / 86_400_000)
    else this.#setDue(card, { dueDate: day })
  }

  /** Moves the start or the due date of a card to a day. Its time of day stays the same. */
  moveEnd(card: CalendarCard, end: 'start' | 'due', day: string): void {
    const current = inputOf(card)
    const time = end === 'due' ? current.dueTime : current.startTime
    const to = { date: day, ...(time ? { time } : {}) }
    this.#setDue(card, withDates(card, end === 'due' ? { due: to } : { start: to }))
  }

  setDates(card: CalendarCard, to: DateChange): void {
    this.#setDue(card, withDates(card, to))
  }

  clear(card: CalendarCard): void {
    if (card.dueDate || card.startDate) this.#setDue(card, {})
  }

  toggleDone(card: CalendarCard): void {
    if (!this.#checkCanEdit(card)) return
    this.store.setDone(card.id, !card.done, `“${card.title}” marked as ${card.done ? 'not done' : 'done'}`)
  }

  open(card: CalendarCard): void {
    go(`/cards/${card.id}`)
  }

  openPicker(card: CalendarCard, anchor: Anchor): void {
    if (!this.#checkCanEdit(card)) return
    // Opening the picker closes the popover that contains the anchor, so use a point as the anchor instead.
    const inPopover = anchor instanceof Element && anchor.closest('[popover]') !== null
    const { right, top } = inPopover ? anchor.getBoundingClientRect() : { right: 0, top: 0 }
    this.picker = { card, anchor: inPopover ? { x: right, y: top } : anchor }
  }

  // -- focus --

  /** Focuses a day or an item on a day. If the day is not visible, shows it first. */
  async focus(cursor: Cursor): Promise<void> {
    this.cursor = cursor
    if (cursor.day < this.from || cursor.day > this.to) this.setParams({ date: cursor.day })
    await tick()
    this.element(cursor)?.focus()
  }

  /** Returns the element at a position. If the item is hidden, returns the "+n more" button or the day. */
  element({ day, item }: Cursor): HTMLElement | null {
    const cell = document.querySelector<HTMLElement>(`[role=gridcell][data-day="${day}"]`)
    if (item === null || !cell) return cell
    const element = cell.closest('[role=row]')?.querySelector<HTMLElement>(`[data-item="${item}"]`)
    return element ?? cell.querySelector<HTMLElement>('[data-item^="more"]') ?? cell
  }
}

/** Describes a change of dates for a toast. */
function dueChangeText(title: string, span: { first: string; last: string } | null, due: DueInput): string {
  if (!span) return `Date removed from “${title}”`
  if (span.first !== span.last) return `“${title}” runs from ${shortDay(span.first)} to ${shortDay(span.last)}`
  return `“${title}” ${due.dueDate ? 'is due' : 'starts'} ${shortDay(span.first)}`
}

/** Makes a calendar page available to the components of the calendar. */
export function setCalendarPage(page: CalendarPage): CalendarPage {
  return setContext(context, page)
}

/** Returns the calendar page of the current component. */
export function getCalendarPage(): CalendarPage {
  return getContext<CalendarPage>(context)
}
