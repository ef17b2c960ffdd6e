import { axe, expect, leaveControl, nextFrames, waitUntilSaved, tabTo, test } from './fixtures'
import { signUpPerson } from './person'

test('notifications appear in the bell menu live, and open with a click', async ({ page, world, browser }) => {
  const grace = await signUpPerson(browser, world)
  await grace.page.goto('/')
  await expect(grace.page.getByRole('button', { name: 'Notifications', exact: true })).toBeVisible()
  await world.post('/cards', { listId: world.lists['To do'], title: 'Call the printer', assignees: [grace.id] })
  const bell = grace.page.getByRole('button', { name: 'Notifications, 1 unread' })
  await expect(bell).toBeVisible({ timeout: 15_000 })
  await bell.click()
  const panel = grace.page.getByRole('dialog', { name: 'Notifications' })
  await expect(panel.getByRole('listitem')).toHaveCount(1)
  await expect(panel.getByRole('listitem')).toContainText('assigned you to Call the printer')
  expect(await axe(grace.page)).toEqual([])

  // A change by another person appears in the open panel.
  await world.post(`/cards/${world.cards.One}/comments`, { text: `Please look, @${grace.name}` })
  await expect(panel.getByRole('listitem')).toHaveCount(2, { timeout: 15_000 })
  await expect(panel.getByRole('listitem').first()).toContainText('mentioned you on One')
  await expect(panel.getByRole('listitem').first()).toContainText('Please look')
  await panel.getByRole('button', { name: /^Mark as read: .*Call the printer/ }).click()
  await expect(grace.page.getByRole('button', { name: 'Notifications, 1 unread' })).toBeVisible()
  await panel.getByRole('link', { name: /One/ }).click()
  await expect(grace.page).toHaveURL(new RegExp(`/cards/${world.cards.One}$`))
  await expect(grace.page.getByRole('dialog', { name: 'One' })).toBeVisible()
  await expect(
    grace.page.getByRole('button', { name: 'Notifications', exact: true, includeHidden: true }),
  ).toBeAttached()

  // The actor gets no notification.
  await page.goto('/notifications')
  await expect(page.getByRole('link', { name: /Call the printer/ })).toHaveCount(0)
  await grace.close()
})

test('the focus can move on as soon as Escape has closed the panel', async ({ page }) => {
  await page.goto('/')
  const bell = page.getByRole('button', { name: /^Notifications/ })
  await bell.focus()
  await page.keyboard.press('Enter')
  await expect(page.getByRole('dialog', { name: 'Notifications' })).toBeVisible()
  await bell.evaluate((button: HTMLElement) =>
    button.addEventListener('focus', () => queueMicrotask(() => button.blur()), { once: true }),
  )
  await page.keyboard.press('Escape')
  await nextFrames(page)
  await expect(bell).not.toBeFocused()
})

test('by keyboard only: a person is mentioned, and reads the notification', async ({ page, world, browser }) => {
  const grace = await signUpPerson(browser, world)
  await grace.page.goto('/')
  await page.goto(`/cards/${world.cards.Two}`)
  const comment = page.getByRole('textbox', { name: 'Comment' })
  await comment.focus()
  await page.keyboard.type(`So, @${grace.name.slice(0, 8)}`)
  await expect(page.getByRole('option', { name: grace.name })).toHaveAttribute('aria-selected', 'true')
  expect(await axe(page)).toEqual([])
  await page.keyboard.press('Escape')
  await expect(page.getByRole('option')).toHaveCount(0)
  await expect(page.getByRole('dialog', { name: 'Two' })).toBeVisible()
  await page.keyboard.type(grace.name.slice(8, 9))
  await page.keyboard.press('Enter')
  await expect(comment).toHaveValue(`So, @${grace.name} `)
  await page.keyboard.type('what now?')
  await page.keyboard.press('Control+Enter')
  await expect(page.getByRole('article', { name: /^Comment by/ })).toContainText('what now?')

  await expect(grace.page.getByRole('button', { name: 'Notifications, 1 unread' })).toBeVisible({ timeout: 15_000 })
  await tabTo(grace.page.getByRole('button', { name: 'Notifications, 1 unread' }))
  await grace.page.keyboard.press('Enter')
  const panel = grace.page.getByRole('dialog', { name: 'Notifications' })
  await expect(panel.getByRole('link')).toHaveCount(1)
  await grace.page.keyboard.press('ArrowDown')
  await expect(panel.getByRole('link')).toBeFocused()
  await grace.page.keyboard.press('Escape')
  await expect(panel).toHaveCount(0)
  await expect(grace.page.getByRole('button', { name: 'Notifications, 1 unread' })).toBeFocused()

  // A letter key on a button is not a shortcut, so leave the button.
  await leaveControl(grace.page)
  await grace.page.keyboard.press('g')
  await grace.page.keyboard.press('n')
  await expect(grace.page).toHaveURL(/\/notifications$/)
  await expect(grace.page.getByRole('link', { name: /mentioned you/ })).toBeVisible()
  expect(await axe(grace.page)).toEqual([])
  await tabTo(grace.page.getByRole('button', { name: 'Mark all as read' }))
  await grace.page.keyboard.press('Enter')
  await expect(grace.page.getByRole('button', { name: 'Notifications', exact: true })).toBeVisible()
  await tabTo(grace.page.getByRole('tab', { name: 'All' }))
  await grace.page.keyboard.press('ArrowRight')
  await expect(grace.page.getByText('You’re all caught up')).toBeVisible()
  await grace.close()
})

test('a board is watched and unwatched', async ({ world, browser }) => {
  const grace = await signUpPerson(browser, world)
  await grace.page.goto(`/boards/${world.boardId}`)
  const menu = async () => {
    const item = grace.page.getByRole('menuitemcheckbox', { name: 'Watch this board' })
    await expect(item).toBeHidden() // its menu is closed
    await grace.page.getByRole('button', { name: 'Board menu' }).click()
    return item
  }
  await (await menu()).click()
  await expect(await menu()).toHaveAttribute('aria-checked', 'true')
  await grace.page.keyboard.press('Escape')
  await waitUntilSaved(grace.page)
  await world.post('/cards', { listId: world.lists.Doing, title: 'News' })
  await expect(grace.page.getByRole('button', { name: 'Notifications, 1 unread' })).toBeVisible({ timeout: 15_000 })
  await grace.page.reload()
  await expect(await menu()).toHaveAttribute('aria-checked', 'true')
  await grace.close()
})

test('notification settings are saved, and the calendar feed is created, replaced and deleted', async ({
  world,
  browser,
  request,
}) => {
  const grace = await signUpPerson(browser, world)
  const settings = grace.page
  await settings.goto('/profile/notifications')
  await settings.getByLabel('Comments').selectOption('Off')
  await settings.getByLabel('Daily email').selectOption('At 17:00')
  await settings.getByLabel('Quiet hours').check()
  await settings.getByLabel('Quiet from').fill('21:30')
  await settings.getByLabel('A week before').check()
  await waitUntilSaved(settings)
  await settings.reload()
  await expect(settings.getByLabel('Comments')).toHaveValue('off')
  await expect(settings.getByLabel('Daily email')).toHaveValue('17')
  await expect(settings.getByLabel('Quiet from')).toHaveValue('21:30')
  await expect(settings.getByLabel('A week before')).toBeChecked()
  await world.post(`/cards/${world.cards.One}/comments`, { text: 'This notifies no one' })

  const due = { dueDate: new Date(Date.now() + 3 * 86_400_000).toISOString().slice(0, 10) }
  await world.post('/cards', { listId: world.lists['To do'], title: 'Due soon', assignees: [grace.id], due })
  await settings.getByRole('button', { name: 'Create calendar feed' }).click()
  const address = await settings.getByLabel('Calendar address').last().innerText()
  const path = new URL(address.trim()).pathname
  const calendar = await request.get(path)
  expect(calendar.headers()['content-type']).toContain('text/calendar')
  expect(await calendar.text()).toContain('SUMMARY:Due soon')
  expect(await axe(settings)).toEqual([])
  await settings.getByRole('button', { name: 'Replace address' }).click()
  await settings.getByRole('dialog').getByRole('button', { name: 'Replace address' }).click()
  await expect.poll(async () => (await request.get(path)).status()).toBe(404)
  await settings.getByRole('button', { name: 'Delete feed' }).click()
  await settings.getByRole('dialog').getByRole('button', { name: 'Delete feed' }).click()
  await expect(settings.getByText('You don’t have a calendar feed yet.')).toBeVisible()
  await grace.close()
})

test('the unsubscribe page changes nothing until it is confirmed', async ({ page }) => {
  await page.goto('/unsubscribe?token=nonsense')
  await page.getByRole('button', { name: 'Unsubscribe' }).click()
  await expect(page.getByRole('alert')).toContainText('Use the unsubscribe link exactly as it is in the email')
  expect(await axe(page)).toEqual([])
})

test('on a phone the bell in the drawer opens the notifications page', async ({ world, browser }) => {
  const grace = await signUpPerson(browser, world)
  await grace.page.setViewportSize({ width: 390, height: 844 })
  await grace.page.goto('/')
  await grace.page.getByRole('button', { name: 'Menu' }).click()
  await grace.page
    .getByRole('navigation', { name: 'Workspaces and boards' })
    .getByRole('link', { name: 'Notifications', exact: true })
    .click()
  await expect(grace.page).toHaveURL(/\/notifications$/)
  await expect(grace.page.getByText('No notifications yet')).toBeVisible()
  await expect(grace.page.getByRole('button', { name: 'Mark all as read' })).toHaveCount(0)
  await grace.close()
})
