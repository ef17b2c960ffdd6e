// Names of the plans, and number formats.
import type { Plan } from '../../api/contract'

export const planNames: Record<Plan, string> = { free: 'Free', team: 'Team', business: 'Business' }

export const planOptions = (Object.keys(planNames) as Plan[]).map((value) => ({ value, label: planNames[value] }))

export const number = (n: number): string => n.toLocaleString('en')

/** "1 workspace", "12 people". */
export const counted = (n: number, one: string, many: string): string => `${number(n)} ${n === 1 ? one : many}`
