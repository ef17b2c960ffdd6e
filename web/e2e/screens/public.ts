import { expect, type Page } from '@playwright/test'
import { button, cards, dialog, unreachable, type Screen } from './screen'

const heading = (page: Page) => page.getByRole('heading', { level: 1, name: 'Launch of the new site' })

export const publicPages: readonly Screen[] = [
  {
    name: 'public',
    route: '/p/:key',
    who: 'nobody',
    at: (s) => s.publicPage,
    shows: heading,
    then: (page) => expect(page.getByText('Tell us')).toBeVisible(),
  },
  {
    name: 'public-card',
    route: '/p/:key',
    who: 'nobody',
    at: (s) => s.publicPage,
    shows: heading,
    title: /^Launch of the new site/,
    then: async (page) => {
      await page.getByRole('link', { name: /Write the press release/ }).click()
      await expect(dialog(page).getByText('asked Lena')).toBeVisible()
    },
  },
  {
    name: 'public-submit',
    route: '/p/:key',
    who: 'nobody',
    at: (s) => s.publicPage,
    shows: heading,
    title: /^Launch of the new site/,
    then: async (page) => {
      await button(page, 'Submit a card').click()
      await page.getByLabel('Title').fill('A map of the venue')
    },
  },
  { name: 'public-none', fails: true, route: '/p/:key', who: 'nobody', at: () => '/p/AAAAAAAAAAAAAAAAAAAAAAAAAA' },
  {
    name: 'public-unreachable',
    fails: true,
    route: '/p/:key',
    who: 'nobody',
    at: (s) => s.publicPage,
    first: unreachable('**/public-page'),
  },
  {
    name: 'board-settings-public',
    route: '/boards/:boardId',
    at: (s) => `/boards/${s.boardId}`,
    shows: cards,
    title: /^Launch of the new site/,
    then: async (page) => {
      await button(page, 'Board menu').click()
      await page.getByRole('menuitem', { name: 'Board settings…' }).click()
      const address = dialog(page).getByLabel('Page address')
      await expect(address).toBeVisible()
      await address.evaluate((node) => node.closest('section')!.scrollIntoView())
    },
  },
]
