// The number of unread notifications: first from the session, then from the live
// stream.
import { watchNotifications } from './live'

const most = 100

let unread = $state(0)
let newest = $state('')

export const notifications = {
  get unread() {
    return unread
  },
  set unread(n: number) {
    unread = n
  },
  /** Changes when there are new notifications. */
  get version() {
    return `${unread} ${newest}`
  },
  /** The count as text. The server counts up to 100. */
  get text() {
    return unread >= most ? '99+' : String(unread)
  },
  begin(n: number): void {
    unread = n
  },
  /** Follows the live stream. The returned function stops it. */
  listen(): () => void {
    return watchNotifications((message) => {
      if (message.kind !== 'notifications') return
      unread = message.unread
      newest = message.newest
    })
  },
}
