export const routes = [
  { path: '/boards/:boardId/automation', load: () => import('./Automation.svelte') },
  { path: '/boards/:boardId/automation/:ruleId', load: () => import('./RuleEditor.svelte') },
]
