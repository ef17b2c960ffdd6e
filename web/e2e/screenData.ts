// The accounts and records that the screens need in addition to the demo data. Each worker creates
// them once, through the server's APIs.
import { randomUUID } from 'node:crypto'
import type { Page } from '@playwright/test'
import { secretLinkTo, send, server } from './fixtures'

/**
 * The user of a screen: the demo account; a newcomer without a workspace; a founder with an empty
 * board in an empty workspace; or a visitor who is not signed in.
 */
export type ScreenUser = 'demo' | 'newcomer' | 'founder' | 'visitor'

type Account = { email: string; password: string; cookie: string; signedInAt: number }

export type ScreenData = {
  accounts: Record<'demo' | 'newcomer' | 'founder', Account>
  workspaceId: string
  boardId: string
  /** A card with a description, a checklist and comments. */
  cardId: string
  /** The secret in the link of a pending invitation. */
  invitation: string
  /** The query of a client's authorization request. */
  authorizationQuery: string
  /** Requests a new code for a device. */
  userCode: () => Promise<string>
  /** The founder's workspace and board. */
  empty: { workspaceId: string; boardId: string }
  /** A webhook of the board whose receiver does not respond. */
  webhookId: string
  /** Saved filters of the demo account. The broken one refers to a list that does not exist. */
  filters: { valid: string; broken: string }
  /** The path of the board's public page, which accepts cards. */
  publicPage: string
}

const password = 'correct horse battery'

type ApiResult<T> = { data: T; cookie: string }

async function callApi<T>(method: string, path: string, body?: object, cookie?: string): Promise<ApiResult<T>> {
  const headers: Record<string, string> = { Origin: server().url }
  if (body) headers['Content-Type'] = 'application/json'
  if (cookie) headers.Cookie = cookie
  const response = await send(`/api${path}`, { method, headers, body: body && JSON.stringify(body) })
  if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`)
  const { data } = (await response.json()) as { data: T }
  return { data, cookie: response.headers.getSetCookie()[0]?.split(';')[0] ?? '' }
}

/** Returns the secret from the link in the email that was sent to an address. */
const emailedSecret = async (email: string): Promise<string> => (await secretLinkTo(email)).split('#')[1]!

async function signUp(name: string): Promise<Account> {
  const email = `${name.split(' ')[0]!.toLowerCase()}-${randomUUID().slice(0, 8)}@example.com`
  await callApi('POST', '/app/v1/sign-up', { email, name, password, timeZone: 'Europe/Berlin' })
  const { cookie } = await callApi('POST', '/app/v1/verify-email', { secret: await emailedSecret(email) })
  return { email, password, cookie, signedInAt: Date.now() }
}

async function signIn(email: string, password: string): Promise<Account> {
  const { cookie } = await callApi('POST', '/app/v1/sign-in', { email, password })
  return { email, password, cookie, signedInAt: Date.now() }
}

const callback = 'https://assistant.example.com/callback'

/** Posts without a session, as an OAuth client does: form-encoded or as JSON. */
async function postWithoutSession<T>(path: string, fields: object, form = true): Promise<T> {
  const response = await send(path, {
    headers: form ? {} : { 'Content-Type': 'application/json' },
    body: form ? new URLSearchParams(fields as Record<string, string>) : JSON.stringify(fields),
  })
  if (!response.ok) throw new Error(`${path}: ${await response.text()}`)
  return (await response.json()) as T
}

/** Connects an OAuth client to an account. It comments on a card. Prepares its next authorization requests. */
async function connectClient(
  account: Account,
  cardId: string,
): Promise<{ authorizationQuery: string; userCode: () => Promise<string> }> {
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
  const authorizationQuery = new URLSearchParams({
    response_type: 'code',
    client_id,
    redirect_uri: callback,
    scope: 'read write admin',
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
  }).toString()
  const consent = { query: authorizationQuery, scopes: ['read', 'write'] }
  const { data } = await callApi<{ redirectTo: string }>(
    'POST',
    '/app/v1/connect/authorization/allow',
    consent,
    account.cookie,
  )
  const { access_token } = await postWithoutSession<{ access_token: string }>('/oauth/token', {
    grant_type: 'authorization_code',
    client_id,
    code: new URL(data.redirectTo).searchParams.get('code'),
    code_verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
  })
  const headers = { Authorization: `Bearer ${access_token}`, 'Content-Type': 'application/json' }
  const comment = JSON.stringify({ text: 'The photographer has sent three pictures.' })
  const response = await send(`/api/public/v1/cards/${cardId}/comments`, { headers, body: comment })
  if (!response.ok) throw new Error(`add_comment: ${await response.text()}`)
  const userCode = async () =>
    (await postWithoutSession<{ user_code: string }>('/oauth/device_authorization', { client_id, scope: 'read write' }))
      .user_code
  return { authorizationQuery, userCode }
}

let created: Promise<ScreenData> | undefined

/** Returns the data of this worker, and creates it on the first call. */
export function screenData(): Promise<ScreenData> {
  created ??= createData()
  return created
}

async function createData(): Promise<ScreenData> {
  const { email, password } = server()
  const demo = await signIn(email, password)
  const callAs = <T>(account: Account, method: string, path: string, body?: object) =>
    callApi<T>(method, path, body, account.cookie).then((response) => response.data)
  const workspaces = await callAs<{ id: string }[]>(demo, 'GET', '/public/v1/workspaces')
  const workspaceId = workspaces[0]!.id
  const boards = await callAs<{ id: string }[]>(demo, 'GET', `/public/v1/boards?workspaceId=${workspaceId}`)
  const boardId = boards[0]!.id
  const cards = await callAs<{ id: string; title: string }[]>(
    demo,
    'GET',
    `/public/v1/boards/${boardId}/cards?limit=200`,
  )
  const cardId = cards.find((card) => card.title === 'Write the press release')!.id

  const invited = `noor-${randomUUID().slice(0, 8)}@example.com`
  await callAs(demo, 'POST', `/public/v1/workspaces/${workspaceId}/invitations`, { email: invited, role: 'member' })

  const founder = await signUp('Elif Yilmaz')
  const foundersWorkspace = await callAs<{ id: string }>(founder, 'POST', '/app/v1/workspaces', { name: 'Yilmaz & Co' })
  const emptyBoard = await callAs<{ id: string }>(founder, 'POST', '/public/v1/boards', {
    workspaceId: foundersWorkspace.id,
    name: 'First board',
    color: 'teal',
  })
  // Reuse records that another worker created, because their number is limited.
  type Named = { id: string; name: string }
  const findOrCreate = async (path: string, name: string, create: () => Promise<{ id: string }>) =>
    (await callAs<Named[]>(demo, 'GET', path)).find((record) => record.name === name) ?? (await create())
  const webhook = await findOrCreate(`/public/v1/webhooks?workspaceId=${workspaceId}`, 'Deploy bot', async () => {
    const webhook = await callAs<{ id: string }>(demo, 'POST', '/public/v1/webhooks', {
      boardId,
      url: 'http://127.0.0.1:9/cards',
      events: ['card.created', 'card.moved'],
      name: 'Deploy bot',
      headers: [
        { name: 'Authorization', value: 'Bearer 3f9c' },
        { name: 'X-Team', value: 'web' },
      ],
    })
    await callAs(demo, 'POST', `/app/v1/webhooks/${webhook.id}/test`, {})
    return webhook
  })
  const filter = (name: string, query: string) =>
    findOrCreate(`/public/v1/saved-filters?workspaceId=${workspaceId}`, name, () =>
      callAs(demo, 'POST', '/public/v1/saved-filters', { workspaceId, name, query, shared: true }),
    )
  const valid = await filter('Open, with a date', 'is:open due:any sort:due')
  const broken = await filter('Cards of a deleted list', 'is:open list:lst_01jb2m3n4p5q6r7s8t9v0w1x2y')
  await findOrCreate(`/public/v1/board-templates?workspaceId=${workspaceId}`, 'Launch template', () =>
    callAs(demo, 'POST', `/public/v1/boards/${boardId}/template`, { name: 'Launch template', includeCards: true }),
  )
  await callAs(demo, 'PATCH', `/public/v1/boards/${boardId}`, { features: { automation: true } })
  await findOrCreate(`/app/v1/boards/${boardId}/rules`, 'Comment on finished checklists', () =>
    callAs(demo, 'POST', `/app/v1/boards/${boardId}/rules`, {
      name: 'Comment on finished checklists',
      when: { event: 'checklist_completed' },
      then: [{ operation: 'add_comment', input: { text: 'All steps are done.' } }],
    }),
  )
  const shared = await callAs<{ url: string }>(demo, 'PATCH', `/app/v1/boards/${boardId}/public-page`, {
    on: true,
    mode: 'submit',
    comments: true,
    names: true,
    welcome: 'We move to a new site in May. **Tell us** what is missing, or what you would miss.',
  })
  return {
    accounts: { demo, founder, newcomer: await signUp('Noah Berg') },
    workspaceId,
    boardId,
    cardId,
    invitation: await emailedSecret(invited),
    ...(await connectClient(demo, cardId)),
    empty: { workspaceId: foundersWorkspace.id, boardId: emptyBoard.id },
    webhookId: webhook.id,
    filters: { valid: valid.id, broken: broken.id },
    publicPage: new URL(shared.url).pathname,
  }
}

/** Gives a browser the session of a user, with a recent sign-in. */
export async function startSession(page: Page, user: ScreenUser): Promise<void> {
  await page.context().clearCookies()
  if (user === 'visitor') return
  const { accounts } = await screenData()
  // eslint-disable-next-line no-restricted-syntax -- the server requires a sign-in within the last ten minutes
  if (Date.now() - accounts[user].signedInAt > 5 * 60_000) {
    accounts[user] = await signIn(accounts[user].email, accounts[user].password)
  }
  const [name = '', value = ''] = accounts[user].cookie.split('=')
  await page.context().addCookies([{ name, value, url: server().url.replace('http:', 'https:'), secure: true }])
}
