import { config } from '@n8n/node-cli/eslint'

export default [
  ...config,
  {
    // n8n asks these of packages that it verifies itself: the license MIT, and an author and a page
    // of the package. All other rules of verified packages apply.
    files: ['package.json'],
    rules: {
      'n8n-nodes-base/community-package-json-author-missing': 'off',
      'n8n-nodes-base/community-package-json-license-not-default': 'off',
      '@n8n/community-nodes/require-homepage': 'off',
      '@n8n/community-nodes/valid-author': 'off',
    },
  },
  {
    // The documentation of the credentials is the README, which n8n shows on the package's page.
    files: ['credentials/**/*.ts'],
    rules: { 'n8n-nodes-base/cred-class-field-documentation-url-missing': 'off' },
  },
]
