// Finds time zones by city, abbreviation or IANA name.

/** Common abbreviations. Ambiguous abbreviations have their most common meaning. */
const abbreviations: Record<string, string> = {
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

/** Time zones by lower-case name. */
let zones: Map<string, string> | undefined

function zonesByName(): Map<string, string> {
  if (zones) return zones
  zones = new Map(Object.entries(abbreviations))
  for (const zone of Intl.supportedValuesOf('timeZone')) {
    const name = zone.toLowerCase()
    zones.set(name, zone)
    zones.set(name.split('/').at(-1)!.replaceAll('_', ' '), zone)
  }
  return zones
}

/** Finds a time zone at the end of the text. Returns it with the rest of the text, or null if there is none. */
export function zoneIn(text: string): { zone: string; rest: string } | null {
  const words = text
    .trim()
    .replace(/\s+time$/i, '')
    .split(/\s+/)
  for (let n = Math.min(3, words.length); n > 0; n--) {
    const zone = zonesByName().get(words.slice(-n).join(' ').toLowerCase())
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
