// What the calendar's page knows beside the cards: the view and its days, the
// filters, where the focus is, what is dragged; and the acts that keys, menus
// and the mouse share.
import { getContext, setContext, tick } from 'svelte'
import type { HomeBoard } from '../../api/contract'
import { addMonths, longDay, monthText, rangeText, shortDay, weekNumber, weekOf, weeksOfMonth } from '../../lib/days'
import { address, go } from '../../lib/router.svelte'
import { addDays, inputOf, redated, resolve, shifted, spanOf, wallClock, type Redate } from '../../state/due'
import { session } from '../../state/session.svelte'
import { toast } from '../../state/toasts.svelte'
import type { DueInput } from '../../api/types'
import { colorOf } from '../home/color'
import { datedCard, inOrder, type DatedCard, type PlanCard } from './card'
import { readPlace, writePlace, type Place, type View } from './place'
import { CalendarStore } from './store.svelte'

/** Where the keyboard is: on a day, or on what stands on it. */
export type Cursor = { day: string; item: string | null }
export type Anchor = Element | { x: number; y: number }
/** Days that a card would have where it is held now, or the tray. */
export type Target = { first: string; last: string } | 'tray'

const context = Symbol('calendar page')
const trayKey = 'cardwall-calendar-tray'
const roomForTray = 1400 // pixels: below it the days need the room, unless somebody chose
const leastForTray = 1100

export class CalendarPage {
  now = $state.raw(new Date())
  cursor = $state.raw<Cursor | null>(null)
  dragged = $state<string | null>(null)
  target = $state.raw<Target | null>(null)
  menu = $state.raw<{ card: PlanCard; anchor: Anchor } | null>(null)
  picker = $state.raw<{ card: PlanCard; anchor: Anchor } | null>(null)
  tray = $state(false)

  readonly store: CalendarStore
  readonly zone = session.me.timeZone

  constructor(readonly workspaceId: string) {
    this.store = new CalendarStore(workspaceId, this.zone)
    const kept = localStorage.getItem(trayKey)
    this.tray = kept === null ? innerWidth >= roomForTray : kept === 'yes' && innerWidth >= leastForTray
  }

  // -- what the address says --

  readonly place: Place = $derived.by(() => readPlace(address.query))
  readonly today: string = $derived.by(() => wallClock(this.now, this.zone).date)
  readonly day: string = $derived.by(() => this.place.date || this.today)
  readonly weeks: readonly string[][] = $derived.by(() =>
    this.place.view === 'week' ? [weekOf(this.day)] : weeksOfMonth(this.day),
  )
  readonly from: string = $derived.by(() => this.weeks[0]![0]!)
  readonly to: string = $derived.by(() => this.weeks.at(-1)!.at(-1)!)
  readonly heading: string = $derived.by(() =>
    this.place.view === 'week' ? rangeText(this.from, this.to) : monthText(this.day),
  )
  readonly week: number = $derived.by(() => weekNumber(this.from))

  put(fields: Partial<Place>): void {
    const next = { ...this.place, ...fields }
    if (next.date === this.today) next.date = ''
    go(`/workspaces/${this.workspaceId}/calendar${writePlace(next)}`, { replace: true })
  }

  /** One month or week on, or back. */
  step(by: 1 | -1): void {
    const date = this.place.view === 'week' ? addDays(this.day, 7 * by) : addMonths(`${this.day.slice(0, 7)}-01`, by)
    const now = this.place.view === 'month' && date.slice(0, 7) === this.today.slice(0, 7)
    this.put({ date: now ? '' : date })
  }

  showView(view: View): void {
    this.put({ view })
  }

  toggleTray(): void {
    this.tray = !this.tray
    localStorage.setItem(trayKey, this.tray ? 'yes' : 'no')
  }

  // -- what is shown --

  readonly #workspace = $derived.by(() => session.workspaces.find((w) => w.id === this.workspaceId))
  /** The boards that show in calendars. */
  readonly boards: readonly HomeBoard[] = $derived.by(
    () => this.#workspace?.boards.filter((b) => !b.archivedAt && b.features.calendar) ?? [],
  )
  readonly boardOf: ReadonlyMap<string, HomeBoard> = $derived.by(() => new Map(this.boards.map((b) => [b.id, b])))

  #passes(card: PlanCard): boolean {
    const { boards, mine, open } = this.place
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

  /** Open cards that wait for a date, what changed last first. */
  readonly waiting: readonly PlanCard[] = $derived.by(() =>
    [...this.store.cards.values()]
      .filter((c) => !c.done && !c.dueDate && !c.startDate && this.boardOf.has(c.boardId) && this.#passes(c))
      .sort((a, b) => (a.updatedAt < b.updatedAt ? 1 : a.updatedAt > b.updatedAt ? -1 : a.id < b.id ? 1 : -1)),
  )

  /** Whether the calendar leaves cards out, by board or by person. */
  readonly narrowed: boolean = $derived.by(() => this.place.boards.length > 0 || this.place.mine)

  /** How many of them there are; with a plus when there are more than are known. */
  readonly undated: string = $derived.by(() =>
    this.narrowed ? `${this.waiting.length}${this.store.trayMore ? '+' : ''}` : String(this.store.undated),
  )

  /** The search that finds them. */
  readonly trayQuery: string = $derived.by(() => {
    const { boards, mine } = this.place
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

  color(card: PlanCard): string {
    return colorOf(this.boardOf.get(card.boardId) ?? { id: card.boardId, color: null })
  }

  /** What a bar does not show by its words: its days, its state and its board. */
  describe(card: DatedCard): string {
    const days =
      card.first === card.last ? longDay(card.first, this.today) : `${shortDay(card.first)} to ${shortDay(card.last)}`
    const state = card.done ? 'done' : card.how === 'overdue' ? 'overdue' : ''
    return [days, state, this.boardOf.get(card.boardId)?.name].filter(Boolean).join(', ')
  }

  canEdit(card: PlanCard): boolean {
    const role = this.boardOf.get(card.boardId)?.role
    return !this.#workspace?.readOnly && (role === 'admin' || role === 'editor')
  }

  hasStarts(card: PlanCard): boolean {
    return !!this.boardOf.get(card.boardId)?.features.startDates
  }

  // -- acts --

  #may(card: PlanCard): boolean {
    const can = this.canEdit(card)
    if (!can)
      toast(
        this.#workspace?.readOnly
          ? 'The plan of this workspace is read-only.'
          : 'You may look at this board, not change it.',
      )
    return can
  }

  #set(card: PlanCard, due: DueInput): void {
    const before = inputOf(card)
    if (JSON.stringify(resolve(due)) === JSON.stringify(resolve(before)) || !this.#may(card)) return
    this.store.setDue(card.id, due, before, said(card.title, spanOf(resolve(due), this.zone), due))
  }

  /** Moves a card by so many days; dates that it has not are not made. */
  shift(card: PlanCard, days: number): void {
    if (days !== 0) this.#set(card, shifted(card, days))
  }

  /** Puts a card on a day: due on it, or with its due date there and its span as long as before. */
  putOn(card: PlanCard, day: string): void {
    const span = spanOf(card, this.zone)
    if (span) this.shift(card, (Date.parse(day) - Date.parse(card.dueDate ? span.last : span.first)) / 86_400_000)
    else this.#set(card, { dueDate: day })
  }

  /** Moves one end of a card's span. */
  stretch(card: PlanCard, end: 'start' | 'due', day: string): void {
    const was = inputOf(card)
    const own = end === 'due' ? was.dueTime : was.startTime
    const to = { date: day, ...(own ? { time: own } : {}) }
    this.#set(card, redated(card, end === 'due' ? { due: to } : { start: to }))
  }

  setDates(card: PlanCard, to: Redate): void {
    this.#set(card, redated(card, to))
  }

  clear(card: PlanCard): void {
    if (card.dueDate || card.startDate) this.#set(card, {})
  }

  toggleDone(card: PlanCard): void {
    if (!this.#may(card)) return
    this.store.setDone(card.id, !card.done, `“${card.title}” is ${card.done ? 'not done' : 'done'}`)
  }

  open(card: PlanCard): void {
    go(`/cards/${card.id}`)
  }

  pick(card: PlanCard, anchor: Anchor): void {
    if (!this.#may(card)) return
    // A list that floats is put away by what opens beside it.
    const leaves = anchor instanceof Element && anchor.closest('[popover]') !== null
    const { right, top } = leaves ? anchor.getBoundingClientRect() : { right: 0, top: 0 }
    this.picker = { card, anchor: leaves ? { x: right, y: top } : anchor }
  }

  // -- focus --

  /** Brings the keyboard to a day or to what stands on it, showing that day first. */
  async focus(cursor: Cursor): Promise<void> {
    this.cursor = cursor
    if (cursor.day < this.from || cursor.day > this.to) this.put({ date: cursor.day })
    await tick()
    this.element(cursor)?.focus()
  }

  /** What stands for the cursor on the page; the day when its card has no room. */
  element({ day, item }: Cursor): HTMLElement | null {
    const cell = document.querySelector<HTMLElement>(`[role=gridcell][data-day="${day}"]`)
    if (item === null || !cell) return cell
    const found = cell.closest('[role=row]')?.querySelector<HTMLElement>(`[data-item="${item}"]`)
    return found ?? cell.querySelector<HTMLElement>('[data-item^="more"]') ?? cell
  }
}

function said(title: string, span: { first: string; last: string } | null, due: DueInput): string {
  if (!span) return `“${title}” has no date any more`
  if (span.first !== span.last) return `“${title}” runs from ${shortDay(span.first)} to ${shortDay(span.last)}`
  return `“${title}” ${due.dueDate ? 'is due' : 'starts'} ${shortDay(span.first)}`
}

export function provideCalendar(page: CalendarPage): CalendarPage {
  return setContext(context, page)
}

export function calendar(): CalendarPage {
  return getContext<CalendarPage>(context)
}
