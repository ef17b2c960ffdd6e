// Finds time zones by city, abbreviation or IANA name.

/** Common abbreviations. An ambiguous one has its most common meaning. */
const short: Record<string, string> = {
  utc: 'UTC',
  gmt: 'UTC',
  bst: 'Europe/London',
  cet: 'Europe/Berlin',
  cest: 'Europe/Berlin',
  eet: 'Europe/Helsinki',
  est: 'America/New_York',
  edt: 'America/New_York',
  et: 'America/New_York',
  cst: 'America/Chicago',
  cdt: 'America/Chicago',
  ct: 'America/Chicago',
  mst: 'America/Denver',
  mdt: 'America/Denver',
  pst: 'America/Los_Angeles',
  pdt: 'America/Los_Angeles',
  pt: 'America/Los_Angeles',
  ist: 'Asia/Kolkata',
  jst: 'Asia/Tokyo',
  aest: 'Australia/Sydney',
}

let known: Map<string, string> | undefined

function names(): Map<string, string> {
  if (known) return known
  known = new Map(Object.entries(short))
  for (const zone of Intl.supportedValuesOf('timeZone')) {
    const name = zone.toLowerCase()
    known.set(name, zone)
    known.set(name.split('/').at(-1)!.replaceAll('_', ' '), zone)
  }
  return known
}

/** Returns the time zone named at the end of a text and the text before it, or null. */
export function zoneIn(text: string): { zone: string; rest: string } | null {
  const words = text
    .trim()
    .replace(/\s+time$/i, '')
    .split(/\s+/)
  for (let n = Math.min(3, words.length); n > 0; n--) {
    const zone = names().get(words.slice(-n).join(' ').toLowerCase())
    if (zone)
      return {
        zone,
        rest: words
          .slice(0, -n)
          .join(' ')
          .replace(/\s+in$/i, ''),
      }
  }
  return null
}
