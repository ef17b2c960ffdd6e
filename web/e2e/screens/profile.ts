import { expect } from '@playwright/test'
import { button, dialog, type Screen } from './screen'

export const profile: readonly Screen[] = [
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
    fails: true,
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
    fails: true,
    route: '/profile/tokens',
    at: () => '/profile/tokens',
    first: (page) =>
      page.route('**/api/app/v1/tokens', (route) => {
        if (route.request().method() !== 'POST') return route.fallback()
        const message = 'Sign in again. This requires a sign-in within the last ten minutes.'
        const reason = 'recent_sign_in_required'
        return route.fulfill({ status: 403, json: { error: { code: 'forbidden', message, reason } } })
      }),
    then: async (page) => {
      await button(page, 'New token').click()
      await page.keyboard.type('Nightly report')
      await button(page, 'Create token').click()
      await expect(page.getByRole('dialog', { name: 'Confirm it’s you' })).toBeVisible()
    },
  },
]
