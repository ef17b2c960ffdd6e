import { expect } from '@playwright/test'
import { png } from '../png'
import { button, dialog, type Screen } from './screen'

export const profile: readonly Screen[] = [
  { name: 'profile', route: '/profile', path: () => '/profile' },
  {
    name: 'profile-picture',
    route: '/profile',
    user: 'newcomer',
    path: () => '/profile',
    steps: async (page) => {
      await page
        .getByLabel('Picture', { exact: true })
        .setInputFiles({ name: 'me.png', mimeType: 'image/png', buffer: png(400, 400) })
      await expect(page.getByRole('main').locator('img')).toHaveCSS('opacity', '1')
    },
  },
  {
    name: 'profile-delete-account',
    route: '/profile',
    path: () => '/profile',
    steps: async (page) => {
      await button(page, 'Delete account…').click()
      await expect(dialog(page)).toBeVisible()
    },
  },
  {
    name: 'security',
    route: '/profile/security',
    path: () => '/profile/security',
    ready: (page) => page.getByText('This browser'),
  },
  {
    name: 'tokens',
    route: '/profile/tokens',
    path: () => '/profile/tokens',
    ready: (page) => button(page, 'Revoke Demo'),
  },
  {
    name: 'tokens-empty',
    route: '/profile/tokens',
    user: 'newcomer',
    path: () => '/profile/tokens',
    ready: (page) => page.getByText('No tokens yet'),
  },
  {
    name: 'token-new',
    route: '/profile/tokens',
    path: () => '/profile/tokens',
    steps: async (page) => {
      await button(page, 'New token').click()
      await expect(dialog(page)).toBeVisible()
    },
  },
  {
    name: 'token-shown-once',
    route: '/profile/tokens',
    user: 'founder',
    path: () => '/profile/tokens',
    steps: async (page) => {
      await button(page, 'New token').first().click()
      await page.keyboard.type('Nightly report')
      await button(page, 'Create token').click()
      await expect(page.getByRole('dialog', { name: 'Copy your token now' })).toBeVisible()
    },
  },
  {
    name: 'apps',
    route: '/profile/apps',
    path: () => '/profile/apps',
    ready: (page) => button(page, 'Disconnect Example Assistant').first(),
  },
  {
    name: 'apps-empty',
    route: '/profile/apps',
    user: 'newcomer',
    path: () => '/profile/apps',
    ready: (page) => page.getByText('No connected apps'),
  },
  {
    name: 'app-undo',
    route: '/profile/apps',
    path: () => '/profile/apps',
    steps: async (page) => {
      await button(page, 'Undo changes by Example Assistant').first().click()
      await dialog(page).getByText('Show changes').first().click()
    },
  },
  {
    name: 'app-undone',
    route: '/profile/apps',
    path: () => '/profile/apps',
    steps: async (page) => {
      const kept = {
        message: 'Ada Chen changed the title of the card since.',
        cardId: 'crd_01jb2m3n4p5q6r7s8t9v0w1x2y',
      }
      const result = {
        callId: 'aud_01jb2m3n4p5q6r7s8t9v0w1x2y',
        undone: 2,
        alreadyUndone: 1,
        refused: 3,
        reasons: [kept],
      }
      await page.route('**/api/public/v1/boards/*/undo', (route) => route.fulfill({ json: { data: result } }))
      await button(page, 'Undo changes by Example Assistant').first().click()
      await button(page, /^Undo \d+ change/).click()
      await expect(dialog(page).getByRole('status').first()).toBeFocused()
    },
  },
  {
    name: 'app-disconnect',
    route: '/profile/apps',
    path: () => '/profile/apps',
    steps: async (page) => {
      await button(page, 'Disconnect Example Assistant').first().click()
      await expect(dialog(page)).toBeVisible()
    },
  },
  {
    name: 'consent',
    route: '/oauth/authorize',
    path: (s) => `/oauth/authorize?${s.authorizationQuery}`,
    ready: (page) => button(page, 'Allow'),
  },
  {
    name: 'consent-refused',
    expectFailures: true,
    route: '/oauth/authorize',
    path: (s) => `/oauth/authorize?${s.authorizationQuery}&redirect_uri=https%3A%2F%2Fevil.example`,
    ready: (page) => page.getByRole('heading', { name: 'This app can’t be connected' }),
  },
  { name: 'device', route: '/oauth/device', path: () => '/oauth/device', ready: (page) => page.getByLabel('Code') },
  {
    name: 'device-consent',
    route: '/oauth/device',
    path: () => '/oauth/device',
    steps: async (page, s) => {
      await page.getByLabel('Code').fill(await s.userCode())
      await button(page, 'Continue').click()
      await expect(button(page, 'Allow')).toBeVisible()
    },
  },
  {
    name: 'confirm-sign-in',
    expectFailures: true,
    route: '/profile/tokens',
    path: () => '/profile/tokens',
    prepare: (page) =>
      page.route('**/api/app/v1/tokens', (route) => {
        if (route.request().method() !== 'POST') return route.fallback()
        const message = 'Sign in again. This requires a sign-in within the last ten minutes.'
        const reason = 'recent_sign_in_required'
        return route.fulfill({ status: 403, json: { error: { code: 'forbidden', message, reason } } })
      }),
    steps: async (page) => {
      await button(page, 'New token').click()
      await page.keyboard.type('Nightly report')
      await button(page, 'Create token').click()
      await expect(page.getByRole('dialog', { name: 'Confirm it’s you' })).toBeVisible()
    },
  },
]
