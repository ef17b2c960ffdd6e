// The number of unread notifications. The initial number comes from the session, and
// updates come from the live stream.
import { watchNotifications } from './live'

/** The server stops counting at this number. */
const maxCount = 100

let unread = $state(0)
let newest = $state('')

export const notifications = {
  get unread() {
    return unread
  },
  set unread(n: number) {
    unread = n
  },
  /** A value that changes whenever the notifications change. */
  get version() {
    return `${unread} ${newest}`
  },
  /** The number as text, at most "99+". */
  get text() {
    return unread >= maxCount ? '99+' : String(unread)
  },
  begin(n: number): void {
    unread = n
  },
  /** Follows the live stream until the returned function is called. */
  listen(): () => void {
    return watchNotifications((message) => {
      if (message.kind !== 'notifications') return
      unread = message.unread
      newest = message.newest
    })
  },
}
