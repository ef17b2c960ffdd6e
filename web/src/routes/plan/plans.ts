// Names of the plans, and number formats.
import type { Plan } from '../../api/contract'

export const planNames: Record<Plan, string> = { free: 'Free', team: 'Team', business: 'Business' }

export const planOptions = (Object.keys(planNames) as Plan[]).map((value) => ({ value, label: planNames[value] }))

export const number = (n: number): string => n.toLocaleString('en')

/** "1 workspace", "12 people". */
export const counted = (n: number, one: string, many: string): string => `${number(n)} ${n === 1 ? one : many}`

const byteUnits = ['bytes', 'kB', 'MB', 'GB', 'TB', 'PB']

/** "250 MB": rounded down, so that less than a limit never looks like the limit. */
export function bytes(n: number): string {
  let value = n
  let unit = 0
  for (; value >= 1000 && unit < byteUnits.length - 1; unit++) value /= 1000
  return `${Math.floor(value * 10) / 10} ${byteUnits[unit]}`
}
