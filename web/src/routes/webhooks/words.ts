// The states of webhooks and deliveries, in words and colours.
import type { Delivery, Webhook } from '../../api/contract'
import type { IconName } from '../../ui/icons'

export type Tone = 'plain' | 'accent' | 'warn' | 'danger' | 'good'
export type State = { tone: Tone; label: string; why: string; icon?: IconName }

const times = (n: number) => (n === 1 ? 'once' : `${n} times`)

/** How a webhook is doing, and why. */
export function stateOf(w: Webhook): State {
  switch (w.offReason) {
    case 'paused':
      return { tone: 'plain', label: 'Paused', why: 'A person paused it. Nothing is queued for it meanwhile.' }
    case 'failures':
      return {
        tone: 'danger',
        label: 'Switched off',
        icon: 'warn',
        why: 'Ten deliveries in a row failed, so it was switched off. When the receiver works again, switch it on.',
      }
    case 'gone':
      return {
        tone: 'danger',
        label: 'Switched off',
        icon: 'warn',
        why: 'The receiver answered 410 Gone: it wants no more. Switch it on only if that was a mistake.',
      }
    case 'owner':
      return {
        tone: 'warn',
        label: 'Switched off',
        icon: 'warn',
        why: 'Its owner can no longer manage what it covers. Whoever switches it on becomes its owner.',
      }
    case 'plan':
      return {
        tone: 'warn',
        label: 'Switched off',
        icon: 'warn',
        why: 'It came back from the trash, and the plan had no room for it. Delete another webhook, then switch it on.',
      }
    case 'trash':
      return {
        tone: 'plain',
        label: 'Paused',
        why: 'Its board is in the trash. It works again when the board is restored.',
      }
  }
  if (w.heldUntil) {
    const why = 'The receiver asked for a pause. Deliveries wait until it is over; none of their attempts is lost.'
    return { tone: 'warn', label: 'Held', icon: 'warn', why }
  }
  if (w.heldSince) {
    const why = 'The receiver fails: one delivery at a time tries whether it is back, the others wait unspent.'
    return { tone: 'warn', label: 'Held', icon: 'warn', why }
  }
  if (w.failures > 0) {
    const why = `The last ${w.failures === 1 ? 'delivery' : `${w.failures} deliveries`} failed. After ten in a row it is switched off.`
    return { tone: 'warn', label: `Failed ${times(w.failures)} in a row`, icon: 'warn', why }
  }
  return { tone: 'good', label: 'On', why: 'Working.' }
}

const platforms: Record<string, string> = {
  zapier: 'Zapier',
  make: 'Make',
  n8n: 'n8n',
  pipedream: 'Pipedream',
  power_automate: 'Power Automate',
}

export const platformText = (platform: string): string => platforms[platform] ?? platform

/** What a webhook is called: its name, or where it sends. */
export const webhookName = (w: Pick<Webhook, 'name' | 'host'>): string => w.name || w.host

export type DeliveryStatus = Delivery['status']

const statuses: Record<DeliveryStatus, { label: string; tone: Tone }> = {
  pending: { label: 'Pending', tone: 'plain' },
  delivering: { label: 'Delivering', tone: 'accent' },
  'pending retry': { label: 'Pending retry', tone: 'warn' },
  delivered: { label: 'Delivered', tone: 'good' },
  failed: { label: 'Failed', tone: 'danger' },
  'gave up': { label: 'Gave up', tone: 'danger' },
  skipped: { label: 'Skipped', tone: 'plain' },
}

export const statusWords = (status: DeliveryStatus) => statuses[status]

export const canSendAgain = (d: Pick<Delivery, 'status'>): boolean =>
  d.status === 'failed' || d.status === 'gave up' || d.status === 'skipped'

export const underWay = (d: Pick<Delivery, 'status'>): boolean =>
  d.status === 'pending' || d.status === 'delivering' || d.status === 'pending retry'

/** The filters of the log, as the address has them; '' is all. */
export const logFilters = ['', 'open', 'delivered', 'failed', 'gave up', 'skipped'] as const
export type LogFilter = (typeof logFilters)[number]

export const filterText = (filter: LogFilter): string =>
  filter === '' ? 'All' : filter === 'open' ? 'Under way' : statuses[filter].label

export const passes = (filter: LogFilter, d: Pick<Delivery, 'status'>): boolean =>
  filter === '' || (filter === 'open' ? underWay(d) : d.status === filter)

export const asFilter = (text: string | null): LogFilter => logFilters.find((f) => f === text) ?? ''

/** How soon the log is to be read again: what is under way soon, what rests later. */
export function pauseOf(all: readonly Delivery[] | undefined, now: number): number {
  const soon = (all ?? []).some((d) => underWay(d) && (!d.nextAttemptAt || Date.parse(d.nextAttemptAt) - now < 15_000))
  return soon ? 1000 : 4000
}
