import { expect, type Page } from '@playwright/test'
import type { Screen } from './screen'

async function signUp(page: Page): Promise<void> {
  await page.getByLabel('Your name').fill('Ines Castro')
  await page.getByLabel('Email address').fill('ines@example.com')
  await page.getByLabel('Password').fill('correct horse battery')
}

export const accounts: readonly Screen[] = [
  { name: 'sign-in', route: '/sign-in', who: 'nobody', at: () => '/sign-in' },
  {
    name: 'sign-in-refused',
    fails: true,
    route: '/sign-in',
    who: 'nobody',
    at: () => '/sign-in',
    then: async (page) => {
      await page.getByLabel('Email address').fill('ines@example.com')
      await page.getByLabel('Password').fill('not this one')
      await page.keyboard.press('Enter')
      await expect(page.getByRole('alert')).toContainText('password')
    },
  },
  {
    name: 'sign-in-expired',
    fails: true,
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
      await expect(page.getByRole('heading', { name: 'Check your email' })).toBeVisible()
    },
  },
  {
    name: 'first-account',
    route: '/first',
    who: 'nobody',
    at: () => '/first#K7Q2M4XW3ZB5N6VD8RJHF9TCGP',
    then: signUp,
  },
  { name: 'first-account-incomplete', route: '/first', who: 'nobody', at: () => '/first' },
  { name: 'signed-in', route: '/signed-in', at: () => '/signed-in' },
  { name: 'signed-in-not', route: '/signed-in', who: 'nobody', at: () => '/signed-in' },
  { name: 'verify', route: '/verify', who: 'nobody', at: () => '/verify#secret' },
  { name: 'reset', route: '/reset', who: 'nobody', at: () => '/reset' },
  {
    name: 'reset-check-your-mail',
    route: '/reset',
    who: 'nobody',
    at: () => '/reset',
    then: async (page) => {
      await page.getByLabel('Email address').fill('ines@example.com')
      await page.keyboard.press('Enter')
      await expect(page.getByRole('heading', { name: 'Check your email' })).toBeVisible()
    },
  },
  { name: 'reset-new-password', route: '/reset', who: 'nobody', at: () => '/reset#secret' },
  { name: 'invitation', route: '/invitation', who: 'nobody', at: (s) => `/invitation#${s.invitation}` },
  { name: 'invitation-none', fails: true, route: '/invitation', who: 'nobody', at: () => '/invitation#wrong' },
]
