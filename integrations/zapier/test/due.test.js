import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toDue } from '../due.js'

const z = { errors: { Error } }

test('a time that Zapier passes becomes a due date', () => {
  const zone = 'Europe/Berlin'
  const at = (dueDate, dueTime) => ({ dueDate, dueTime, timeZone: zone })
  for (const [value, want] of [
    ['2026-12-24', { dueDate: '2026-12-24' }],
    ['2026-12-24T17:00', at('2026-12-24', '17:00')],
    ['2026-12-24 17:00:30', at('2026-12-24', '17:00')],
    ['2026-12-24T23:30:00Z', at('2026-12-25', '00:30')],
    ['2026-07-01T09:05:00.250-0500', at('2026-07-01', '16:05')],
    ['2026-12-24T17:00:00+01:00 ', at('2026-12-24', '17:00')],
  ]) {
    assert.deepEqual(toDue(z, value, false, zone), want, value)
    assert.deepEqual(toDue(z, value, true, zone), { dueDate: want.dueDate }, value)
  }
  assert.equal(toDue(z, '2026-12-24T17:00:00Z', false, null).timeZone, 'UTC')
})

test('a text that is not a date is an error', () => {
  for (const value of ['tomorrow', '24.12.2026', '2026-12-24T5pm', '2026-13-40T10:00:00Z']) {
    assert.throws(() => toDue(z, value, false, 'UTC'), /Due is not a date/, value)
  }
})
