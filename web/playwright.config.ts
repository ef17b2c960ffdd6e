import { defineConfig } from '@playwright/test'

// e2e/server.ts starts the binary. `make build` builds it with the pages embedded.
export default defineConfig({
  testDir: 'e2e',
  globalSetup: './e2e/server.ts',
  fullyParallel: true,
  workers: 2,
  forbidOnly: !!process.env.CI,
  // More than twice the time that an idle machine needs, so that tests pass on a busy machine too.
  timeout: 60_000,
  // A failure in CI may be hard to reproduce, so retry once. The list reporter marks such tests as flaky.
  retries: process.env.CI ? 1 : 0,
  expect: { timeout: 10_000 },
  // Check the screens first, because these checks read entire pages, and each later test leaves a workspace
  // on the pages of the demo user.
  projects: [
    { name: 'screens', testMatch: /(axe|keyboard)\.spec\.ts/ },
    { name: 'work', testIgnore: /(axe|keyboard)\.spec\.ts/ },
  ],
  reporter: [['list'], ['./e2e/summaryReporter.ts']],
  use: {
    launchOptions: {
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium-headless-shell',
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
    // A trace adds a third to a test's time. In CI, only the retry is traced.
    trace: process.env.CI ? 'on-first-retry' : 'retain-on-failure',
  },
})
