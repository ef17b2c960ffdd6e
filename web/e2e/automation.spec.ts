import { type Locator, type Page } from '@playwright/test'
import { expect, expectAccessible, send, server, shortenPauses, test, type World } from './fixtures'
import { Receiver, subscribe } from './receiver'

type CallOptions = { method?: string; body?: object }

/** Sends a request with the demo person's API token. */
async function callApi<T>(path: string, { method = 'GET', body }: CallOptions = {}): Promise<T> {
  const headers = { Authorization: `Bearer ${server().token}`, 'Content-Type': 'application/json' }
  const response = await send(`/api${path}`, { method, headers, body: body && JSON.stringify(body) })
  expect(response.ok, await response.clone().text()).toBeTruthy()
  return ((await response.json()) as { data: T }).data
}

const enableAutomation = (world: World) =>
  callApi(`/public/v1/boards/${world.boardId}`, { method: 'PATCH', body: { features: { automation: true } } })

const createRule = (world: World, overrides: object = {}) =>
  callApi<{ id: string }>(`/app/v1/boards/${world.boardId}/rules`, {
    method: 'POST',
    body: {
      name: 'Done is done',
      when: { event: 'card_entered', listId: world.lists.Done },
      then: [{ operation: 'update_card', input: { done: true } }],
      ...overrides,
    },
  })

type SentEvent = { type: string; actor: { type: string; id: string }; data: { cardId: string } }

/** Moves a card to Done, and waits until the receiver gets the event that a rule has marked it done. */
async function moveToDone(world: World, receiver: Receiver, ruleId: string): Promise<void> {
  await world.post(`/cards/${world.cards.One}/move`, { listId: world.lists.Done })
  await expect.poll(() => receiver.events).toBe(1)
  const sent = JSON.parse(receiver.deliveries[0]!.body) as SentEvent
  expect(sent).toMatchObject({
    type: 'card.completed',
    actor: { type: 'automation', id: ruleId },
    data: { cardId: world.cards.One },
  })
}

const rules = (page: Page) => page.getByRole('list', { name: 'Rules', exact: true })
const runs = (page: Page) => page.getByRole('list', { name: 'Runs' })

test.beforeEach(({ page }) => shortenPauses(page)) // the log is loaded again every few seconds

test('by mouse: a card that enters Done is marked done, and the webhook gets the event', async ({ page, world }) => {
  await using receiver = await Receiver.start()
  await subscribe(world, receiver, { events: ['card.completed'] })
  await page.goto(`/boards/${world.boardId}`)
  await page.getByRole('button', { name: 'Board menu' }).click()
  await page.getByRole('menuitem', { name: 'Automation' }).click()
  await page.getByRole('button', { name: 'Turn on automation' }).click()
  const examples = page.getByRole('list', { name: 'Example rules' }).getByRole('listitem')
  await expect(examples).toHaveCount(3)
  await expect(examples.first()).toContainText('When a card enters Done, if it is not done, then mark it done.')
  await examples.first().click()
  await expect(page.getByLabel('Name')).toHaveValue('Mark finished cards done')
  await page.getByRole('button', { name: 'Test on recent cards' }).click()
  await expect(page.getByText('4 of the 4 most recently changed cards')).toBeVisible()
  await page.getByRole('button', { name: 'Save and turn on' }).click()
  await expect(page).toHaveURL(/\/automation$/)
  await expect(rules(page).getByRole('listitem')).toContainText('When a card enters Done')
  const [rule] = await callApi<{ id: string }[]>(`/app/v1/boards/${world.boardId}/rules`)
  await moveToDone(world, receiver, rule!.id)
  await expect(runs(page).getByRole('listitem')).toHaveText(/Done\s+Mark finished cards done\s+on One\s+card moved/)
  // The card's activity names the rule.
  await page.goto(`/cards/${world.cards.One}`)
  await expect(page.getByText('Mark finished cards done (automation)').first()).toBeVisible()
})

/** Presses Tab until an element has the focus. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  await expect(target).toBeVisible()
  for (let n = 0; n < 100; n++) {
    if (await target.evaluate((node) => node === document.activeElement)) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`Tab does not reach ${String(target)}`)
}

/** Picks an option of a select by typing its beginning. Retries, because the browser forgets text after a second. */
async function pickByTyping(page: Page, select: Locator, text: string, value: string | RegExp): Promise<void> {
  await tabTo(page, select)
  await expect(async () => {
    await page.keyboard.type(text)
    await expect(select).toHaveValue(value, { timeout: 2000 })
  }).toPass({ timeout: 30_000 })
}

// Takes more than five seconds, because Tab passes through the whole form several times.
test('by keyboard only: a rule with conditions and two actions is created, changed and disabled', async ({
  page,
  world,
}) => {
  test.slow()
  await enableAutomation(world)
  const bug = await world.post(`/boards/${world.boardId}/labels`, { name: 'Bug', color: 'red' })
  await page.goto(`/boards/${world.boardId}/automation`)
  await tabTo(page, page.getByRole('link', { name: 'Create from scratch' }))
  await page.keyboard.press('Enter')
  await tabTo(page, page.getByLabel('Name'))
  await page.keyboard.type('Bugs')
  await pickByTyping(page, page.getByLabel('Trigger'), 'a label is added', 'label_added')
  await pickByTyping(page, page.getByLabel('Label', { exact: true }), 'Bug', bug)
  await tabTo(page, page.getByRole('button', { name: 'Add condition' }))
  await page.keyboard.press('Enter')
  await expect(page.getByLabel('Condition 1', { exact: true })).toBeFocused()
  await pickByTyping(page, page.getByLabel('Condition 1', { exact: true }), 'no one', 'is:unassigned')
  await pickByTyping(page, page.getByLabel('Action 1', { exact: true }), 'move', 'move')
  await pickByTyping(page, page.getByLabel('Position'), 'to the top', 'top')
  await pickByTyping(page, page.getByRole('combobox', { name: 'List', exact: true }), 'Doing', world.lists.Doing!)
  await tabTo(page, page.getByRole('button', { name: 'Add action' }))
  await page.keyboard.press('Enter')
  await page.keyboard.press('Shift+Tab')
  await pickByTyping(page, page.getByLabel('Action 2', { exact: true }), 'comment', 'comment')
  await tabTo(page, page.getByLabel('Text'))
  await page.keyboard.type('A bug: {card}.')
  await tabTo(page, page.getByRole('button', { name: 'Save and turn on' }))
  await page.keyboard.press('Enter')
  await expect(rules(page).getByRole('listitem')).toContainText(
    'When the label Bug is added, if no one is assigned, then move it to the top of Doing and comment “A bug: {card}.”',
  )
  await expect(rules(page).getByRole('listitem')).not.toContainText('.”.')
  await callApi(`/public/v1/cards/${world.cards.Two}/labels`, { method: 'PATCH', body: { add: [bug] } })
  await expect(runs(page).getByRole('listitem')).toContainText('Bugs on Two')
  const comments = await callApi<{ text: string; author: null }[]>(`/public/v1/cards/${world.cards.Two}/comments`)
  expect(comments).toMatchObject([{ text: 'A bug: Two.', author: null }])

  await tabTo(page, page.getByRole('switch', { name: 'Turn on “Bugs”' }))
  await page.keyboard.press('Space')
  await expect(rules(page).getByText('Off', { exact: true })).toBeVisible()
  await tabTo(page, page.getByRole('link', { name: 'Bugs' }))
  await page.keyboard.press('Enter')
  await tabTo(page, page.getByLabel('Name'))
  await page.keyboard.press('Control+A')
  await page.keyboard.type('Bugs first')
  await page.keyboard.press('Enter')
  await expect(rules(page).getByRole('listitem')).toContainText('Bugs first')
  await tabTo(page, page.getByRole('button', { name: 'Actions for Bugs first' }))
  await page.keyboard.press('Enter')
  await page.getByRole('menuitem', { name: 'Delete…' }).press('Enter')
  await page.getByRole('button', { name: 'Delete rule' }).press('Enter')
  await expect(page.getByRole('list', { name: 'Example rules' })).toBeVisible()
})

test('a failed action appears in the log with its reason, live', async ({ page, world }) => {
  await enableAutomation(world)
  await createRule(world, { name: 'Twice', then: [{ operation: 'move_card', input: { listId: world.lists.Doing } }] })
  await page.goto(`/boards/${world.boardId}/automation`)
  await expect(page.getByText('No runs yet')).toBeVisible()
  await expect(page.getByLabel('Outcome')).toHaveCount(0)
  await world.post(`/lists/${world.lists.Doing}/archive`, {})
  await world.post(`/cards/${world.cards.One}/move`, { listId: world.lists.Done })
  const run = runs(page).getByRole('listitem')
  await expect(run).toContainText('Not run')
  await expect(run).toContainText('move_card: The list is archived')
  await page.getByLabel('Outcome').selectOption('Done')
  await expect(page.getByText('No matching runs')).toBeVisible()
})

test('a dry run shows the actions that a rule would run, and changes nothing', async ({ page, world }) => {
  await enableAutomation(world)
  await world.post(`/cards/${world.cards.Three}/move`, { listId: world.lists.Done })
  const before = await callApi<{ version: number }>(`/public/v1/boards/${world.boardId}`)
  await page.goto(`/boards/${world.boardId}/automation/new?from=done`)
  await page.getByRole('button', { name: 'Test on recent cards' }).click()
  const results = page.getByRole('list', { name: 'Matching cards' }).getByRole('listitem')
  await expect(results).toHaveCount(4)
  await expect(results.first()).toContainText(/Three\s*mark it done\s*would have run/)
  await expect(results.last()).toContainText('has not recently entered this list')
  expect(await callApi<{ version: number }>(`/public/v1/boards/${world.boardId}`)).toMatchObject({
    version: before.version,
  })
  await page.getByLabel('Trigger').selectOption('card_completed')
  await expect(results).toHaveCount(0)
})

test('the automation pages have no axe violations', async ({ page, world }) => {
  test.slow()
  const path = `/boards/${world.boardId}/automation`
  const checkPage = async (url: string, content: Locator) => {
    if (url) await page.goto(url)
    await expect(content).toBeVisible()
    await expectAccessible(page)
  }
  await checkPage(path, page.getByRole('button', { name: 'Turn on automation' }))
  await enableAutomation(world)
  await checkPage(path, page.getByText('Assign cards to the person who starts them'))
  await createRule(world)
  await world.post(`/cards/${world.cards.One}/move`, { listId: world.lists.Done })
  await checkPage(path, runs(page).getByText('Done is done'))
  await page.goto(`${path}/new?from=mine`)
  await page.getByRole('button', { name: 'Add action' }).click()
  await page.getByLabel('Action 2', { exact: true }).selectOption('checklist')
  await page.getByRole('button', { name: 'Test on recent cards' }).click()
  await checkPage('', page.getByRole('list', { name: 'Matching cards' }))
})
