// A list of notifications that follows the live stream, and actions on notifications.
import { app, body, data, reason } from '../../api/client'
import type { Notification } from '../../api/contract'
import { notifications } from '../../state/notifications.svelte'
import { toast } from '../../state/toasts.svelte'

/** Loads notifications and keeps them up to date. `unread` returns whether to load only unread ones. */
export function notificationFeed(limit: number, unread: () => boolean) {
  let items = $state.raw<Notification[] | null>(null)
  let problem = $state<string | null>(null)
  let next = $state<string | undefined>()
  let generation = 0

  const fetchPage = (cursor?: string) =>
    body(app.GET('/notifications', { params: { query: { limit, cursor, unread: unread() || undefined } } }))

  async function load(): Promise<void> {
    const current = ++generation
    try {
      const response = await fetchPage()
      if (current !== generation) return
      items = response.data
      next = response.nextCursor
      problem = null
    } catch (thrown) {
      if (current === generation && items === null) problem = reason(thrown)
    }
  }

  $effect(() => {
    void notifications.version
    void unread()
    void load()
  })

  async function loadMore(): Promise<void> {
    const current = generation
    try {
      const response = await fetchPage(next)
      if (current !== generation) return
      items = [...(items ?? []), ...response.data]
      next = response.nextCursor
    } catch (thrown) {
      toast(reason(thrown), { tone: 'bad' })
    }
  }

  /** Marks a notification as read or unread immediately. If the request fails, reloads the list. */
  async function mark(notification: Notification, read: boolean): Promise<void> {
    if ((notification.readAt !== null) === read) return
    const readAt = read ? new Date().toISOString() : null
    items = items?.map((n) => (n.id === notification.id ? { ...n, readAt } : n)) ?? null
    notifications.unread = Math.max(0, notifications.unread + (read ? -1 : 1))
    try {
      await data(
        app.PATCH('/notifications/{notificationId}', {
          params: { path: { notificationId: notification.id } },
          body: { read },
        }),
      )
    } catch (thrown) {
      toast(reason(thrown), { tone: 'bad' })
      void load()
    }
  }

  async function markAll(): Promise<void> {
    const upTo = items?.[0]?.id
    const readAt = new Date().toISOString()
    items = items?.map((n) => ({ ...n, readAt: n.readAt ?? readAt })) ?? null
    try {
      notifications.unread = (await data(app.POST('/notifications/read', { body: { upTo } }))).unread
    } catch (thrown) {
      toast(reason(thrown), { tone: 'bad' })
      void load()
    }
  }

  return {
    get items() {
      return items
    },
    get problem() {
      return problem
    },
    get next() {
      return next
    },
    load,
    loadMore,
    mark,
    markAll,
  }
}

export type Feed = ReturnType<typeof notificationFeed>

/** Moves the focus between notifications with the arrow keys. */
export function moveFocus(event: KeyboardEvent & { currentTarget: HTMLElement }): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  if (!step) return
  const links = [...event.currentTarget.querySelectorAll<HTMLElement>('a[data-notification]')]
  const index = links.findIndex((link) => link.closest('li')?.contains(document.activeElement))
  const to = links[index < 0 ? (step > 0 ? 0 : links.length - 1) : index + step]
  if (!to) return
  event.preventDefault()
  event.stopPropagation()
  to.focus()
}
