import { defineConfig } from '@playwright/test'
import base from '../playwright.config'

// Takes pictures, checks nothing: scripts/pictures.mjs starts it.
export default defineConfig({
  ...base,
  testDir: '.',
  // The projects of the tests would come along, and look for their own files.
  projects: [{ name: 'pictures', testMatch: 'pictures.ts' }],
  timeout: 60_000,
  globalSetup: './server.ts',
  reporter: [['list']],
})
