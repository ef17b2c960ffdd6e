import { dueText, wallClock, type Due } from '../../state/due'

/**
 * Formats a date in its own time zone, "Tomorrow 19:00 in America/Los_Angeles", or returns '' if its clock shows the
 * same as the reader's.
 */
export function ownZoneText(due: Pick<Due, 'dueDate' | 'dueAt' | 'timeZone'>, now: Date, readerZone: string): string {
  if (!due.dueAt || !due.timeZone) return ''
  const at = new Date(due.dueAt)
  const [own, reader] = [wallClock(at, due.timeZone), wallClock(at, readerZone)]
  if (own.date === reader.date && own.time === reader.time) return ''
  return `${dueText(due, now, due.timeZone)} in ${due.timeZone}`
}
