import { expect } from '@playwright/test'
import { png } from '../png'
import { button, dialog, firstCard, type Screen } from './screen'

export const board: readonly Screen[] = [
  {
    name: 'board',
    route: '/boards/:boardId',
    path: (s) => `/boards/${s.boardId}`,
    ready: firstCard,
    title: /^Launch of the new site/,
  },
  {
    name: 'board-picture',
    route: '/boards/:boardId',
    path: (s) => `/boards/${s.boardId}`,
    ready: firstCard,
    // Without changing the board, which other screens show as well.
    prepare: async (page) => {
      await page.route('**/background?*', (route) => route.fulfill({ contentType: 'image/png', body: png(1200, 800) }))
      await page.route('**/api/app/v1/boards/*/open*', async (route) => {
        const response = await route.fetch()
        const { data, ...rest } = (await response.json()) as { data: object }
        await route.fulfill({ response, json: { ...rest, data: { ...data, background: '9f86d081884c7d65' } } })
      })
    },
    steps: async (page) => {
      await expect(page.locator('img.picture')).toHaveJSProperty('naturalWidth', 1200)
    },
  },
  {
    name: 'board-filter',
    route: '/boards/:boardId',
    path: (s) => `/boards/${s.boardId}?q=content&done=false`,
    ready: firstCard,
  },
  {
    name: 'board-filter-no-matches',
    route: '/boards/:boardId',
    path: (s) => `/boards/${s.boardId}?q=zeppelin`,
    ready: (page) => page.getByRole('heading', { level: 1 }),
  },
  {
    name: 'board-selection',
    route: '/boards/:boardId',
    path: (s) => `/boards/${s.boardId}`,
    ready: firstCard,
    steps: async (page) => {
      for (const key of 'jxjxjx') await page.keyboard.press(key)
      await expect(page.getByText('3 selected')).toBeVisible()
    },
  },
  {
    name: 'board-composer',
    route: '/boards/:boardId',
    path: (s) => `/boards/${s.boardId}`,
    ready: firstCard,
    steps: async (page) => {
      await page.keyboard.press('c')
      await page.keyboard.type('Stickers for the fair')
    },
  },
  {
    name: 'board-labels',
    route: '/boards/:boardId',
    path: (s) => `/boards/${s.boardId}`,
    ready: firstCard,
    steps: async (page) => {
      await page.keyboard.press('j')
      await page.keyboard.press('l')
      await expect(dialog(page)).toBeVisible()
    },
  },
  {
    name: 'board-people',
    route: '/boards/:boardId',
    path: (s) => `/boards/${s.boardId}`,
    ready: firstCard,
    steps: async (page) => {
      await page.keyboard.press('j')
      await page.keyboard.press('a')
      await expect(dialog(page)).toBeVisible()
    },
  },
  {
    name: 'board-menu',
    route: '/boards/:boardId',
    path: (s) => `/boards/${s.boardId}`,
    ready: firstCard,
    steps: async (page) => {
      await button(page, 'Board menu').click()
      await expect(page.getByRole('menu')).toBeVisible()
    },
  },
  {
    name: 'board-empty',
    route: '/boards/:boardId',
    user: 'founder',
    path: (s) => `/boards/${s.empty.boardId}`,
    title: /^First board/,
  },
  {
    name: 'board-keys',
    route: '/boards/:boardId',
    path: (s) => `/boards/${s.boardId}`,
    ready: firstCard,
    steps: async (page) => {
      await page.keyboard.press('?')
      await expect(dialog(page)).toBeVisible()
    },
  },
  {
    name: 'board-not-found',
    expectFailures: true,
    route: '/boards/:boardId',
    path: () => '/boards/brd_00000000000000000000000000',
  },
  {
    name: 'card',
    route: '/cards/:cardId',
    path: (s) => `/cards/${s.cardId}`,
    ready: (page) => dialog(page).getByText('asked Lena'),
    title: /^Write the press release/,
  },
  {
    name: 'card-due',
    route: '/cards/:cardId',
    path: (s) => `/cards/${s.cardId}`,
    ready: (page) => dialog(page).getByText('asked Lena'),
    steps: async (page) => {
      await page.keyboard.press('d')
      await expect(page.getByRole('grid')).toBeVisible()
    },
  },
  {
    name: 'card-comment',
    route: '/cards/:cardId',
    path: (s) => `/cards/${s.cardId}`,
    ready: (page) => dialog(page).getByText('asked Lena'),
    steps: (page) => page.getByLabel('Comment', { exact: true }).fill('Sent. **Thank you!**'),
  },
  {
    name: 'card-not-found',
    expectFailures: true,
    route: '/cards/:cardId',
    path: () => '/cards/crd_00000000000000000000000000',
  },
]
