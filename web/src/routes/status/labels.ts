// Labels for board statuses and figures.
import type { components } from '../../api/schema'
import type { IconName } from '../../ui/icons'

export type StatusUpdate = components['schemas']['StatusUpdate']
export type Status = StatusUpdate['status']
type Label = { label: string; tone: 'good' | 'warn' | 'danger' | 'plain' | 'accent'; icon: IconName }

export const statusLabels: Record<Status, Label> = {
  on_track: { label: 'On track', tone: 'good', icon: 'check' },
  at_risk: { label: 'At risk', tone: 'warn', icon: 'warn' },
  off_track: { label: 'Off track', tone: 'danger', icon: 'close' },
  on_hold: { label: 'On hold', tone: 'plain', icon: 'pause' },
  complete: { label: 'Complete', tone: 'accent', icon: 'checkbox' },
}

export const statuses = Object.keys(statusLabels) as Status[]

export const figures: readonly [keyof StatusUpdate['snapshot'], string][] = [
  ['open', 'open'],
  ['done', 'done'],
  ['overdue', 'overdue'],
  ['dueIn7Days', 'due in 7 days'],
  ['unassigned', 'unassigned'],
  ['undated', 'without a date'],
]
