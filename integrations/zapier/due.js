const pattern = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d)(?::\d\d(?:\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?$/

/**
 * Returns the due date of a card from a time that Zapier passes, such as 2026-12-24T17:00:00+01:00.
 * A value without a time, or with `allDay`, is a date. A time without an offset is in the time zone.
 *
 * @returns {{dueDate: string, dueTime?: string, timeZone?: string}}
 */
export function toDue(z, value, allDay, timeZone) {
  const zone = timeZone || 'UTC'
  const text = value.trim().replace(' ', 'T')
  let [, dueDate, dueTime, offset] = pattern.exec(text) ?? []
  const time = new Date(text)
  if (!dueDate || isNaN(time)) {
    throw new z.errors.Error(`Due is not a date: ${value}`, 'invalid_due', 400)
  }
  if (offset) {
    const options = { timeZone: zone, dateStyle: 'short', timeStyle: 'short' }
    ;[dueDate, dueTime] = new Intl.DateTimeFormat('sv-SE', options).format(time).split(' ')
  }
  return allDay || !dueTime ? { dueDate } : { dueDate, dueTime, timeZone: zone }
}
