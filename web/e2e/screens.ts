// Every screen of the application, and how a person comes to it. The pictures,
// the checks of axe, of the keyboard and of narrow windows loop over this table;
// axe.spec.ts fails when an address of routes.ts is missing here.
import { expect, type Locator, type Page } from '@playwright/test'
import { server } from './fixtures'
import { enter, stage, type Stage, type Who } from './stage'

export type Screen = {
  /** Names its pictures and tests. */
  name: string
  /** The pattern of its address in the routes; empty for what has none. */
  route: string
  /** The demo person when absent. */
  who?: Who
  at: (s: Stage) => string
  /** What is there when the page is; its first heading when absent. */
  shows?: (page: Page) => Locator
  /** What a person does on the page to come to the screen. */
  then?: (page: Page, s: Stage) => Promise<void>
  /** Before the page is asked for. */
  first?: (page: Page) => Promise<unknown>
  /** The title of its window without the product's name; the heading when absent. */
  title?: RegExp
}

const dialog = (page: Page) => page.getByRole('dialog')
const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name })
const cards = (page: Page) => page.locator('[data-card]').first()
const unreachable = (path: string) => (page: Page) => page.route(path, (route) => route.abort())

async function signUp(page: Page): Promise<void> {
  await page.getByLabel('Your name').fill('Ines Castro')
  await page.getByLabel('E-mail address').fill('ines@example.com')
  await page.getByLabel('Password').fill('correct horse battery')
}

const accounts: Screen[] = [
  { name: 'sign-in', route: '/sign-in', who: 'nobody', at: () => '/sign-in' },
  {
    name: 'sign-in-refused',
    route: '/sign-in',
    who: 'nobody',
    at: () => '/sign-in',
    then: async (page) => {
      await page.getByLabel('E-mail address').fill('ines@example.com')
      await page.getByLabel('Password').fill('not this one')
      await page.keyboard.press('Enter')
      await expect(page.getByRole('alert')).toContainText('password')
    },
  },
  {
    name: 'sign-in-expired',
    route: '/sign-in',
    at: () => '/my-cards',
    shows: (page) => page.getByRole('heading', { level: 1 }),
    then: async (page) => {
      await page.context().clearCookies()
      await page.getByRole('link', { name: 'Search' }).first().dispatchEvent('click')
      await page.reload()
      await expect(page.getByRole('heading', { name: 'Sign in to Cardwall' })).toBeVisible()
    },
  },
  {
    name: 'sign-up',
    route: '/sign-up',
    who: 'nobody',
    at: () => '/sign-up',
    then: signUp,
  },
  {
    name: 'sign-up-check-your-mail',
    route: '/sign-up',
    who: 'nobody',
    at: () => '/sign-up',
    then: async (page) => {
      await signUp(page)
      await page.keyboard.press('Enter')
      await expect(page.getByRole('heading', { name: 'Check your mail' })).toBeVisible()
    },
  },
  { name: 'verify', route: '/verify', who: 'nobody', at: () => '/verify#secret' },
  { name: 'reset', route: '/reset', who: 'nobody', at: () => '/reset' },
  {
    name: 'reset-check-your-mail',
    route: '/reset',
    who: 'nobody',
    at: () => '/reset',
    then: async (page) => {
      await page.getByLabel('E-mail address').fill('ines@example.com')
      await page.keyboard.press('Enter')
      await expect(page.getByRole('heading', { name: 'Check your mail' })).toBeVisible()
    },
  },
  { name: 'reset-new-password', route: '/reset', who: 'nobody', at: () => '/reset#secret' },
  { name: 'invitation', route: '/invitation', who: 'nobody', at: (s) => `/invitation#${s.invitation}` },
  { name: 'invitation-none', route: '/invitation', who: 'nobody', at: () => '/invitation#wrong' },
]

const home: Screen[] = [
  { name: 'home', route: '/', at: () => '/', shows: (page) => button(page, 'New board').first() },
  {
    name: 'home-menu',
    route: '/',
    at: () => '/',
    shows: (page) => button(page, 'New board').first(),
    then: async (page) => {
      const menu = button(page, 'Menu')
      if (await menu.isVisible()) await menu.click()
      await button(page, 'Demo Person').click()
      await expect(page.getByRole('menu')).toBeVisible()
    },
  },
  {
    name: 'home-of-a-newcomer',
    route: '/',
    who: 'newcomer',
    at: () => '/',
    shows: (page) => page.getByRole('heading', { level: 2 }),
  },
  {
    name: 'new-workspace',
    route: '/',
    who: 'newcomer',
    at: () => '/',
    then: async (page) => {
      await button(page, 'New workspace').last().click()
      await expect(dialog(page)).toBeVisible()
    },
  },
  {
    name: 'new-board',
    route: '/',
    at: () => '/',
    then: async (page) => {
      await button(page, 'New board').first().click()
      await expect(dialog(page)).toBeVisible()
    },
  },
  {
    name: 'new-board-from-a-template',
    route: '/',
    at: () => '/',
    then: async (page) => {
      await button(page, 'Templates').first().click()
      await expect(dialog(page).getByRole('radio').first()).toBeAttached()
    },
  },
  {
    name: 'palette',
    route: '/',
    at: () => '/',
    shows: (page) => button(page, 'New board').first(),
    then: async (page) => {
      await page.keyboard.press('Control+k')
      await expect(dialog(page)).toBeVisible()
      await page.keyboard.type('p')
      await expect(page.getByRole('option').first()).toBeVisible()
    },
  },
  {
    name: 'keys',
    route: '/',
    at: () => '/',
    shows: (page) => button(page, 'New board').first(),
    then: async (page) => {
      await page.keyboard.press('?')
      await expect(dialog(page)).toBeVisible()
    },
  },
]

const workspace: Screen[] = [
  {
    name: 'members',
    route: '/workspaces/:workspaceId/members',
    at: (s) => `/workspaces/${s.workspaceId}/members`,
    shows: (page) => page.getByText('Jonas Lindqvist'),
  },
  {
    name: 'members-invite',
    route: '/workspaces/:workspaceId/members',
    at: (s) => `/workspaces/${s.workspaceId}/members`,
    shows: (page) => page.getByText('Jonas Lindqvist'),
    then: (page) =>
      page
        .getByRole('textbox')
        .first()
        .fill('Lena <lena@example.com>, tom@example.com, jonas@example.com, not an address'),
  },
  {
    name: 'members-alone',
    route: '/workspaces/:workspaceId/members',
    who: 'founder',
    at: (s) => `/workspaces/${s.empty.workspaceId}/members`,
  },
  {
    name: 'archive',
    route: '/workspaces/:workspaceId/archive',
    at: (s) => `/workspaces/${s.workspaceId}/archive`,
    shows: (page) => page.getByText('Spring campaign').last(),
  },
  {
    name: 'archive-of-a-board',
    route: '/workspaces/:workspaceId/archive',
    at: (s) => `/workspaces/${s.workspaceId}/archive?board=${s.boardId}`,
    shows: (page) => page.getByText('Postcards for the old customers'),
  },
  {
    name: 'archive-empty',
    route: '/workspaces/:workspaceId/archive',
    who: 'founder',
    at: (s) => `/workspaces/${s.empty.workspaceId}/archive`,
    shows: (page) => page.getByText('No archived boards'),
  },
  {
    name: 'trash',
    route: '/workspaces/:workspaceId/trash',
    at: (s) => `/workspaces/${s.workspaceId}/trash`,
    shows: (page) => page.getByText('Old newsletter'),
  },
  {
    name: 'trash-empty',
    route: '/workspaces/:workspaceId/trash',
    who: 'founder',
    at: (s) => `/workspaces/${s.empty.workspaceId}/trash`,
    shows: (page) => page.getByText('The trash is empty'),
  },
  {
    name: 'archive-at-its-board',
    route: '/boards/:boardId/archive',
    at: (s) => `/boards/${s.boardId}/archive`,
    shows: (page) => page.getByRole('heading', { level: 1, name: 'Archive' }),
  },
  {
    name: 'settings-of-a-workspace',
    route: '/workspaces/:workspaceId/settings',
    at: (s) => `/workspaces/${s.workspaceId}/settings`,
    shows: (page) => page.getByRole('heading', { level: 1, name: 'Settings' }),
  },
  {
    name: 'import',
    route: '/workspaces/:workspaceId/import',
    at: (s) => `/workspaces/${s.workspaceId}/import`,
    shows: (page) => page.getByText('Download').first(),
  },
]

const board: Screen[] = [
  {
    name: 'board',
    route: '/boards/:boardId',
    at: (s) => `/boards/${s.boardId}`,
    shows: cards,
    title: /^Launch of the new site/,
  },
  {
    name: 'board-filter',
    route: '/boards/:boardId',
    at: (s) => `/boards/${s.boardId}?q=content&done=false`,
    shows: cards,
  },
  {
    name: 'board-filter-nothing',
    route: '/boards/:boardId',
    at: (s) => `/boards/${s.boardId}?q=zeppelin`,
    shows: (page) => page.getByRole('heading', { level: 1 }),
  },
  {
    name: 'board-selection',
    route: '/boards/:boardId',
    at: (s) => `/boards/${s.boardId}`,
    shows: cards,
    then: async (page) => {
      for (const key of 'jxjxjx') await page.keyboard.press(key)
      await expect(page.getByText('3 selected')).toBeVisible()
    },
  },
  {
    name: 'board-composer',
    route: '/boards/:boardId',
    at: (s) => `/boards/${s.boardId}`,
    shows: cards,
    then: async (page) => {
      await page.keyboard.press('c')
      await page.keyboard.type('Stickers for the fair')
    },
  },
  {
    name: 'board-labels',
    route: '/boards/:boardId',
    at: (s) => `/boards/${s.boardId}`,
    shows: cards,
    then: async (page) => {
      await page.keyboard.press('j')
      await page.keyboard.press('l')
      await expect(dialog(page)).toBeVisible()
    },
  },
  {
    name: 'board-people',
    route: '/boards/:boardId',
    at: (s) => `/boards/${s.boardId}`,
    shows: cards,
    then: async (page) => {
      await page.keyboard.press('j')
      await page.keyboard.press('a')
      await expect(dialog(page)).toBeVisible()
    },
  },
  {
    name: 'board-menu',
    route: '/boards/:boardId',
    at: (s) => `/boards/${s.boardId}`,
    shows: cards,
    then: async (page) => {
      await button(page, 'Board menu').click()
      await expect(page.getByRole('menu')).toBeVisible()
    },
  },
  {
    name: 'board-empty',
    route: '/boards/:boardId',
    who: 'founder',
    at: (s) => `/boards/${s.empty.boardId}`,
    title: /^First board/,
  },
  {
    name: 'board-keys',
    route: '/boards/:boardId',
    at: (s) => `/boards/${s.boardId}`,
    shows: cards,
    then: async (page) => {
      await page.keyboard.press('?')
      await expect(dialog(page)).toBeVisible()
    },
  },
  { name: 'board-none', route: '/boards/:boardId', at: () => '/boards/brd_00000000000000000000000000' },
  {
    name: 'card',
    route: '/cards/:cardId',
    at: (s) => `/cards/${s.cardId}`,
    shows: (page) => dialog(page).getByText('asked Lena'),
    title: /^Write the press release/,
  },
  {
    name: 'card-due',
    route: '/cards/:cardId',
    at: (s) => `/cards/${s.cardId}`,
    shows: (page) => dialog(page).getByText('asked Lena'),
    then: async (page) => {
      await page.keyboard.press('d')
      await expect(page.getByRole('grid')).toBeVisible()
    },
  },
  {
    name: 'card-write',
    route: '/cards/:cardId',
    at: (s) => `/cards/${s.cardId}`,
    shows: (page) => dialog(page).getByText('asked Lena'),
    then: (page) => page.getByLabel('Comment', { exact: true }).fill('Sent. **Thank you!**'),
  },
  { name: 'card-none', route: '/cards/:cardId', at: () => '/cards/crd_00000000000000000000000000' },
]

const found = (page: Page) => page.locator('a[data-card]').first()

const search: Screen[] = [
  { name: 'search', route: '/search', at: () => '/search' },
  {
    name: 'search-results',
    route: '/search',
    at: () => `/search?q=${encodeURIComponent('is:open label:design')}`,
    shows: found,
  },
  {
    name: 'search-completion',
    route: '/search',
    at: () => '/search',
    then: async (page) => {
      await page.getByRole('combobox').first().pressSequentially('is:open d')
      await expect(page.getByRole('option').first()).toBeVisible()
    },
  },
  {
    name: 'search-nothing',
    route: '/search',
    at: () => '/search?q=zeppelin',
    shows: (page) => page.getByRole('heading', { level: 2 }).first(),
  },
  {
    name: 'search-refused',
    route: '/search',
    at: () => '/search?q=due:sometime',
    shows: (page) => page.getByRole('alert').first(),
  },
  {
    name: 'search-of-a-newcomer',
    route: '/search',
    who: 'newcomer',
    at: () => '/search',
  },
  {
    name: 'search-save',
    route: '/search',
    at: () => '/search?q=is:open',
    shows: found,
    then: async (page) => {
      await button(page, 'Save as filter').click()
      await expect(dialog(page)).toBeVisible()
    },
  },
  { name: 'my-cards', route: '/my-cards', at: () => '/my-cards', shows: found },
  {
    name: 'my-cards-of-a-newcomer',
    route: '/my-cards',
    who: 'newcomer',
    at: () => '/my-cards',
    shows: (page) => page.getByRole('heading', { level: 2 }),
  },
]

const profile: Screen[] = [
  { name: 'profile', route: '/profile', at: () => '/profile' },
  {
    name: 'profile-delete-account',
    route: '/profile',
    at: () => '/profile',
    then: async (page) => {
      await button(page, 'Delete account…').click()
      await expect(dialog(page)).toBeVisible()
    },
  },
  {
    name: 'security',
    route: '/profile/security',
    at: () => '/profile/security',
    shows: (page) => page.getByText('This browser'),
  },
  {
    name: 'tokens',
    route: '/profile/tokens',
    at: () => '/profile/tokens',
    shows: (page) => button(page, 'Revoke Demo'),
  },
  {
    name: 'tokens-none',
    route: '/profile/tokens',
    who: 'newcomer',
    at: () => '/profile/tokens',
    shows: (page) => page.getByText('No tokens yet'),
  },
  {
    name: 'token-new',
    route: '/profile/tokens',
    at: () => '/profile/tokens',
    then: async (page) => {
      await button(page, 'New token').click()
      await expect(dialog(page)).toBeVisible()
    },
  },
  {
    name: 'token-shown-once',
    route: '/profile/tokens',
    who: 'founder',
    at: () => '/profile/tokens',
    then: async (page) => {
      await button(page, 'New token').first().click()
      await page.keyboard.type('Nightly report')
      await button(page, 'Create token').click()
      await expect(page.getByRole('dialog', { name: 'Copy your token now' })).toBeVisible()
    },
  },
  {
    name: 'apps',
    route: '/profile/apps',
    at: () => '/profile/apps',
    shows: (page) => button(page, 'Disconnect Example Assistant').first(),
  },
  {
    name: 'apps-none',
    route: '/profile/apps',
    who: 'newcomer',
    at: () => '/profile/apps',
    shows: (page) => page.getByText('No connected apps'),
  },
  {
    name: 'app-disconnect',
    route: '/profile/apps',
    at: () => '/profile/apps',
    then: async (page) => {
      await button(page, 'Disconnect Example Assistant').first().click()
      await expect(dialog(page)).toBeVisible()
    },
  },
  {
    name: 'consent',
    route: '/oauth/authorize',
    at: (s) => `/oauth/authorize?${s.request}`,
    shows: (page) => button(page, 'Allow'),
  },
  {
    name: 'consent-refused',
    route: '/oauth/authorize',
    at: (s) => `/oauth/authorize?${s.request}&redirect_uri=https%3A%2F%2Fevil.example`,
    shows: (page) => page.getByRole('heading', { name: 'This request was refused' }),
  },
  { name: 'device', route: '/oauth/device', at: () => '/oauth/device', shows: (page) => page.getByLabel('Code') },
  {
    name: 'device-consent',
    route: '/oauth/device',
    at: () => '/oauth/device',
    then: async (page, s) => {
      await page.getByLabel('Code').fill(await s.userCode())
      await button(page, 'Continue').click()
      await expect(button(page, 'Allow')).toBeVisible()
    },
  },
  {
    name: 'confirm-sign-in',
    route: '/profile/tokens',
    at: () => '/profile/tokens',
    first: (page) =>
      page.route('**/api/app/v1/tokens', (route) => {
        if (route.request().method() !== 'POST') return route.fallback()
        const message = 'Sign in again: this needs a sign-in within the last ten minutes.'
        return route.fulfill({ status: 403, json: { error: { code: 'forbidden', message } } })
      }),
    then: async (page) => {
      await button(page, 'New token').click()
      await page.keyboard.type('Nightly report')
      await button(page, 'Create token').click()
      await expect(page.getByRole('dialog', { name: 'Confirm that it is you' })).toBeVisible()
    },
  },
]

const webhooks: Screen[] = [
  {
    name: 'webhooks',
    route: '/workspaces/:workspaceId/webhooks',
    at: (s) => `/workspaces/${s.workspaceId}/webhooks`,
    shows: (page) => page.getByText('Deploy bot').first(),
  },
  {
    name: 'webhooks-none',
    route: '/workspaces/:workspaceId/webhooks',
    who: 'founder',
    at: (s) => `/workspaces/${s.empty.workspaceId}/webhooks`,
    shows: (page) => page.getByText('No webhooks yet'),
  },
  {
    name: 'webhooks-of-a-board',
    route: '/boards/:boardId/webhooks',
    at: (s) => `/boards/${s.boardId}/webhooks`,
    shows: (page) => page.getByText('Deploy bot').first(),
  },
  {
    name: 'webhook-new',
    route: '/boards/:boardId/webhooks',
    at: (s) => `/boards/${s.boardId}/webhooks`,
    shows: (page) => page.getByText('Deploy bot').first(),
    then: async (page) => {
      await button(page, 'New webhook').first().click()
      await expect(dialog(page)).toBeVisible()
    },
  },
  {
    name: 'webhook',
    route: '/webhooks/:webhookId',
    at: (s) => `/webhooks/${s.webhookId}`,
    shows: (page) => page.getByText('Deploy bot').first(),
  },
  {
    name: 'deliveries',
    route: '/webhooks/:webhookId/deliveries',
    at: (s) => `/webhooks/${s.webhookId}/deliveries`,
    shows: (page) => page.getByRole('list', { name: 'Deliveries' }).getByRole('listitem').first(),
  },
  {
    name: 'audit',
    route: '/workspaces/:workspaceId/audit',
    at: (s) => `/workspaces/${s.workspaceId}/audit`,
    shows: (page) => page.getByRole('list', { name: 'Entries' }).getByRole('listitem').first(),
  },
]

const errors: Screen[] = [
  { name: 'not-found', route: '', at: () => '/nowhere' },
  { name: 'unreachable', route: '', at: () => '/', first: unreachable('**/api/app/v1/session') },
  { name: 'not-loaded', route: '', at: () => '/search', first: unreachable('**/assets/Search-*.js') },
]

export const screens: readonly Screen[] = [
  ...accounts,
  ...home,
  ...workspace,
  ...board,
  ...search,
  ...profile,
  ...webhooks,
  ...errors,
]

/** The first screen of each address: what is looked at in every way. */
export const mains = screens.filter((one, i) => screens.findIndex((other) => other.route === one.route) === i)

/** Brings a page to a screen. */
export async function show(page: Page, screen: Screen): Promise<void> {
  const s = await stage()
  await enter(page, screen.who ?? 'demo')
  await screen.first?.(page)
  await page.goto(server().url + screen.at(s))
  await expect((screen.shows ?? ((p) => p.getByRole('heading').first()))(page)).toBeVisible({ timeout: 15_000 })
  await screen.then?.(page, s)
  await expect(page.locator('.skeleton')).toHaveCount(0)
  await page.evaluate(() => document.fonts.ready.then(() => undefined))
  await settle(page)
}

/** Waits until a change of the page has been painted and nothing moves any more; at most a second. */
export async function settle(page: Page): Promise<void> {
  await page.evaluate(async () => {
    const frame = () => new Promise((painted) => requestAnimationFrame(painted))
    const still = async () => {
      await frame()
      await Promise.allSettled(document.getAnimations().map((animation) => animation.finished))
      await frame()
    }
    await Promise.race([still(), new Promise((later) => setTimeout(later, 1000))])
  })
}
