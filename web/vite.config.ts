import { svelte } from '@sveltejs/vite-plugin-svelte'
import { defineConfig } from 'vitest/config'
import { pack } from './scripts/pack.mjs'
import { preload } from './scripts/preload.mjs'
import { routes } from './scripts/routes.mjs'

// The server that `npm run dev` passes /api on to. The content security policy
// comes with the server's own pages; Vite's client in dev would breach it.
const upstream = process.env.CARDWALL_DEV_SERVER ?? 'http://127.0.0.1:8080'

export default defineConfig({
  plugins: [svelte(), preload(), routes(), pack()],
  resolve: { conditions: process.env.VITEST ? ['browser'] : undefined },
  server: { host: '127.0.0.1', proxy: { '/api': { target: upstream } } },
  build: {
    target: 'es2023',
    assetsInlineLimit: 0, // font-src takes no data:
    modulePreload: { polyfill: false },
    manifest: true,
    rolldownOptions: {
      output: {
        // What most pages share is one file, else each piece would be one of its own;
        // what shows Markdown and reads dates is heavy, and comes when it is needed.
        codeSplitting: {
          groups: [
            // Loaded late by the board, and by the public page, which is not to load the board for it.
            { name: 'markdown', test: /src\/lib\/markdown/ },
            {
              name: 'base',
              test: /src\/(api|lib(?!\/(markdown|naturalDate|zoneNames))|state|ui(?!\/(DateField|UsageBar)))\//,
              minShareCount: 4,
            },
            // The form of dates takes a button along, which the first page needs too;
            // what is used of a plan stands on pages that need nothing else of a board.
            {
              name: 'board',
              test: /src\/(routes\/board|lib(?!\/(markdown|naturalDate|zoneNames))|state|ui)\/(?!DueForm|DateField|UsageBar)/,
              minShareCount: 2,
            },
          ],
        },
      },
    },
    chunkSizeWarningLimit: 300,
  },
  test: {
    environment: 'happy-dom',
    include: ['src/**/*.test.ts'],
    reporters: ['default', './scripts/count.mjs'],
  },
})
