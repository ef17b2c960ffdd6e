// Who is signed in, and what the sidebar shows of their workspaces.
import { ApiError, app, data } from '../api/client'
import type { Home, Session, Theme } from '../api/contract'
import { learnOffsets } from './due'
import { notifications } from './notifications.svelte'

/** What the session brings of home at once; the rest comes with loadHome. */
type KnownHome = Pick<Home, 'workspaces'> & Partial<Home>

type State = { status: 'asking' | 'out' | 'in' | 'unreachable'; session: Session | null; home: KnownHome | null }

const state = $state<State>({ status: 'asking', session: null, home: null })

export const session = {
  get status() {
    return state.status
  },
  /** The session; only for pages that a signed-in person sees. */
  get current(): Session {
    if (!state.session) throw new Error('nobody is signed in')
    return state.session
  },
  get me() {
    return this.current.user
  },
  get home() {
    return state.home
  },
  get workspaces() {
    return state.home?.workspaces ?? []
  },
}

export async function loadSession(): Promise<void> {
  try {
    entered(await data(app.GET('/session')))
  } catch (thrown) {
    state.status = thrown instanceof ApiError && thrown.status === 401 ? 'out' : 'unreachable'
  }
}

export function entered(found: Session): void {
  learnOffsets(found.user.timeZone, found.zoneOffsets)
  state.session = found
  state.home = { workspaces: found.workspaces }
  notifications.begin(found.unread)
  state.status = 'in'
  showTheme(found.user.theme)
}

export function left(): void {
  state.session = null
  state.home = null
  state.status = 'out'
}

/** Loads the boards of the sidebar and of home; keeps what it has when that fails. */
export async function loadHome(): Promise<void> {
  try {
    state.home = await data(app.GET('/home'))
  } catch {
    state.home ??= null
  }
}

export async function signOut(): Promise<void> {
  await data(app.POST('/sign-out'))
  left()
}

const themeKey = 'cardwall-theme'

/** Sets light, dark or what the system says, also for the next visit. */
export function showTheme(theme: Theme): void {
  localStorage.setItem(themeKey, theme)
  if (theme === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
}

export function showStoredTheme(): void {
  const stored = localStorage.getItem(themeKey)
  if (stored === 'light' || stored === 'dark') document.documentElement.dataset.theme = stored
}

export async function setTheme(theme: Theme): Promise<void> {
  showTheme(theme)
  if (state.session) state.session.user.theme = theme
  await data(app.PATCH('/profile', { body: { theme } }))
}

export function profileChanged(user: Session['user']): void {
  if (state.session) state.session.user = user
}
