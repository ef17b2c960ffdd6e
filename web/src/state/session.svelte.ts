// The session of the person who is signed in, and their workspaces.
import { ApiError, app, data, sendAs } from '../api/client'
import type { Home, Session, Theme } from '../api/contract'
import { onUnauthorized } from '../api/send'
import { drafts } from './drafts.svelte'
import { learnOffsets } from './due'
import { notifications } from './notifications.svelte'

/** The part of home that comes with the session. loadHome loads the rest. */
type KnownHome = Pick<Home, 'workspaces'> & Partial<Home>

/** Set when the session ended while the page was open. Another person may be signed in. */
type Ended = { other: Session['user'] | null }

type State = {
  status: 'asking' | 'out' | 'in' | 'unreachable'
  session: Session | null
  home: KnownHome | null
  ended: Ended | null
}

const state = $state<State>({ status: 'asking', session: null, home: null, ended: null })

export const session = {
  get status() {
    return state.status
  },
  /** The session. Only for pages that require a sign-in. */
  get current(): Session {
    if (!state.session) throw new Error('no one is signed in')
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
    else state.status = 'out'
  } catch {
    state.status = 'unreachable'
  }
}

/** Starts a session. If the page belongs to another person, it only reports that. */
export function startSession(found: Session): void {
  const before = state.session
  if (before && before.user.id !== found.user.id) {
    end({ other: found.user })
    return
  }
  learnOffsets(found.user.timeZone, found.zoneOffsets)
  drafts.setUser(found.user.id)
  sendAs(found.user.id)
  state.session = found
  state.home = { ...(before ? state.home : null), workspaces: found.workspaces }
  notifications.begin(found.unread)
  state.status = 'in'
  showTheme(found.user.theme)
  tabs?.postMessage(found.user.id)
  resume(true)
}

export function clearSession(): void {
  resume(false)
  state.session = null
  state.home = null
  state.status = 'out'
}

// -- a session that ends while the page is open --

/** Requests after the end of the session wait for this. It resolves to true if the person signs in again. */
let pendingSignIn: { resumed: Promise<boolean>; resume: (signedIn: boolean) => void } | null = null

function end(ended: Ended): Promise<boolean> {
  state.ended = ended
  if (!pendingSignIn) {
    let resume: (signedIn: boolean) => void = () => undefined
    const resumed = new Promise<boolean>((done) => (resume = done))
    pendingSignIn = { resumed, resume }
  }
  return pendingSignIn.resumed
}

function resume(signedIn: boolean): void {
  state.ended = null
  pendingSignIn?.resume(signedIn)
  pendingSignIn = null
}

/** Checks whether the session has ended. If so, it waits for the next sign-in and reports whether there was one. */
export async function signedInAgain(): Promise<boolean> {
  if (state.status !== 'in') return false
  const waiting = pendingSignIn?.resumed
  if (waiting) return waiting
  const found = await findSession()
  if (state.status !== 'in') return false
  if (found && found.user.id === state.session?.user.id) return false
  return end({ other: found?.user ?? null })
}

onUnauthorized(signedInAgain)

/** Notifies the other tabs of sign-ins. */
const tabs = 'BroadcastChannel' in globalThis ? new BroadcastChannel('cardwall-session') : null
if (tabs) {
  tabs.onmessage = async (event: MessageEvent<string>) => {
    if (state.status !== 'in' || (!state.ended && event.data === state.session?.user.id)) return
    const found = await findSession().catch(() => null)
    if (found && state.session) startSession(found)
  }
}

/** Loads the boards of the sidebar and home. If loading fails, it keeps the current ones. */
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

/** Applies a theme, and stores it for the next visit. */
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
  if (state.session) state.session.user = user
}
