import { expect, test } from 'vitest'
import { dueText } from '../../state/due'
import { ownZoneText } from './ownZoneText'

test('a time in another zone is shown on the clock of that zone, with its name', () => {
  const due = { dueDate: '2026-12-01', dueAt: '2026-12-02T03:00:00.000Z', timeZone: 'America/Los_Angeles' }
  const now = new Date('2026-12-01T12:00:00Z')
  expect(dueText(due, now, 'Europe/Berlin')).toBe('Tomorrow 04:00')
  expect(ownZoneText(due, now, 'Europe/Berlin')).toBe('Today 19:00 in America/Los_Angeles')
  expect(ownZoneText(due, now, 'America/Los_Angeles')).toBe('')
  expect(ownZoneText(due, now, 'America/Vancouver')).toBe('') // the same clock
  expect(ownZoneText({ ...due, timeZone: 'UTC' }, now, 'America/Los_Angeles')).toBe('Tomorrow 03:00 in UTC')
  expect(ownZoneText({ dueDate: '2026-12-01', dueAt: null, timeZone: null }, now, 'Europe/Berlin')).toBe('')
})
