// The session of the signed-in user, and their workspaces.
import { ApiError, app, data, sendAs } from '../api/client'
import type { Home, Session, Theme } from '../api/contract'
import { onUnauthorized } from '../api/send'
import { addAvatars, clearAvatars } from './avatars.svelte'
import { drafts } from './drafts.svelte'
import { setServerOffsets } from './due'
import { notifications } from './notifications.svelte'

/** The home data. The session includes the workspaces; loadHome loads the rest. */
type PartialHome = Pick<Home, 'workspaces'> & Partial<Home>

/** A session that ended while the page was open. `otherUser` is set if another user is now signed in. */
type Ended = { otherUser: Session['user'] | null }

type State = {
  status: 'loading' | 'signed-out' | 'signed-in' | 'unreachable'
  session: Session | null
  home: PartialHome | null
  ended: Ended | null
}

const state = $state<State>({ status: 'loading', session: null, home: null, ended: null })

export const session = {
  get status() {
    return state.status
  },
  /** The session. Throws if no one is signed in, so only pages that require a sign-in may use it. */
  get current(): Session {
    if (!state.session) throw new Error('no one is signed in')
    return state.session
  },
  get me() {
    return this.current.user
  },
  /** The ID of the signed-in user, or null if no one is signed in. */
  get userId(): string | null {
    return state.session?.user.id ?? null
  },
  get home() {
    return state.home
  },
  get workspaces() {
    return state.home?.workspaces ?? []
  },
  get ended() {
    return state.ended
  },
}

/** Loads the session, or returns null if no one is signed in. */
async function findSession(): Promise<Session | null> {
  try {
    return (await data(app.GET('/session/current'))).session
  } catch (thrown) {
    // During an upgrade, a server of the previous version does not have this operation.
    if (!(thrown instanceof ApiError) || thrown.status !== 404) throw thrown
    return data(app.GET('/session')).catch((thrown: unknown) => {
      if (thrown instanceof ApiError && thrown.status === 401) return null
      throw thrown
    })
  }
}

export async function loadSession(): Promise<void> {
  try {
    const found = await findSession()
    if (found) startSession(found)
    else state.status = 'signed-out'
  } catch {
    state.status = 'unreachable'
  }
}

/** Starts a session. If the page belongs to a different user, marks that user’s session as ended instead. */
export function startSession(found: Session): void {
  const previous = state.session
  if (previous && previous.user.id !== found.user.id) {
    end({ otherUser: found.user })
    return
  }
  setServerOffsets(found.user.timeZone, found.zoneOffsets)
  drafts.setUser(found.user.id)
  sendAs(found.user.id)
  addAvatars([found.user])
  state.session = found
  state.home = { ...(previous ? state.home : null), workspaces: found.workspaces }
  notifications.begin(found.unread)
  state.status = 'signed-in'
  showTheme(found.user.theme)
  tabs?.postMessage(found.user.id)
  resume(true)
}

const clearListeners: (() => void)[] = []

/** Calls `listener` each time the session was cleared. Code that is loaded on demand then discards the user's data. */
export function onSessionCleared(listener: () => void): void {
  clearListeners.push(listener)
}

export function clearSession(): void {
  resume(false)
  clearAvatars()
  state.session = null
  state.home = null
  state.status = 'signed-out'
  for (const notify of clearListeners) notify()
}

// -- sessions that end while the page is open --

/** Requests wait for `resumed` after the session has ended. It resolves to whether the user signed in again. */
let pendingSignIn: { resumed: Promise<boolean>; resume: (signedIn: boolean) => void } | null = null

function end(ended: Ended): Promise<boolean> {
  state.ended = ended
  if (!pendingSignIn) {
    let resume: (signedIn: boolean) => void = () => undefined
    const resumed = new Promise<boolean>((resolve) => (resume = resolve))
    pendingSignIn = { resumed, resume }
  }
  return pendingSignIn.resumed
}

function resume(signedIn: boolean): void {
  state.ended = null
  pendingSignIn?.resume(signedIn)
  pendingSignIn = null
}

/**
 * Checks whether the session has ended. If so, waits for the next sign-in. Reports
 * whether the user signed in again.
 */
export async function signedInAgain(): Promise<boolean> {
  if (state.status !== 'signed-in') return false
  const waiting = pendingSignIn?.resumed
  if (waiting) return waiting
  const found = await findSession()
  if (state.status !== 'signed-in') return false
  if (found && found.user.id === state.session?.user.id) return false
  return end({ otherUser: found?.user ?? null })
}

onUnauthorized(signedInAgain)

/** The channel that notifies the other tabs of sign-ins, or null if the browser does not support it. */
const tabs = 'BroadcastChannel' in globalThis ? new BroadcastChannel('cardwall-session') : null
if (tabs) {
  tabs.onmessage = async (event: MessageEvent<string>) => {
    if (state.status !== 'signed-in' || (!state.ended && event.data === state.session?.user.id)) return
    const found = await findSession().catch(() => null)
    if (found && state.session) startSession(found)
  }
}

/** Loads the boards of the sidebar and the home page. If this fails, keeps the current boards. */
export async function loadHome(): Promise<void> {
  try {
    state.home = await data(app.GET('/home'))
  } catch {
    state.home ??= null
  }
}

export async function signOut(): Promise<void> {
  await data(app.POST('/sign-out'))
  drafts.clear()
  clearSession()
}

const themeKey = 'cardwall-theme'

/** Applies a theme and stores it in the browser for the next visit. */
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

export function updateProfile(user: Session['user']): void {
  if (!state.session) return
  state.session.user = user
  addAvatars([user])
}
