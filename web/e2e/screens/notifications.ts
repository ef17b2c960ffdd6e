import { expect } from '@playwright/test'
import { button, failing, type Screen } from './screen'

export const notifications: readonly Screen[] = [
  {
    name: 'notifications',
    route: '/notifications',
    path: () => '/notifications',
    ready: (page) => page.getByRole('link', { name: /commented/ }).first(),
  },
  {
    name: 'notifications-empty',
    route: '/notifications',
    user: 'newcomer',
    path: () => '/notifications',
    ready: (page) => page.getByText('No notifications yet'),
  },
  {
    name: 'notifications-failed',
    expectFailures: true,
    route: '/notifications',
    path: () => '/notifications',
    prepare: failing('**/app/v1/notifications**'),
    ready: (page) => page.getByText('Notifications couldn’t be loaded'),
  },
  {
    name: 'notifications-panel',
    route: '/',
    path: () => '/',
    ready: (page) => page.getByRole('heading').first(),
    steps: async (page) => {
      if ((page.viewportSize()?.width ?? 1000) < 640) {
        // A phone has no room for the panel, so the bell opens the page.
        await button(page, 'Menu').click()
        const bell = page
          .getByRole('navigation', { name: 'Workspaces and boards' })
          .getByRole('link', { name: /^Notifications/ })
        await expect(bell).toHaveAttribute('href', '/notifications')
        return
      }
      await button(page, /^Notifications/)
        .first()
        .click()
      await expect(page.getByRole('dialog', { name: 'Notifications' })).toBeVisible()
    },
  },
  {
    name: 'notification-settings',
    route: '/profile/notifications',
    path: () => '/profile/notifications',
    ready: (page) => page.getByLabel('Daily email'),
  },
  {
    name: 'calendar-feed',
    route: '/profile/notifications',
    user: 'founder',
    path: () => '/profile/notifications',
    steps: async (page) => {
      await page
        .getByRole('button', { name: /^(Create calendar feed|Replace address)$/ })
        .first()
        .waitFor()
      if (await button(page, 'Create calendar feed').isVisible()) await button(page, 'Create calendar feed').click()
      await expect(button(page, 'Delete feed')).toBeVisible()
    },
  },
  { name: 'unsubscribe', route: '/unsubscribe', user: 'visitor', path: () => '/unsubscribe?token=abc' },
]
