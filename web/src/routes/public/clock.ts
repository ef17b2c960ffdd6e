// Guests have no profile, so dates are in the time zone of the browser.
export const zone = Intl.DateTimeFormat().resolvedOptions().timeZone

export const now = (): Date => new Date()

const momentFormat = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
})

/** Formats an instant: "2 Mar 2026, 10:00". */
export const moment = (at: string): string => momentFormat.format(new Date(at))
