import { expect, type Page } from '@playwright/test'
import { button, dialog, firstCard, unreachable, type Screen } from './screen'

const heading = (page: Page) => page.getByRole('heading', { level: 1, name: 'Launch of the new site' })

export const publicPages: readonly Screen[] = [
  {
    name: 'public',
    route: '/p/:key',
    user: 'visitor',
    path: (s) => s.publicPage,
    ready: heading,
    steps: (page) => expect(page.getByText('Tell us')).toBeVisible(),
  },
  {
    name: 'public-card',
    route: '/p/:key',
    user: 'visitor',
    path: (s) => s.publicPage,
    ready: heading,
    title: /^Launch of the new site/,
    steps: async (page) => {
      await page.getByRole('link', { name: /Write the press release/ }).click()
      await expect(dialog(page).getByText('asked Lena')).toBeVisible()
    },
  },
  {
    name: 'public-submit',
    route: '/p/:key',
    user: 'visitor',
    path: (s) => s.publicPage,
    ready: heading,
    title: /^Launch of the new site/,
    steps: async (page) => {
      await button(page, 'Submit a card').click()
      await page.getByLabel('Title').fill('A map of the venue')
    },
  },
  {
    name: 'public-not-found',
    expectFailures: true,
    route: '/p/:key',
    user: 'visitor',
    path: () => '/p/AAAAAAAAAAAAAAAAAAAAAAAAAA',
  },
  {
    name: 'public-unreachable',
    expectFailures: true,
    route: '/p/:key',
    user: 'visitor',
    path: (s) => s.publicPage,
    prepare: unreachable('**/public-page'),
  },
  {
    name: 'board-settings-public',
    route: '/boards/:boardId',
    path: (s) => `/boards/${s.boardId}`,
    ready: firstCard,
    title: /^Launch of the new site/,
    steps: async (page) => {
      await button(page, 'Board menu').click()
      await page.getByRole('menuitem', { name: 'Board settings…' }).click()
      const address = dialog(page).getByLabel('Page address')
      await expect(address).toBeVisible()
      await address.evaluate((node) => node.closest('section')!.scrollIntoView())
    },
  },
]
