import { expect } from '@playwright/test'
import { button, cards, dialog, type Screen } from './screen'

export const board: readonly Screen[] = [
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
  { name: 'board-none', fails: true, route: '/boards/:boardId', at: () => '/boards/brd_00000000000000000000000000' },
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
  { name: 'card-none', fails: true, route: '/cards/:cardId', at: () => '/cards/crd_00000000000000000000000000' },
]
