// Plan names and number formats.
import type { Plan } from '../../api/contract'

export const planNames: Record<Plan, string> = { free: 'Free', team: 'Team', business: 'Business' }

export const planOptions = (Object.keys(planNames) as Plan[]).map((value) => ({ value, label: planNames[value] }))

export const number = (n: number): string => n.toLocaleString('en')

/** Formats a number with a noun: "1 workspace", "12 people". */
export const counted = (n: number, singular: string, plural: string): string =>
  `${number(n)} ${n === 1 ? singular : plural}`

const byteUnits = ['bytes', 'kB', 'MB', 'GB', 'TB', 'PB']

/** Formats a size: "250 MB". Rounds down, so that usage below a limit never looks like the limit. */
export function bytes(n: number): string {
  if (n === 1) return '1 byte'
  let value = n
  let unit = 0
  for (; value >= 1000 && unit < byteUnits.length - 1; unit++) value /= 1000
  return `${Math.floor(value * 10) / 10} ${byteUnits[unit]}`
}
