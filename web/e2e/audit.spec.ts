import { type Page } from '@playwright/test'
import { readFileSync } from 'node:fs'
import { callApi, expect, expectAccessible, shortenPauses, test, type World } from './fixtures'

const entries = (page: Page) => page.getByRole('list', { name: 'Entries' }).getByRole('listitem')
const patch = (page: Page, path: string, body: object) => callApi(page, 'PATCH', `/public/v1${path}`, body)
const rename = (page: Page, world: World, title: string) => patch(page, `/cards/${world.cards.One}`, { title })

test('the audit log has no axe violations', async ({ page, world }) => {
  await rename(page, world, 'First')
  await page.goto(`/workspaces/${world.workspaceId}/audit`)
  await entries(page).first().getByRole('button').click()
  await expect(page.getByRole('region', { name: 'Difference' })).toBeVisible()
  await expectAccessible(page)
  await page.goto(`/workspaces/${world.workspaceId}/audit?actor=automation`)
  await expect(page.getByText('No matching entries')).toBeVisible()
  await expectAccessible(page)
})

test('differences are shown, and filters are in the URL', async ({ page, world }) => {
  await rename(page, world, 'First of all')
  await page.goto(`/workspaces/${world.workspaceId}/members`)
  await page.getByRole('main').getByRole('link', { name: 'Settings' }).click()
  await page.getByRole('link', { name: 'Audit log', exact: true }).click()
  const changed = entries(page).first()
  await expect(changed).toContainText('changed the card First of all on Plan')
  await changed.getByRole('button').click()
  const row = page.getByRole('region', { name: 'Difference' }).getByRole('row').filter({ hasText: 'Title' })
  await expect(row.locator('del')).toHaveText('One')
  await expect(row.locator('ins')).toHaveText('First of all')

  await page.getByRole('combobox', { name: 'Action', exact: true }).selectOption('create_list')
  await expect(page).toHaveURL(/\?operation=create_list$/)
  await expect(entries(page)).toHaveCount(3)
  await page.getByRole('combobox', { name: 'Board', exact: true }).selectOption({ label: 'Plan' })
  await page.reload()
  await expect(page.getByRole('combobox', { name: 'Action', exact: true })).toHaveValue('create_list')
  await expect(entries(page)).toHaveCount(3)
  const to = page.getByLabel('To', { exact: true })
  await to.fill('whenever')
  await to.press('Enter')
  await expect(to).toHaveAttribute('aria-invalid', 'true')
  await to.press('Escape')
  await expect(to).toHaveValue('')
  await to.fill('2020-01-01')
  await to.press('Enter')
  await expect(to).toHaveValue('1 Jan 2020')
  await expect(page.getByText('No matching entries')).toBeVisible()
  await page.goBack()
  await expect(entries(page)).toHaveCount(3)
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await expect(page).toHaveURL(/\/audit$/)
  await expect(changed).toContainText('changed the card')
})

test('by keyboard only: an entry is opened, and the log is filtered', async ({ page, world }) => {
  await page.goto(`/workspaces/${world.workspaceId}/audit`)
  await entries(page).first().getByRole('button').focus()
  await page.keyboard.press('ArrowDown')
  await expect(entries(page).nth(1).getByRole('button')).toBeFocused()
  await page.keyboard.press('Enter')
  await expect(page.getByRole('region', { name: 'Difference' })).toBeVisible()
  for (let i = 0; i < 6; i++) {
    await page.keyboard.press('Tab')
    if (await page.getByRole('button', { name: 'Only this action' }).evaluate((n) => n === document.activeElement))
      break
  }
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/\?operation=create_card$/)
  await expect(entries(page)).toHaveCount(4)
  // Type a day, then pick the next day in the calendar.
  const to = page.getByLabel('To', { exact: true })
  await to.fill('15 jan 2020')
  await to.press('ArrowDown')
  await expect(page.getByRole('button', { name: /15 January 2020|January 15, 2020/ })).toBeFocused()
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('Enter')
  await expect(to).toHaveValue('16 Jan 2020')
  await expect(to).toBeFocused()
  await expect(page).toHaveURL(/to=2020-01-16/)
})

test('new entries are counted, and shown on request', async ({ page, world }) => {
  await shortenPauses(page)
  await page.goto(`/workspaces/${world.workspaceId}/audit`)
  await expect(entries(page).first()).toContainText('created the')
  const before = await entries(page).count()
  await rename(page, world, 'Newer')
  await rename(page, world, 'Newest')
  await expect(page.getByRole('button', { name: '2 new. Show' })).toBeVisible({ timeout: 15_000 })
  await expect(entries(page)).toHaveCount(before)
  await page.getByRole('button', { name: '2 new. Show' }).click()
  await expect(entries(page)).toHaveCount(before + 2)
  await expect(entries(page).first()).toContainText('changed the card Newest')
})

test('older entries load, and both exports contain the filtered entries', async ({ page, world }) => {
  test.setTimeout(60_000)
  for (let i = 0; i < 55; i++) await rename(page, world, `Title ${i}`)
  await page.goto(`/workspaces/${world.workspaceId}/audit?operation=update_card`)
  await expect(entries(page)).toHaveCount(50)
  await page.getByRole('button', { name: 'Show older' }).click()
  await expect(entries(page)).toHaveCount(55)
  await expect(page.getByText('End of matching entries')).toBeVisible()
  const save = async (item: string) => {
    await expect(page.getByRole('menu')).toHaveCount(0) // the menu of the previous export
    await page.getByRole('button', { name: 'Export' }).click()
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: item }).click(),
    ])
    return { name: file.suggestedFilename(), text: readFileSync(await file.path(), 'utf8') }
  }
  const table = await save('CSV')
  expect(table.name).toMatch(/ audit log \d{4}-\d\d-\d\d\.csv$/)
  expect(table.text.split('\r\n').filter(Boolean)).toHaveLength(56)
  expect(table.text).toContain('"{""title"":{""from"":""Title 53"",""to"":""Title 54""}}"')
  const lines = await save('JSON lines (NDJSON)')
  const records = lines.text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { operation: string })
  expect(records).toHaveLength(55)
  expect(records.every((r) => r.operation === 'update_card')).toBe(true)
})
