import { defineConfig } from '@playwright/test'
import base from '../playwright.config'

// Takes pictures, checks nothing: scripts/pictures.mjs starts it.
export default defineConfig({
  ...base,
  testDir: '.',
  testMatch: 'pictures.ts',
  timeout: 60_000,
  globalSetup: './server.ts',
  reporter: [['list']],
})
