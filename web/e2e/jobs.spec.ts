// Long copies and imports: their progress, their completion, and their list.
import type { Page } from '@playwright/test'
import { axe, expect, test, type World } from './fixtures'

const job = (world: World, overrides: object) => ({
  id: 'job_01jb2m3n4p5q6r7s8t9v0w1x2y',
  kind: 'copy_board',
  state: 'running',
  workspaceId: world.workspaceId,
  name: 'Launch',
  done: 0,
  total: 0,
  boardIds: [],
  report: null,
  error: null,
  createdAt: new Date().toISOString(),
  startedAt: null,
  endedAt: null,
  ...overrides,
})

/** Starts a copy, and mocks its job. Tests set the job's state through `fields`. */
async function startMockedCopy(page: Page, world: World): Promise<{ fields: object; cancelled: boolean }> {
  const mock = { fields: {} as object, cancelled: false }
  await page.route('**/boards/*/copy', (route) =>
    route.fulfill({ status: 202, json: { data: job(world, mock.fields) } }),
  )
  await page.route('**/api/public/v1/jobs/*', (route) => route.fulfill({ json: { data: job(world, mock.fields) } }))
  await page.route('**/api/public/v1/jobs/*/cancel', (route) => {
    mock.cancelled = true
    mock.fields = { state: 'cancelled' }
    return route.fulfill({ json: { data: job(world, mock.fields) } })
  })
  await page.goto(`/boards/${world.boardId}`)
  await page.getByRole('button', { name: 'Board menu' }).click()
  await page.getByRole('menuitem', { name: 'Copy board…' }).click()
  await page.getByLabel('Name', { exact: true }).fill('Launch')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('dialog').getByRole('progressbar', { name: 'Copying “Launch”' })).toBeVisible()
  return mock
}

test('the copy of a large board shows its progress, and opens when it is done', async ({ page, world }) => {
  const copyId = await world.post('/boards', { workspaceId: world.workspaceId, name: 'Launch' })
  const mock = await startMockedCopy(page, world)
  const dialog = page.getByRole('dialog')
  expect(await axe(page)).toEqual([])
  mock.fields = { done: 1200, total: 3000 }
  await expect(dialog.getByText('40%', { exact: true })).toBeVisible()
  await expect(dialog.getByRole('progressbar')).toHaveJSProperty('value', 40)
  expect(await axe(page)).toEqual([])
  await page.emulateMedia({ colorScheme: 'dark' })
  expect(await axe(page)).toEqual([])
  mock.fields = { state: 'done', done: 3000, total: 3000, boardIds: [copyId] }
  await expect(page).toHaveURL(`/boards/${copyId}`)
  await expect(dialog).toBeHidden()
})

test('a copy is canceled by keyboard', async ({ page, world }) => {
  const mock = await startMockedCopy(page, world)
  const dialog = page.getByRole('dialog')
  await page.keyboard.press('Tab')
  await expect(dialog.getByRole('button', { name: 'Cancel' })).toBeFocused()
  await page.keyboard.press('Enter')
  await expect(dialog.getByRole('status').first()).toHaveText('“Launch” was canceled. No board was created.')
  expect(mock.cancelled).toBe(true)
  await page.keyboard.press('Tab')
  await expect(dialog.getByRole('button', { name: 'Close' }).last()).toBeFocused()
  await page.keyboard.press('Enter')
  await expect(dialog).toBeHidden()
  await expect(page).toHaveURL(`/boards/${world.boardId}`)
})

test('a copy continues after its dialog is closed, and a toast reports its completion', async ({ page, world }) => {
  const copyId = await world.post('/boards', { workspaceId: world.workspaceId, name: 'Launch' })
  const mock = await startMockedCopy(page, world)
  await page.getByRole('button', { name: 'Run in background' }).click()
  await expect(page.getByRole('dialog')).toBeHidden()
  mock.fields = { state: 'done', boardIds: [copyId] }
  await expect(page.getByText('“Launch” is ready.')).toBeVisible()
  await page.getByRole('button', { name: 'Open board' }).click()
  await expect(page).toHaveURL(`/boards/${copyId}`)
})

test('a failed copy shows the reason', async ({ page, world }) => {
  const mock = await startMockedCopy(page, world)
  mock.fields = { state: 'failed', error: { code: 'limit_reached', message: 'There can be at most 500 boards.' } }
  await expect(page.getByRole('dialog').getByRole('paragraph').last()).toHaveText('There can be at most 500 boards.')
  expect(await axe(page)).toEqual([])
})

test('imports and copies are listed; a running one shows its progress and can be canceled', async ({ page, world }) => {
  const running = { kind: 'import_board', name: 'Old wall', done: 900, total: 1800 }
  const cancelled = job(world, { ...running, state: 'cancelled' })
  const all = [
    running,
    { id: 'job_2', state: 'done', name: 'Plan (copy)', boardIds: [world.boardId] },
    { id: 'job_3', state: 'failed', name: 'Too large', error: { code: 'limit_reached', message: 'It is too large.' } },
    {
      id: 'job_4',
      kind: 'import_board',
      state: 'done',
      name: 'Two walls',
      boardIds: ['brd_1', 'brd_2'],
      report: { boards: [], savedFilters: 0, notes: [{ what: 'Files of cards', count: 3, examples: ['plan.pdf'] }] },
    },
  ]
  await page.route('**/workspaces/*/jobs?*', (route) =>
    route.fulfill({ json: { data: all.map((fields) => job(world, fields)) } }),
  )
  await page.route('**/api/public/v1/jobs/*', (route) => route.fulfill({ json: { data: job(world, running) } }))
  await page.route('**/api/public/v1/jobs/*/cancel', (route) => route.fulfill({ json: { data: cancelled } }))
  await page.goto(`/workspaces/${world.workspaceId}/import`)
  const list = page.getByRole('region', { name: 'Imports and copies' })
  await expect(list.getByRole('listitem')).toHaveCount(4)
  await expect(list.getByRole('progressbar', { name: 'Importing “Old wall”' })).toHaveJSProperty('value', 50)
  await expect(list.getByText('900 of 1,800 records')).toBeVisible()
  await expect(list.getByRole('link', { name: 'Open board' })).toHaveAttribute('href', `/boards/${world.boardId}`)
  await expect(list.getByText('It is too large.')).toBeVisible()
  expect(await axe(page)).toEqual([])
  await list.getByRole('button', { name: 'Cancel Old wall' }).click()
  await expect(list.getByRole('progressbar')).toBeHidden()
  await expect(list.getByText('Canceled', { exact: true })).toBeVisible()
  await list.getByRole('button', { name: 'Show report of Two walls' }).click()
  await expect(page.getByText('Files of cards')).toBeVisible()
})

test('the list of imports and copies is hidden when it is empty', async ({ page, world }) => {
  const loaded = page.waitForResponse('**/workspaces/*/jobs?*')
  await page.goto(`/workspaces/${world.workspaceId}/import`)
  await loaded
  await expect(page.getByRole('button', { name: 'Download Plan' })).toBeVisible()
  await expect(page.getByRole('region', { name: 'Imports and copies' })).toBeHidden()
})
