// Searches the time zones that the browser supports.
import { foldText } from '../../lib/foldText'

export type Zone = { id: string; place: string; region: string; offset: string; minutes: number }

const wordsOf = (text: string) => foldText(text).replace(/[_/+\-−:]+/g, ' ')

/** Returns all time zones with their current UTC offsets, from west to east. */
export function allZones(now: Date, ids: readonly string[] = Intl.supportedValuesOf('timeZone')): Zone[] {
  return [...new Set(['UTC', ...ids])]
    .map((id) => zoneOf(id, now))
    .sort((a, b) => a.minutes - b.minutes || (a.id < b.id ? -1 : 1))
}

/** Returns the place, region and current UTC offset of a time zone. */
export function zoneOf(id: string, now: Date): Zone {
  const [region = id, ...rest] = id.replaceAll('_', ' ').split('/')
  const offset = offsetOf(id, now)
  const [, sign, hours, minutes] = /([+−-])(\d\d):?(\d\d)?/.exec(offset) ?? ['', '+', '0', '0']
  const offsetMinutes = (Number(hours) * 60 + Number(minutes || 0)) * (sign === '+' ? 1 : -1)
  return { id, place: rest.join(', ') || region, region: rest.length ? region : '', offset, minutes: offsetMinutes }
}

function offsetOf(timeZone: string, now: Date): string {
  const parts = new Intl.DateTimeFormat('en-GB', { timeZone, timeZoneName: 'longOffset' }).formatToParts(now)
  const name = parts.find((p) => p.type === 'timeZoneName')?.value ?? 'GMT'
  return name === 'GMT' ? 'UTC+00:00' : name.replace('GMT', 'UTC')
}

/** Returns the zones whose ID and offset contain all words of the text. Places that begin with the text come first. */
export function findZones(zones: readonly Zone[], text: string): Zone[] {
  const words = wordsOf(text).split(' ').filter(Boolean)
  if (words.length === 0) return [...zones]
  const matching = zones.filter((z) => {
    const searchText = wordsOf(`${z.id} ${z.offset}`)
    return words.every((w) => searchText.includes(w))
  })
  const rank = (z: Zone) => (wordsOf(z.place).startsWith(words.join(' ')) ? 0 : 1)
  return matching.sort((a, b) => rank(a) - rank(b))
}
