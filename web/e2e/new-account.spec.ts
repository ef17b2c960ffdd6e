// Accounts created through a link: the first account of a server, and that of an invited person.
import { callApi, expect, secretLinkTo, expectAccessible, tabTo, test } from './fixtures'
import { freePort, makeTempFolder, startServer } from './serverProcess'

const password = 'correct horse battery'

test.describe('a server without accounts', () => {
  test.use({ signedIn: false })

  test('prints a link that creates the first account, whose owner is an operator', async ({ newSignedOutPage }) => {
    test.setTimeout(120_000)
    const { folder, remove } = makeTempFolder()
    const port = await freePort()
    const flags = ['--sign-up', 'closed']
    let server = await startServer(folder, port, `http://localhost:${port}`, flags)
    try {
      const link = server.firstAccountLink
      expect(link).toMatch(new RegExp(`^${server.url}/first#\\w{26}$`))
      const page = await newSignedOutPage({ baseURL: server.url })
      await page.goto('/first')
      await expect(page.getByRole('heading', { name: 'This link is incomplete' })).toBeVisible()
      await expectAccessible(page)

      await page.goto('about:blank') // changing only the fragment does not load the page
      await page.goto(link)
      await expect(page.getByRole('heading', { name: 'Set up Cardwall' })).toBeVisible()
      await expect(page.getByText('You’ll be an administrator of this server.')).toBeVisible()
      await expectAccessible(page)
      await page.getByLabel('Your name').fill('Grace Hopper')
      await page.getByLabel('Email address').fill('grace@example.com')
      await page.getByLabel('Password').fill('grace@example.com')
      await page.getByRole('button', { name: 'Create account' }).click()
      await expect(page.getByRole('alert')).toContainText('password')
      expect(await page.getByLabel('Your name').inputValue()).toBe('Grace Hopper')
      await expectAccessible(page)
      await page.getByLabel('Password').fill(password)
      await page.getByRole('button', { name: 'Create account' }).click()

      await expect(page).toHaveURL('/')
      await expect(page.getByRole('heading', { level: 1, name: /Grace$/ })).toBeVisible()
      await page.getByRole('button', { name: 'Grace Hopper' }).click()
      await page.getByRole('menuitem', { name: 'Organizations' }).click()
      await expect(page).toHaveURL('/organizations')
      await expect(page.getByRole('heading', { level: 1, name: 'Organizations' })).toBeVisible()

      // The link works only once, and a restarted server prints no new link.
      const secondPage = await newSignedOutPage({ baseURL: server.url })
      await secondPage.goto(link)
      await secondPage.getByLabel('Your name').fill('Eve')
      await secondPage.getByLabel('Email address').fill('eve@example.com')
      await secondPage.getByLabel('Password').fill(password)
      await secondPage.keyboard.press('Enter')
      await expect(secondPage.getByRole('alert')).toContainText('Sign-up is closed on this server.')
      await server.stop('SIGTERM')
      server = await startServer(folder, port, server.url, flags)
      expect(server.firstAccountLink).toBe('')
    } finally {
      await server.stop('SIGKILL')
      remove()
    }
  })
})

test('an invited person creates an account on the invitation page by keyboard only', async ({
  world,
  newSignedOutPage,
}) => {
  const email = `grace.${crypto.randomUUID().slice(0, 8)}@example.com`
  await world.post(`/workspaces/${world.workspaceId}/invitations`, { email, role: 'member' })
  const page = await newSignedOutPage()
  await page.goto(await secretLinkTo(email))
  await expect(page.getByRole('heading', { name: /^Join / })).toBeVisible()
  await expectAccessible(page)

  const name = page.getByLabel('Your name')
  await expect(name).toBeFocused()
  await page.keyboard.type('Grace Hopper')
  await page.keyboard.press('Tab')
  const address = page.getByLabel('Email address')
  await expect(address).toBeFocused()
  await page.keyboard.type('x')
  await expect(address).toHaveValue(email) // the invited address cannot be changed
  await tabTo(page.getByLabel('Password'))
  await page.keyboard.type(email)
  await page.keyboard.press('Enter')
  await expect(page.getByRole('alert')).toContainText('password')
  await tabTo(page.getByLabel('Password'))
  await page.keyboard.press('Control+A')
  await page.keyboard.type(password)
  await tabTo(page.getByRole('button', { name: 'Create account and join' }))
  await page.keyboard.press('Enter')

  await expect(page).toHaveURL('/')
  await expect(page.getByRole('heading', { level: 1, name: /Grace$/ })).toBeVisible()
  const board = page.getByRole('main').getByRole('link', { name: /Plan/ }).first()
  await tabTo(board)
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(`/boards/${world.boardId}`)
  await expect(page.getByRole('region', { name: 'To do' })).toBeVisible()
  const { user } = await callApi<{ user: { email: string; operator: boolean } }>(page, 'GET', '/app/v1/session')
  expect(user).toMatchObject({ email, operator: false })
})
