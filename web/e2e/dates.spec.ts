import { callApi, axe, expect, test } from './fixtures'

test.beforeEach(async ({ page, world }) => {
  await page.goto(`/boards/${world.boardId}`)
  await expect(page.getByRole('region', { name: 'To do' }).getByText('Three')).toBeVisible()
})

test('dates are entered as text, as a range and in a time zone', async ({ page, world }) => {
  await page.keyboard.press('j')
  await page.keyboard.press('d')
  const picker = page.getByRole('dialog', { name: 'Due date' })
  await expect(picker.getByLabel('Dates as text')).toBeFocused()
  await page.keyboard.type('from 1 dec 2031 9am to 5 dec 2031 17:30 Tokyo')
  await expect(picker.getByRole('status')).toContainText('Starts 1 Dec 2031, 09:00, due 5 Dec 2031, 17:30, Tokyo')
  await expect(picker.getByLabel('Time zone')).toHaveValue('Asia/Tokyo')
  const sent = page.waitForResponse((r) => r.url().endsWith('/due') && r.ok())
  await page.keyboard.press('Enter')
  await expect(picker).toBeHidden()
  await sent
  await page.goto(`/cards/${world.cards.One}`)
  const details = page.getByRole('complementary', { name: 'Details' })
  await expect(details).toContainText('Asia/Tokyo')
  await details
    .getByRole('button', { name: /Dec 2031/ })
    .first()
    .click()
  await expect(picker.getByLabel('Due time')).toHaveValue('17:30')
  await expect(picker.getByLabel('Start date', { exact: true })).toHaveValue('1 Dec 2031')
  await expect(picker.getByLabel('Start time')).toHaveValue('09:00')
  expect(await axe(page)).toEqual([])
})

test('a start date is set by mouse, and must not be after the due date', async ({ page, world }) => {
  await page.getByText('Two', { exact: true }).click()
  await page.getByRole('button', { name: 'Set start date' }).click()
  const picker = page.getByRole('dialog', { name: 'Due date' })
  // The picker opens next to its button.
  const button = (await page.getByRole('button', { name: 'Set start date' }).boundingBox())!
  expect((await picker.boundingBox())!.x).toBeGreaterThanOrEqual(button.x + button.width)
  await picker.getByRole('button', { name: 'Add start date' }).click()
  await picker.getByLabel('Due date', { exact: true }).fill('whenever')
  await picker.getByLabel('Start date', { exact: true }).fill('6 dec 2031')
  await expect(picker.getByLabel('Due date', { exact: true })).toHaveAttribute('aria-invalid', 'true')
  await picker.getByLabel('Start date', { exact: true }).fill('6 dec 2031')
  await picker.getByLabel('Due date', { exact: true }).fill('2031-12-05')
  await expect(picker.getByLabel('Start date', { exact: true })).toHaveValue('6 Dec 2031')
  await expect(picker.getByRole('alert')).toHaveText('The start date is after the due date.')
  await expect(picker.getByRole('button', { name: 'Save' })).toBeDisabled()
  await picker.getByLabel('Start date', { exact: true }).fill('2 dec 2031')
  const sent = page.waitForResponse((r) => r.url().endsWith('/due') && r.ok())
  await picker.getByRole('button', { name: 'Save' }).click()
  const details = page.getByRole('complementary', { name: 'Details' })
  await expect(details.getByRole('button', { name: '2 Dec 2031' })).toBeVisible()
  await expect(details.getByRole('button', { name: '5 Dec 2031' })).toBeVisible()
  await sent
  await page.reload()
  await expect(details.getByRole('button', { name: '2 Dec 2031' })).toBeVisible()
  expect(world.boardId).toBeTruthy()
})

test('a board with start dates turned off does not offer them', async ({ page, world }) => {
  await callApi(page, 'PATCH', `/public/v1/boards/${world.boardId}`, { features: { startDates: false } })
  await page.goto(`/cards/${world.cards.One}`)
  await expect(page.getByRole('button', { name: 'Set due date' })).toBeVisible()
  await expect(page.getByRole('button', { name: 'Set start date' })).toHaveCount(0)
  await page.getByRole('button', { name: 'Set due date' }).click()
  await expect(page.getByLabel('Dates as text')).toBeFocused()
  await page.keyboard.type('start tomorrow')
  await expect(page.getByText('This board doesn’t use start dates.')).toBeVisible()
})
