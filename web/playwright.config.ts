import { defineConfig } from '@playwright/test'

// e2e/server.ts starts the binary; `make build` makes it, with these pages in it.
export default defineConfig({
  testDir: 'e2e',
  globalSetup: './e2e/server.ts',
  fullyParallel: true,
  workers: 2,
  forbidOnly: !!process.env.CI,
  // Twice and more of what an idle machine needs: a loaded one is no failure.
  timeout: 60_000,
  // Where nobody can look again, a test may have a second try; the list shows that it needed one.
  retries: process.env.CI ? 1 : 0,
  expect: { timeout: 10_000 },
  // The screens first: their checks read all of a page, and each test leaves a workspace on the demo person's.
  projects: [
    { name: 'screens', testMatch: /(axe|keyboard)\.spec\.ts/ },
    { name: 'work', testIgnore: /(axe|keyboard)\.spec\.ts/ },
  ],
  reporter: [['list'], ['./e2e/count.ts']],
  use: {
    launchOptions: {
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
      args: [
        '--headless',
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
      ],
    },
    // A trace costs a third of a test's time: where there is a second try, that one has it.
    trace: process.env.CI ? 'on-first-retry' : 'retain-on-failure',
  },
})
