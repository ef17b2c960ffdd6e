export const routes = [
  { path: '/search', load: () => import('./Search.svelte') },
  { path: '/my-cards', load: () => import('./MyCards.svelte') },
]
