// How many notifications wait, in every tab: from the session at first, then
// from the live stream.
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
  /** Changes whenever there is something new to show. */
  get mark() {
    return `${unread} ${newest}`
  },
  /** The count as it is shown; the server counts up to 100. */
  get text() {
    return unread >= most ? '99+' : String(unread)
  },
  begin(n: number): void {
    unread = n
  },
  /** Follows the stream until the answer is called. */
  listen(): () => void {
    return watchNotifications((message) => {
      if (message.kind !== 'notifications') return
      unread = message.unread
      newest = message.newest
    })
  },
}
