import { expect } from '@playwright/test'
import { button, dialog, type Screen } from './screen'

export const home: readonly Screen[] = [
  { name: 'home', route: '/', path: () => '/', ready: (page) => button(page, 'New board').first() },
  {
    name: 'home-menu',
    route: '/',
    path: () => '/',
    ready: (page) => button(page, 'New board').first(),
    steps: async (page) => {
      const menu = button(page, 'Menu')
      if (await menu.isVisible()) await menu.click()
      await button(page, 'Demo Person').click()
      await expect(page.getByRole('menu')).toBeVisible()
    },
  },
  {
    name: 'home-without-workspace',
    route: '/',
    user: 'newcomer',
    path: () => '/',
    ready: (page) => page.getByRole('heading', { level: 2 }),
  },
  {
    name: 'new-workspace',
    route: '/',
    user: 'newcomer',
    path: () => '/',
    steps: async (page) => {
      await button(page, 'New workspace').last().click()
      await expect(dialog(page)).toBeVisible()
    },
  },
  {
    name: 'new-board',
    route: '/',
    path: () => '/',
    steps: async (page) => {
      await button(page, 'New board').first().click()
      await expect(dialog(page)).toBeVisible()
    },
  },
  {
    name: 'new-board-from-a-template',
    route: '/',
    path: () => '/',
    steps: async (page) => {
      await button(page, 'Templates').first().click()
      await expect(dialog(page).getByRole('radio').first()).toBeAttached()
    },
  },
  {
    name: 'palette',
    route: '/',
    path: () => '/',
    ready: (page) => button(page, 'New board').first(),
    steps: async (page) => {
      await page.keyboard.press('Control+k')
      await expect(dialog(page)).toBeVisible()
      await page.keyboard.type('p')
      await expect(page.getByRole('option').first()).toBeVisible()
    },
  },
  {
    name: 'keys',
    route: '/',
    path: () => '/',
    ready: (page) => button(page, 'New board').first(),
    steps: async (page) => {
      await page.keyboard.press('?')
      await expect(dialog(page)).toBeVisible()
    },
  },
]
