import { type Locator, type Page } from '@playwright/test'
import {
  callApi,
  axe,
  nextFrames,
  expect,
  hold,
  inNextFrame,
  leaveControl,
  waitForStream,
  tabTo,
  test as base,
  undo,
  type World,
} from './fixtures'

type Dates = { dueDate?: string; dueTime?: string; startDate?: string; timeZone?: string }
type Plan = World & {
  /** Sets the dates of a card as another person. */
  setDates: (card: string, dates: Dates) => Promise<void>
  /** Returns the dates of a card on the server, such as "2031-05-06 to 2031-05-08". */
  dates: (card: string) => Promise<string>
  patch: (path: string, body: object) => Promise<unknown>
}

/** In May 2031, One is due on Wednesday the 14th and Two lasts from the 6th to the 8th. The others have no dates. */
const test = base.extend<{ plan: Plan }>({
  plan: async ({ page, world }, use) => {
    const send = (method: string, path: string, body?: object) =>
      callApi<Record<string, string | null>>(page, method, `/public/v1${path}`, body)
    const plan: Plan = {
      ...world,
      setDates: async (card, dates) => void (await send('PUT', `/cards/${card}/due`, dates)),
      dates: async (card) => {
        const { startDate, dueDate } = await send('GET', `/cards/${card}`)
        return [startDate, dueDate].filter(Boolean).join(' to ')
      },
      patch: (path, body) => send('PATCH', path, body),
    }
    await plan.setDates(world.cards.One!, { dueDate: '2031-05-14' })
    await plan.setDates(world.cards.Two!, { startDate: '2031-05-06', dueDate: '2031-05-08' })
    await use(plan)
  },
})

const cell = (page: Page, day: number) => page.locator(`[data-day="2031-05-${String(day).padStart(2, '0')}"]`)
const bar = (page: Page, title: string) => page.locator('[data-item]').filter({ hasText: title })
const tray = (page: Page) => page.getByRole('complementary', { name: /^No date/ })

async function open(page: Page, plan: Plan, query = ''): Promise<void> {
  await page.goto(`/workspaces/${plan.workspaceId}/calendar?date=2031-05-14${query}`)
  await expect(bar(page, 'One')).toBeVisible()
}

/** Opens the tray of undated cards, which is closed at this window width. */
async function openTray(page: Page): Promise<void> {
  await expect(tray(page)).toHaveCount(0)
  await leaveControl(page)
  await page.keyboard.press('u')
  await expect(tray(page)).toBeVisible()
}

/** Drags an element onto another. `grip` is the grabbed point, as a fraction of the element's width. */
async function drag(page: Page, from: Locator, to: Locator, grip = 0.5) {
  await from.scrollIntoViewIfNeeded()
  const start = (await from.boundingBox())!
  const end = (await to.boundingBox())!
  await page.mouse.move(start.x + start.width * grip, start.y + start.height / 2)
  await page.mouse.down()
  await page.mouse.move(start.x + start.width * grip + 12, start.y + start.height / 2 + 8, { steps: 3 })
  await page.mouse.move(end.x + end.width / 2, end.y + Math.min(end.height / 2, 60), { steps: 8 })
  await nextFrames(page)
  await page.mouse.up()
}

test('a card is dragged by mouse to another day, and undo moves it back', async ({ page, plan }) => {
  await open(page, plan)
  await drag(page, bar(page, 'One'), cell(page, 20))
  await expect(cell(page, 20).locator('[data-item]')).toContainText('One')
  await expect(page.getByText('“One” is due Tue 20 May')).toBeVisible()
  await expect.poll(() => plan.dates(plan.cards.One!)).toBe('2031-05-20')
  await expect(page).toHaveURL(/calendar/) // a drop is not a click
  await undo(page)
  await expect(cell(page, 14).locator('[data-item]')).toContainText('One')
  await expect.poll(() => plan.dates(plan.cards.One!)).toBe('2031-05-14')
})

test('a span moves when any of its days is dragged, and its end can be dragged', async ({ page, plan }) => {
  await open(page, plan)
  // Drag Two by its second day, the 7th.
  await drag(page, bar(page, 'Two'), cell(page, 21), 0.5)
  await expect.poll(() => plan.dates(plan.cards.Two!)).toBe('2031-05-20 to 2031-05-22')
  const box = (await bar(page, 'Two').boundingBox())!
  const day = (await cell(page, 24).boundingBox())!
  await page.mouse.move(box.x + box.width - 3, box.y + box.height / 2)
  await page.mouse.down()
  await page.mouse.move(day.x + 20, day.y + 50, { steps: 8 })
  await nextFrames(page)
  await page.mouse.up()
  await expect.poll(() => plan.dates(plan.cards.Two!)).toBe('2031-05-20 to 2031-05-24')
})

test('cards are dragged from the tray to a day and back', async ({ page, plan }) => {
  await open(page, plan)
  await openTray(page)
  await expect(tray(page).getByRole('heading')).toHaveText('No date 2')
  await drag(page, tray(page).getByText('Three'), cell(page, 15))
  await expect(cell(page, 15).locator('[data-item]')).toContainText('Three')
  await expect(tray(page).getByRole('heading')).toHaveText('No date 1')
  await expect.poll(() => plan.dates(plan.cards.Three!)).toBe('2031-05-15')
  await drag(page, bar(page, 'Three'), tray(page))
  await expect(tray(page).getByText('Three')).toBeVisible()
  await expect(tray(page).getByRole('heading')).toHaveText('No date 2')
  await expect.poll(() => plan.dates(plan.cards.Three!)).toBe('')
})

test('a card that is held over the next-month button can be dropped in a later month', async ({ page, plan }) => {
  await open(page, plan)
  const from = (await bar(page, 'One').boundingBox())!
  const next = (await page.getByRole('button', { name: 'Next month' }).boundingBox())!
  await page.mouse.move(from.x + 20, from.y + 8)
  await page.mouse.down()
  await page.mouse.move(from.x + 40, from.y + 20, { steps: 3 })
  await page.mouse.move(next.x + 10, next.y + 10, { steps: 6 })
  const heading = page.getByRole('heading', { level: 1 })
  await expect(heading).not.toHaveText('May 2031')
  await page.mouse.move(from.x + 40, from.y + 20, { steps: 6 })
  await nextFrames(page)
  // Further months may have followed while the card was held over the button.
  await expect(heading).toHaveText(/^(June|July|August|September|October) 2031$/)
  const day = page.locator('[data-day$="-18"]')
  const date = (await day.getAttribute('data-day'))!
  expect(new Date(date).toLocaleDateString('en', { month: 'long', year: 'numeric' })).toBe(await heading.textContent())
  const to = (await day.boundingBox())!
  await page.mouse.move(to.x + 30, to.y + 40, { steps: 6 })
  await nextFrames(page)
  await page.mouse.up()
  await expect.poll(() => plan.dates(plan.cards.One!)).toBe(date)
})

test('by keyboard only: a card is moved, dated as text, and its date is removed and set again', async ({
  page,
  plan,
}) => {
  await open(page, plan)
  await tabTo(cell(page, 14))
  await page.keyboard.press('ArrowDown')
  await expect(bar(page, 'One')).toBeFocused()
  await page.keyboard.press('Alt+Shift+ArrowRight')
  await expect(cell(page, 15).locator('[data-item]')).toBeFocused()
  await page.keyboard.press('Alt+Shift+ArrowDown')
  await expect(cell(page, 22).locator('[data-item]')).toBeFocused()
  await expect.poll(() => plan.dates(plan.cards.One!)).toBe('2031-05-22')
  await page.keyboard.press('d')
  await expect(page.getByRole('textbox', { name: 'Dates as text' })).toBeFocused()
  await page.keyboard.type('28 may 2031')
  await page.keyboard.press('Enter')
  await expect(cell(page, 28).locator('[data-item]')).toContainText('One')
  await page.keyboard.press('Control+z')
  await expect(cell(page, 22).locator('[data-item]')).toContainText('One')
  await tabTo(cell(page, 22).locator('[data-item]'))
  await page.keyboard.press('r')
  await expect(page.getByRole('button', { name: /^No date/ })).toHaveText(/3$/)
  await expect(cell(page, 22)).toBeFocused()
  await page.keyboard.press('u')
  await expect(tray(page).getByText('One')).toBeVisible()
  await expect(cell(page, 22)).toBeFocused()
  // Give the card in the tray a date.
  await tabTo(tray(page).getByRole('link', { name: /^One/ }))
  await page.keyboard.press('d')
  await expect(page.getByRole('textbox', { name: 'Dates as text' })).toBeFocused()
  await page.keyboard.type('30 may 2031 9:30')
  await page.keyboard.press('Enter')
  await expect(cell(page, 30).locator('[data-item]')).toHaveText(/09:30\s*One/)
  await expect.poll(() => plan.dates(plan.cards.One!)).toBe('2031-05-30')
})

test('arrow keys move over days, cards and weeks, and into the next month', async ({ page, plan }) => {
  await open(page, plan)
  await tabTo(cell(page, 14))
  await page.keyboard.press('ArrowUp')
  await expect(bar(page, 'Two')).toBeFocused() // the last card on the 7th
  await page.keyboard.press('ArrowRight')
  await expect(cell(page, 9)).toBeFocused() // the day after the span
  await page.keyboard.press('Home')
  await expect(cell(page, 5)).toBeFocused()
  await page.keyboard.press('End')
  await page.keyboard.press('ArrowRight')
  await expect(cell(page, 12)).toBeFocused()
  for (let i = 0; i < 3; i++) await page.keyboard.press('ArrowDown')
  await expect(page.locator('[data-day="2031-06-02"]')).toBeFocused()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('June 2031')
})

test('keys and buttons change the period, and the URL contains it', async ({ page, plan }) => {
  await open(page, plan)
  const heading = page.getByRole('heading', { level: 1 })
  await page.keyboard.press('n')
  await expect(heading).toHaveText('June 2031')
  await page.getByRole('button', { name: 'Previous month' }).click()
  await expect(heading).toHaveText('May 2031')
  // A letter key on a button is not a shortcut.
  await page.keyboard.press('p')
  await leaveControl(page)
  await page.keyboard.press('p')
  await expect(heading).toHaveText('April 2031')
  await page.keyboard.press('w')
  await expect(heading).toHaveText('31 Mar – 6 Apr 2031')
  await page.keyboard.press('n')
  await page.reload()
  await expect(heading).toHaveText('7 – 13 Apr 2031')
  expect(await axe(page)).toEqual([])
  await page.keyboard.press('t')
  await page.keyboard.press('m')
  await expect(page).toHaveURL(`/workspaces/${plan.workspaceId}/calendar`)
  await expect(page.locator('[aria-current=date]')).toBeVisible()
})

test('a full day shows the number of further cards, which can be dragged from its list to other days', async ({
  page,
  plan,
}) => {
  for (let i = 1; i <= 9; i++) {
    await plan.setDates(await plan.post('/cards', { listId: plan.lists.Doing, title: `Part ${i}` }), {
      dueDate: '2031-05-14',
    })
  }
  await open(page, plan)
  const moreButton = cell(page, 14).getByRole('button', { name: /more on Wednesday 14 May/ })
  await moreButton.click()
  const list = page.getByRole('dialog', { name: 'Wednesday 14 May 2031' })
  await expect(list.getByRole('listitem')).toHaveCount(10)
  expect(await axe(page)).toEqual([])
  await drag(page, list.getByText('Part 9'), cell(page, 29))
  await expect(cell(page, 29).locator('[data-item]')).toContainText('Part 9')
  await expect(list).toBeHidden()
  // No bar overlaps the line with the number of further cards.
  const line = (await moreButton.boundingBox())!
  for (const item of await cell(page, 14).locator('a[data-item]').all()) {
    const { y, height } = (await item.boundingBox())!
    expect(y + height).toBeLessThanOrEqual(line.y + 1)
  }
})

test('the menu of a card changes its date, and marks it as done', async ({ page, plan }) => {
  await open(page, plan)
  await bar(page, 'One').click({ button: 'right' })
  await page.getByRole('menuitem', { name: 'Change dates…' }).click()
  await page.getByRole('textbox', { name: 'Dates as text' }).fill('mon 19 may 2031')
  await page.keyboard.press('Escape')
  await bar(page, 'One').click({ button: 'right' })
  await page.getByRole('menuitem', { name: /^Mark done/ }).click()
  await expect(bar(page, 'One')).toHaveAccessibleName(/^One *, Wednesday 14 May 2031, done/)
  await page.getByRole('button', { name: 'Hide done' }).click()
  await expect(bar(page, 'One')).toHaveCount(0)
  await expect(page).toHaveURL(/done=false/)
})

test('the calendar shows only the selected boards, and no board whose calendar is off', async ({ page, plan }) => {
  const other = await plan.post('/boards', { workspaceId: plan.workspaceId, name: 'Elsewhere' })
  const list = await plan.post(`/boards/${other}/lists`, { name: 'Inbox' })
  await plan.setDates(await plan.post('/cards', { listId: list, title: 'Far away' }), { dueDate: '2031-05-14' })
  await open(page, plan)
  await expect(bar(page, 'Far away')).toBeVisible()
  await page.getByRole('button', { name: 'All boards' }).click()
  await page.getByRole('option', { name: 'Elsewhere' }).click()
  await expect(bar(page, 'One')).toHaveCount(0)
  await expect(page).toHaveURL(new RegExp(`board=${other}`))
  await expect(page.getByText('Elsewhere · Calendar')).toBeVisible()
  // All cards of this board have dates, so the tray is empty.
  await page.keyboard.press('Escape')
  await expect(page.getByRole('button', { name: /^No date/ })).toHaveText('No date')
  await openTray(page)
  await expect(tray(page).getByRole('heading')).toHaveText('No date 0')
  await page.getByRole('button', { name: 'Next month' }).click()
  await expect(page.getByText('No matching cards in June 2031')).toBeVisible()
  await plan.patch(`/boards/${other}`, { features: { calendar: false } })
  await page.goto(`/workspaces/${plan.workspaceId}/calendar?date=2031-05-14`)
  await expect(bar(page, 'One')).toBeVisible()
  await expect(bar(page, 'Far away')).toHaveCount(0)
  await page.goto(`/boards/${plan.boardId}`)
  await page.getByRole('button', { name: 'Board menu' }).click()
  await page.getByRole('menuitem', { name: 'Calendar' }).click()
  await expect(page).toHaveURL(`/workspaces/${plan.workspaceId}/calendar?board=${plan.boardId}`)
})

test('changes by other people appear soon, and an overdue card is labeled as overdue', async ({ page, plan }) => {
  await plan.setDates(plan.cards.Four!, { dueDate: '2020-03-04' })
  const stream = waitForStream(page, plan.boardId)
  await open(page, plan)
  await stream
  await plan.setDates(plan.cards.One!, { dueDate: '2031-05-27' })
  await expect(cell(page, 27).locator('[data-item]')).toContainText('One', { timeout: 15_000 })
  await page.goto(`/workspaces/${plan.workspaceId}/calendar?date=2020-03-04`)
  await expect(bar(page, 'Four')).toHaveAccessibleName(/^Four *, Wednesday 4 March 2020, overdue/)
})

test('a rejected change is reverted', async ({ page, plan }) => {
  await page.route('**/cards/*/due', (route) =>
    route.fulfill({ status: 403, json: { error: { code: 'forbidden', message: 'Not on this board.' } } }),
  )
  await open(page, plan)
  await drag(page, bar(page, 'One'), cell(page, 20))
  await expect(page.getByText('Not on this board.')).toBeVisible()
  await expect(cell(page, 14).locator('[data-item]')).toContainText('One')
})

test('changes made offline are sent when the server is back', async ({ page, plan, context }) => {
  await open(page, plan)
  await context.setOffline(true)
  await drag(page, bar(page, 'One'), cell(page, 20))
  await expect(page.getByText('You are offline.')).toBeVisible()
  await expect(cell(page, 20).locator('[data-item]')).toContainText('One')
  await context.setOffline(false)
  await expect(page.getByText('You are offline.')).toBeHidden({ timeout: 15_000 })
  await expect.poll(() => plan.dates(plan.cards.One!)).toBe('2031-05-20')
})

test('a move is painted before the server responds', async ({ page, plan }) => {
  const release = await hold(page, '**/cards/*/due')
  await open(page, plan)
  await tabTo(cell(page, 14))
  await page.keyboard.press('ArrowDown')
  await expect(bar(page, 'One')).toBeFocused()
  for (const [key, day] of [
    ['ArrowRight', 15],
    ['ArrowLeft', 14],
    ['ArrowRight', 15],
  ] as const) {
    const [text] = await inNextFrame(page, key, `[data-day="2031-05-${day}"] [data-item] .title`)
    expect(text).toBe('One')
    await expect(cell(page, day).locator('[data-item]')).toBeFocused()
  }
  release()
})

test.describe('on a phone', () => {
  test.use({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true })

  test('a day lists its cards, and a long press drags one to another day', async ({ page, plan, context }) => {
    await page.goto(`/workspaces/${plan.workspaceId}/calendar?date=2031-05-13`)
    const day = (n: number) => page.getByRole('button', { name: new RegExp(`^\\w+ ${n} May 2031`) })
    await expect(page.getByRole('tablist', { name: 'View' })).toBeInViewport({ ratio: 1 })
    await expect(page.getByText('No cards on this day')).toBeVisible()
    await day(14).tap()
    const row = page.getByRole('region', { name: 'Wednesday 14 May 2031' }).getByRole('listitem')
    await expect(row).toContainText('One')
    const cdp = await context.newCDPSession(page)
    const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', point?: { x: number; y: number }) =>
      cdp.send('Input.dispatchTouchEvent', { type, touchPoints: point ? [point] : [] })
    const from = (await row.boundingBox())!
    const to = (await day(22).boundingBox())!
    await touch('touchStart', { x: from.x + 60, y: from.y + 12 })
    await expect(page.locator('.drag-ghost')).toBeVisible()
    await touch('touchMove', { x: from.x + 60, y: from.y - 20 })
    await touch('touchMove', { x: to.x + 20, y: to.y + 20 })
    await nextFrames(page)
    await touch('touchEnd')
    await expect.poll(() => plan.dates(plan.cards.One!)).toBe('2031-05-22')
    await day(22).tap()
    await expect(page.getByRole('region', { name: 'Thursday 22 May 2031' })).toContainText('One')
    await page.getByRole('button', { name: /^No date/ }).tap()
    await expect(tray(page).getByText('Three')).toBeVisible()
    expect(await axe(page)).toEqual([])
  })
})
