// Labels and tones for the states of webhooks and deliveries.
import type { Delivery, Webhook } from '../../api/types'
import type { IconName } from '../../ui/icons'

export type Tone = 'plain' | 'accent' | 'warn' | 'danger' | 'good'
export type State = { tone: Tone; label: string; reason: string; icon?: IconName }

/** Returns the state of a webhook and the reason for it. */
export function stateOf(w: Webhook): State {
  switch (w.offReason) {
    case 'paused':
      return {
        tone: 'plain',
        label: 'Paused',
        reason: 'This webhook was paused. Events aren’t queued while it’s paused.',
      }
    case 'failures':
      return {
        tone: 'danger',
        label: 'Turned off',
        icon: 'warn',
        reason: 'Ten deliveries in a row failed. Once the receiver works again, turn the webhook back on.',
      }
    case 'gone':
      return {
        tone: 'danger',
        label: 'Turned off',
        icon: 'warn',
        reason:
          'The receiver responded with 410 Gone to stop all deliveries. Turn the webhook on only if that was a mistake.',
      }
    case 'owner':
      return {
        tone: 'warn',
        label: 'Turned off',
        icon: 'warn',
        reason:
          'The owner can no longer manage the board or workspace. The person who turns the webhook on becomes the new owner.',
      }
    case 'plan':
      return {
        tone: 'warn',
        label: 'Turned off',
        icon: 'warn',
        reason:
          'The plan’s limit was reached when this webhook was restored from the trash. Delete another webhook, then turn this one on.',
      }
    case 'trash':
      return {
        tone: 'plain',
        label: 'Paused',
        reason: 'The board is in the trash. The webhook resumes when the board is restored.',
      }
  }
  if (w.heldUntil) {
    const reason =
      'The receiver asked for a pause. Deliveries resume when it ends. Waiting doesn’t count as an attempt.'
    return { tone: 'warn', label: 'Held', icon: 'warn', reason }
  }
  if (w.heldSince) {
    const reason =
      'The receiver is failing, so one delivery at a time is retried. The others wait, which doesn’t count as an attempt.'
    return { tone: 'warn', label: 'Held', icon: 'warn', reason }
  }
  if (w.failures > 0) {
    const deliveries = w.failures === 1 ? 'delivery' : `${w.failures} deliveries`
    const reason = `The last ${deliveries} failed. After ten in a row, the webhook is turned off.`
    const label = w.failures === 1 ? 'Failed once' : `Failed ${w.failures} times in a row`
    return { tone: 'warn', label, icon: 'warn', reason }
  }
  return { tone: 'good', label: 'On', reason: 'Events are sent as they happen.' }
}

const platforms: Record<string, string> = {
  zapier: 'Zapier',
  make: 'Make',
  n8n: 'n8n',
  pipedream: 'Pipedream',
  power_automate: 'Power Automate',
}

export const platformText = (platform: string): string => platforms[platform] ?? platform

/** Returns the name of a webhook. If it has none, returns the host. */
export const webhookName = (w: Pick<Webhook, 'name' | 'host'>): string => w.name || w.host

/** Formats a success rate. 100% and 0% are exact. */
export function rateText(rate: number | null): string {
  if (rate === null) return '–'
  const percent = Math.min(Math.max(rate * 100, rate > 0 ? 0.1 : 0), rate < 1 ? 99.9 : 100)
  return `${Number(percent.toFixed(1))}%`
}

export const healthTone = (rate: number | null): Tone =>
  rate === null ? 'plain' : rate >= 0.99 ? 'good' : rate >= 0.9 ? 'warn' : 'danger'

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

export const statusLabel = (status: DeliveryStatus) => statuses[status]

/** Returns the card or board that a delivery is about, as far as the user can see it. */
export const subjectText = (d: Pick<Delivery, 'boardName' | 'cardNumber' | 'cardTitle'>): string =>
  d.cardTitle === null ? (d.boardName ?? '') : `#${d.cardNumber} ${d.cardTitle}`

export const canRedeliver = (d: Pick<Delivery, 'status'>): boolean =>
  d.status === 'failed' || d.status === 'gave up' || d.status === 'skipped'

export const inProgress = (d: Pick<Delivery, 'status'>): boolean =>
  d.status === 'pending' || d.status === 'delivering' || d.status === 'pending retry'

/** The filters of the log, as in the URL. '' means all. */
export const logFilters = ['', 'open', 'delivered', 'failed', 'gave up', 'skipped'] as const
export type LogFilter = (typeof logFilters)[number]

export const filterText = (filter: LogFilter): string =>
  filter === '' ? 'All' : filter === 'open' ? 'In progress' : statuses[filter].label

export const matchesFilter = (filter: LogFilter, d: Pick<Delivery, 'status'>): boolean =>
  filter === '' || (filter === 'open' ? inProgress(d) : d.status === filter)

export const parseFilter = (text: string | null): LogFilter => logFilters.find((f) => f === text) ?? ''

/** Returns the delay in ms until the log reloads. It is shorter while an attempt is expected soon. */
export function pollDelay(all: readonly Delivery[] | undefined, now: number): number {
  const soon = (all ?? []).some(
    (d) => inProgress(d) && (!d.nextAttemptAt || Date.parse(d.nextAttemptAt) - now < 15_000),
  )
  return soon ? 1000 : 4000
}
