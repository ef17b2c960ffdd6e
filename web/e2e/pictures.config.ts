import { defineConfig } from '@playwright/test'
import base from '../playwright.config'

// Configuration for scripts/pictures.mjs, which takes screenshots and checks nothing.
export default defineConfig({
  ...base,
  testDir: '.',
  // Replaces the projects of the tests, which match other files.
  projects: [{ name: 'pictures', testMatch: 'pictures.ts' }],
  timeout: 60_000,
  globalSetup: './server.ts',
  reporter: [['list']],
})
