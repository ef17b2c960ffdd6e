// Labels and colors of the states of webhooks and deliveries.
import type { Delivery, Webhook } from '../../api/contract'
import type { IconName } from '../../ui/icons'

export type Tone = 'plain' | 'accent' | 'warn' | 'danger' | 'good'
export type State = { tone: Tone; label: string; reason: string; icon?: IconName }

const times = (n: number) => (n === 1 ? 'once' : `${n} times`)

/** Returns the state of a webhook and the reason for it. */
export function stateOf(w: Webhook): State {
  switch (w.offReason) {
    case 'paused':
      return { tone: 'plain', label: 'Paused', reason: 'Someone paused it. Events are not queued while it is paused.' }
    case 'failures':
      return {
        tone: 'danger',
        label: 'Turned off',
        icon: 'warn',
        reason: 'Ten deliveries in a row failed. When the receiver works again, turn the webhook on.',
      }
    case 'gone':
      return {
        tone: 'danger',
        label: 'Turned off',
        icon: 'warn',
        reason:
          'The receiver responded with 410 Gone, which asks to stop deliveries. Turn the webhook on only if that was a mistake.',
      }
    case 'owner':
      return {
        tone: 'warn',
        label: 'Turned off',
        icon: 'warn',
        reason: 'Its owner can no longer manage the board or workspace. The person who turns it on becomes its owner.',
      }
    case 'plan':
      return {
        tone: 'warn',
        label: 'Turned off',
        icon: 'warn',
        reason:
          'The plan’s limit was reached when it was restored from the trash. Delete another webhook, then turn this one on.',
      }
    case 'trash':
      return {
        tone: 'plain',
        label: 'Paused',
        reason: 'Its board is in the trash. It turns on again when the board is restored.',
      }
  }
  if (w.heldUntil) {
    const reason =
      'The receiver asked for a pause. Deliveries wait until it ends. Waiting does not count as an attempt.'
    return { tone: 'warn', label: 'Held', icon: 'warn', reason }
  }
  if (w.heldSince) {
    const reason =
      'The receiver is failing. One delivery at a time is retried. For the others, waiting does not count as an attempt.'
    return { tone: 'warn', label: 'Held', icon: 'warn', reason }
  }
  if (w.failures > 0) {
    const what = w.failures === 1 ? 'delivery' : `${w.failures} deliveries`
    const reason = `The last ${what} failed. After ten in a row, the webhook is turned off.`
    return { tone: 'warn', label: `Failed ${times(w.failures)} in a row`, icon: 'warn', reason }
  }
  return { tone: 'good', label: 'On', reason: 'Working.' }
}

const platforms: Record<string, string> = {
  zapier: 'Zapier',
  make: 'Make',
  n8n: 'n8n',
  pipedream: 'Pipedream',
  power_automate: 'Power Automate',
}

export const platformText = (platform: string): string => platforms[platform] ?? platform

/** Returns the name of a webhook, or its host. */
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

export const statusLabel = (status: DeliveryStatus) => statuses[status]

export const canRedeliver = (d: Pick<Delivery, 'status'>): boolean =>
  d.status === 'failed' || d.status === 'gave up' || d.status === 'skipped'

export const inProgress = (d: Pick<Delivery, 'status'>): boolean =>
  d.status === 'pending' || d.status === 'delivering' || d.status === 'pending retry'

/** The filters of the log in the address. '' means all. */
export const logFilters = ['', 'open', 'delivered', 'failed', 'gave up', 'skipped'] as const
export type LogFilter = (typeof logFilters)[number]

export const filterText = (filter: LogFilter): string =>
  filter === '' ? 'All' : filter === 'open' ? 'In progress' : statuses[filter].label

export const matchesFilter = (filter: LogFilter, d: Pick<Delivery, 'status'>): boolean =>
  filter === '' || (filter === 'open' ? inProgress(d) : d.status === filter)

export const parseFilter = (text: string | null): LogFilter => logFilters.find((f) => f === text) ?? ''

/** Returns the delay in ms until the log reloads: shorter while deliveries are in progress. */
export function pollDelay(all: readonly Delivery[] | undefined, now: number): number {
  const soon = (all ?? []).some(
    (d) => inProgress(d) && (!d.nextAttemptAt || Date.parse(d.nextAttemptAt) - now < 15_000),
  )
  return soon ? 1000 : 4000
}
