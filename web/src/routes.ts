// All routes of the application. Most features define their routes in their own folder.
import type { Component } from 'svelte'
import { match } from './lib/router.svelte'
import { routes as audit } from './routes/audit'
import { routes as calendar } from './routes/calendar'
import { routes as automation } from './routes/automation'
import { routes as connect } from './routes/connect'
import { routes as dashboard } from './routes/dashboard'
import { routes as plan } from './routes/plan'
import { routes as notifications } from './routes/notifications'
import { routes as profile } from './routes/profile'
import { routes as publicPages } from './routes/public'
import { routes as search } from './routes/search'
import { routes as status } from './routes/status'
import { routes as templates } from './routes/templates'
import { routes as webhooks } from './routes/webhooks'
import { routes as workspace } from './routes/workspace'

/**
 * A page of the application. Open routes need no sign-in. Open and standalone routes
 * have no sidebar. Guest routes do not load the session.
 */
export type Route = {
  path: string
  load: () => Promise<{ default: unknown }>
  open?: boolean
  standalone?: boolean
  guest?: boolean
}

export type Page = Component<Record<string, string>>

const board = () => import('./routes/board/BoardRoute.svelte')

export const routes: readonly Route[] = [
  { path: '/', load: () => import('./routes/home/Home.svelte') },
  { path: '/boards/:boardId', load: board },
  { path: '/boards/:boardId/archive', load: () => import('./routes/board/BoardArchive.svelte') },
  { path: '/cards/:cardId', load: board },
  { path: '/sign-in', load: () => import('./routes/account/SignIn.svelte'), open: true },
  { path: '/sign-up', load: () => import('./routes/account/SignUp.svelte'), open: true },
  { path: '/verify', load: () => import('./routes/account/VerifyEmail.svelte'), open: true },
  { path: '/reset', load: () => import('./routes/account/PasswordReset.svelte'), open: true },
  { path: '/signed-in', load: () => import('./routes/account/SignedIn.svelte'), open: true },
  { path: '/first', load: () => import('./routes/account/FirstAccount.svelte'), open: true },
  { path: '/invitation', load: () => import('./routes/account/Invitation.svelte'), open: true },
  ...connect,
  ...publicPages,
  ...search,
  ...profile,
  ...notifications,
  ...workspace,
  ...webhooks,
  ...audit,
  ...calendar,
  ...dashboard,
  ...plan,
  ...status,
  ...templates,
  ...automation,
]

const notFound: Route = { path: '', load: () => import('./routes/shell/NotFound.svelte') }

export function routeOf(path: string): { route: Route; params: Record<string, string> } {
  for (const route of routes) {
    const params = match(route.path, path)
    if (params) return { route, params }
  }
  return { route: notFound, params: {} }
}
