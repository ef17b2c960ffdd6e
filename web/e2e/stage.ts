// The people and objects that the screens of screens.ts need in addition to the demo data. Each
// worker creates them once, through public interfaces.
import { randomUUID } from 'node:crypto'
import type { Page } from '@playwright/test'
import { secretLinkTo, send, server } from './fixtures'

/** The demo person; a person without a workspace; a person with an empty workspace and board; nobody. */
export type Who = 'demo' | 'newcomer' | 'founder' | 'nobody'

type Person = { email: string; password: string; cookie: string; signedInAt: number }

export type Stage = {
  people: Record<'demo' | 'newcomer' | 'founder', Person>
  workspaceId: string
  boardId: string
  /** A card with a description, a checklist and comments. */
  cardId: string
  /** The part of an email's link after the #. */
  invitation: string
  /** The query of a client's authorization request, and the code shown by a device. */
  request: string
  userCode: () => Promise<string>
  empty: { workspaceId: string; boardId: string }
  /** A webhook of the board whose receiver does not respond. */
  webhookId: string
  /** Filters of the demo person: one whose cards are on several boards, and one that is broken. */
  filters: { whole: string; broken: string }
  /** The URL of the board's public page, which accepts cards. */
  publicPage: string
}

const password = 'correct horse battery'

type ApiResult<T> = { data: T; cookie: string }

async function callApi<T>(method: string, path: string, given?: object, cookie?: string): Promise<ApiResult<T>> {
  const headers: Record<string, string> = { Origin: server().url }
  if (given) headers['Content-Type'] = 'application/json'
  if (cookie) headers.Cookie = cookie
  const response = await send(`/api${path}`, { method, headers, body: given && JSON.stringify(given) })
  if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`)
  const { data } = (await response.json()) as { data: T }
  return { data, cookie: response.headers.getSetCookie()[0]?.split(';')[0] ?? '' }
}

/** The secret in the link of the email to an address. */
const secretOf = async (email: string): Promise<string> => (await secretLinkTo(email)).split('#')[1]!

async function signUp(name: string): Promise<Person> {
  const email = `${name.split(' ')[0]!.toLowerCase()}-${randomUUID().slice(0, 8)}@example.com`
  await callApi('POST', '/app/v1/sign-up', { email, name, password, timeZone: 'Europe/Berlin' })
  const { cookie } = await callApi('POST', '/app/v1/verify-email', { secret: await secretOf(email) })
  return { email, password, cookie, signedInAt: Date.now() }
}

async function signIn(email: string, password: string): Promise<Person> {
  const { cookie } = await callApi('POST', '/app/v1/sign-in', { email, password })
  return { email, password, cookie, signedInAt: Date.now() }
}

const callback = 'https://assistant.example.com/callback'

/** Posts as a client without a session. */
async function postWithoutSession<T>(path: string, given: object, form = true): Promise<T> {
  const response = await send(path, {
    headers: form ? {} : { 'Content-Type': 'application/json' },
    body: form ? new URLSearchParams(given as Record<string, string>) : JSON.stringify(given),
  })
  if (!response.ok) throw new Error(`${path}: ${await response.text()}`)
  return (await response.json()) as T
}

/** Connects a client for the person, and lets it request access again. */
async function connect(person: Person): Promise<{ request: string; userCode: () => Promise<string> }> {
  const device = 'urn:ietf:params:oauth:grant-type:device_code'
  const { client_id } = await postWithoutSession<{ client_id: string }>(
    '/oauth/register',
    {
      client_name: 'Example Assistant',
      redirect_uris: [callback],
      grant_types: ['authorization_code', 'refresh_token', device],
    },
    false,
  )
  const request = new URLSearchParams({
    response_type: 'code',
    client_id,
    redirect_uri: callback,
    scope: 'read write admin',
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
  }).toString()
  const allowed = { query: request, scopes: ['read', 'write'] }
  const { data } = await callApi<{ redirectTo: string }>(
    'POST',
    '/app/v1/connect/authorization/allow',
    allowed,
    person.cookie,
  )
  await postWithoutSession('/oauth/token', {
    grant_type: 'authorization_code',
    client_id,
    code: new URL(data.redirectTo).searchParams.get('code'),
    code_verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
  })
  const userCode = async () =>
    (await postWithoutSession<{ user_code: string }>('/oauth/device_authorization', { client_id, scope: 'read write' }))
      .user_code
  return { request, userCode }
}

let created: Promise<Stage> | undefined

export function stage(): Promise<Stage> {
  created ??= make()
  return created
}

async function make(): Promise<Stage> {
  const { email, password } = server()
  const demo = await signIn(email, password)
  const as = <T>(person: Person, method: string, path: string, given?: object) =>
    callApi<T>(method, path, given, person.cookie).then((response) => response.data)
  const workspaces = await as<{ id: string }[]>(demo, 'GET', '/public/v1/workspaces')
  const workspaceId = workspaces[0]!.id
  const boards = await as<{ id: string }[]>(demo, 'GET', `/public/v1/boards?workspaceId=${workspaceId}`)
  const boardId = boards[0]!.id
  const cards = await as<{ id: string; title: string }[]>(demo, 'GET', `/public/v1/boards/${boardId}/cards?limit=200`)
  const cardId = cards.find((card) => card.title === 'Write the press release')!.id
  await as(demo, 'POST', `/public/v1/boards/${boardId}/open`).catch(() => undefined)

  const invited = `noor-${randomUUID().slice(0, 8)}@example.com`
  await as(demo, 'POST', `/public/v1/workspaces/${workspaceId}/invitations`, { email: invited, role: 'member' })

  const founder = await signUp('Elif Yilmaz')
  const own = await as<{ id: string }>(founder, 'POST', '/app/v1/workspaces', { name: 'Yilmaz & Co' })
  const bare = await as<{ id: string }>(founder, 'POST', '/public/v1/boards', {
    workspaceId: own.id,
    name: 'First board',
  })
  // Reuse what another worker created, because a board has limits.
  type Named = { id: string; name: string }
  const once = async (path: string, name: string, make: () => Promise<{ id: string }>) =>
    (await as<Named[]>(demo, 'GET', path)).find((one) => one.name === name) ?? (await make())
  const webhook = await once(`/public/v1/webhooks?workspaceId=${workspaceId}`, 'Deploy bot', async () => {
    const webhook = await as<{ id: string }>(demo, 'POST', '/public/v1/webhooks', {
      boardId,
      url: 'http://127.0.0.1:9/cards',
      events: ['card.created', 'card.moved'],
      name: 'Deploy bot',
    })
    await as(demo, 'POST', `/app/v1/webhooks/${webhook.id}/test`, {})
    return webhook
  })
  const filter = (name: string, query: string) =>
    once(`/public/v1/saved-filters?workspaceId=${workspaceId}`, name, () =>
      as(demo, 'POST', '/public/v1/saved-filters', { workspaceId, name, query, shared: true }),
    )
  const whole = await filter('Open, with a date', 'is:open due:any sort:due')
  const broken = await filter('Cards of a list that went', 'is:open list:lst_01jb2m3n4p5q6r7s8t9v0w1x2y')
  await once(`/public/v1/board-templates?workspaceId=${workspaceId}`, 'A launch, as we do it', () =>
    as(demo, 'POST', `/public/v1/boards/${boardId}/template`, { name: 'A launch, as we do it', includeCards: true }),
  )
  await as(demo, 'PATCH', `/public/v1/boards/${boardId}`, { features: { automation: true } })
  await once(`/app/v1/boards/${boardId}/rules`, 'Finished steps are told', () =>
    as(demo, 'POST', `/app/v1/boards/${boardId}/rules`, {
      name: 'Finished steps are told',
      when: { event: 'checklist_completed' },
      then: [{ operation: 'add_comment', input: { text: 'All steps are done.' } }],
    }),
  )
  const shared = await as<{ url: string }>(demo, 'PATCH', `/app/v1/boards/${boardId}/public-page`, {
    on: true,
    mode: 'submit',
    comments: true,
    names: true,
    welcome: 'We move to a new site in May. **Tell us** what is missing, or what you would miss.',
  })
  return {
    people: { demo, founder, newcomer: await signUp('Noah Berg') },
    workspaceId,
    boardId,
    cardId,
    invitation: await secretOf(invited),
    ...(await connect(demo)),
    empty: { workspaceId: own.id, boardId: bare.id },
    webhookId: webhook.id,
    filters: { whole: whole.id, broken: broken.id },
    publicPage: new URL(shared.url).pathname,
  }
}

/** Gives a browser the session of a person, with a recent sign-in. */
export async function enter(page: Page, who: Who): Promise<void> {
  await page.context().clearCookies()
  if (who === 'nobody') return
  const { people } = await stage()
  if (Date.now() - people[who].signedInAt > 5 * 60_000)
    people[who] = await signIn(people[who].email, people[who].password)
  const [name = '', value = ''] = people[who].cookie.split('=')
  await page.context().addCookies([{ name, value, url: server().url.replace('http:', 'https:'), secure: true }])
}
