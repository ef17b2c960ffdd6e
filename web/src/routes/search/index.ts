export const routes = [
  { path: '/search', load: () => import('./Search.svelte') },
  { path: '/saved-filters/:filterId', load: () => import('./FilterTable.svelte') },
  { path: '/my-cards', load: () => import('./MyCards.svelte') },
]
