import { expect, type Page } from '@playwright/test'
import type { Screen } from './screen'

async function signUp(page: Page): Promise<void> {
  await page.getByLabel('Your name').fill('Ines Castro')
  await page.getByLabel('Email address').fill('ines@example.com')
  await page.getByLabel('Password').fill('correct horse battery')
}

export const accounts: readonly Screen[] = [
  { name: 'sign-in', route: '/sign-in', user: 'visitor', path: () => '/sign-in' },
  {
    name: 'sign-in-refused',
    expectFailures: true,
    route: '/sign-in',
    user: 'visitor',
    path: () => '/sign-in',
    steps: async (page) => {
      await page.getByLabel('Email address').fill('ines@example.com')
      await page.getByLabel('Password').fill('not this one')
      await page.keyboard.press('Enter')
      await expect(page.getByRole('alert')).toContainText('password')
    },
  },
  {
    name: 'sign-in-expired',
    expectFailures: true,
    route: '/sign-in',
    path: () => '/my-cards',
    ready: (page) => page.getByRole('heading', { level: 1 }),
    steps: async (page) => {
      await page.context().clearCookies()
      await page.getByRole('link', { name: 'Search' }).first().dispatchEvent('click')
      await page.reload()
      await expect(page.getByRole('heading', { name: 'Sign in to Cardwall' })).toBeVisible()
    },
  },
  {
    name: 'sign-up',
    route: '/sign-up',
    user: 'visitor',
    path: () => '/sign-up',
    steps: signUp,
  },
  {
    name: 'sign-up-check-your-email',
    route: '/sign-up',
    user: 'visitor',
    path: () => '/sign-up',
    steps: async (page) => {
      await signUp(page)
      await page.keyboard.press('Enter')
      await expect(page.getByRole('heading', { name: 'Check your email' })).toBeVisible()
    },
  },
  {
    name: 'first-account',
    route: '/first',
    user: 'visitor',
    path: () => '/first#K7Q2M4XW3ZB5N6VD8RJHF9TCGP',
    steps: signUp,
  },
  { name: 'first-account-incomplete', route: '/first', user: 'visitor', path: () => '/first' },
  { name: 'signed-in', route: '/signed-in', path: () => '/signed-in' },
  { name: 'signed-in-without-session', route: '/signed-in', user: 'visitor', path: () => '/signed-in' },
  { name: 'verify', route: '/verify', user: 'visitor', path: () => '/verify#secret' },
  { name: 'reset', route: '/reset', user: 'visitor', path: () => '/reset' },
  {
    name: 'reset-check-your-email',
    route: '/reset',
    user: 'visitor',
    path: () => '/reset',
    steps: async (page) => {
      await page.getByLabel('Email address').fill('ines@example.com')
      await page.keyboard.press('Enter')
      await expect(page.getByRole('heading', { name: 'Check your email' })).toBeVisible()
    },
  },
  { name: 'reset-new-password', route: '/reset', user: 'visitor', path: () => '/reset#secret' },
  { name: 'invitation', route: '/invitation', user: 'visitor', path: (s) => `/invitation#${s.invitation}` },
  {
    name: 'invitation-invalid',
    expectFailures: true,
    route: '/invitation',
    user: 'visitor',
    path: () => '/invitation#wrong',
  },
]
