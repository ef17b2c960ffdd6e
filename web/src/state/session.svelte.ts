// Who is signed in, and what the sidebar shows of their workspaces.
import { ApiError, app, data, sendAs } from '../api/client'
import type { Home, Session, Theme } from '../api/contract'
import { onUnknown } from '../api/send'
import { drafts } from './drafts.svelte'
import { learnOffsets } from './due'
import { notifications } from './notifications.svelte'

/** What the session brings of home at once; the rest comes with loadHome. */
type KnownHome = Pick<Home, 'workspaces'> & Partial<Home>

/** The session ended while the page was open; perhaps another person is signed in now. */
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
  get ended() {
    return state.ended
  },
}

/** Asks who is signed in; null when nobody is. */
async function findSession(): Promise<Session | null> {
  try {
    return (await data(app.GET('/session/current'))).session
  } catch (thrown) {
    // A server of the version before, while all are upgraded, does not know that question.
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
    if (found) entered(found)
    else state.status = 'out'
  } catch {
    state.status = 'unreachable'
  }
}

/** Somebody signed in, or did so before. On the page of another person only that is said. */
export function entered(found: Session): void {
  const before = state.session
  if (before && before.user.id !== found.user.id) {
    end({ other: found.user })
    return
  }
  learnOffsets(found.user.timeZone, found.zoneOffsets)
  drafts.of(found.user.id)
  sendAs(found.user.id)
  state.session = found
  state.home = { ...(before ? state.home : null), workspaces: found.workspaces }
  notifications.begin(found.unread)
  state.status = 'in'
  showTheme(found.user.theme)
  tabs?.postMessage(found.user.id)
  resume(true)
}

export function left(): void {
  resume(false)
  state.session = null
  state.home = null
  state.status = 'out'
}

// -- a session that ends while the page is open --

/** What was asked after the end of the session waits for this: true when the person is signed in again. */
let again: { resumed: Promise<boolean>; resume: (signedIn: boolean) => void } | null = null

function end(how: Ended): Promise<boolean> {
  state.ended = how
  if (!again) {
    let resume: (signedIn: boolean) => void = () => undefined
    const resumed = new Promise<boolean>((done) => (resume = done))
    again = { resumed, resume }
  }
  return again.resumed
}

function resume(signedIn: boolean): void {
  state.ended = null
  again?.resume(signedIn)
  again = null
}

/** Finds out whether the session has ended; then waits for the next sign-in, and returns whether there was one. */
export async function signedInAgain(): Promise<boolean> {
  if (state.status !== 'in') return false
  const waiting = again?.resumed
  if (waiting) return waiting
  const found = await findSession()
  if (state.status !== 'in') return false
  if (found && found.user.id === state.session?.user.id) return false
  return end({ other: found?.user ?? null })
}

onUnknown(signedInAgain)

/** Tells the other tabs who signed in, and hears of them. */
const tabs = 'BroadcastChannel' in globalThis ? new BroadcastChannel('cardwall-session') : null
if (tabs) {
  tabs.onmessage = async (event: MessageEvent<string>) => {
    if (state.status !== 'in' || (!state.ended && event.data === state.session?.user.id)) return
    const found = await findSession().catch(() => null)
    if (found && state.session) entered(found)
  }
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
  drafts.clear()
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
