import { get } from './api.js'

export const authentication = {
  type: 'custom',
  fields: [
    {
      key: 'serverUrl',
      label: 'Server URL',
      type: 'string',
      required: true,
      placeholder: 'https://cardwall.example.com',
      helpText: 'The address at which you open Cardwall in the browser.',
    },
    {
      key: 'token',
      label: 'API token',
      type: 'password',
      required: true,
      helpText:
        'Create a token on your profile page under **API tokens**. It needs the scopes `read` and ' +
        '`write`, and for triggers `admin`.',
    },
  ],
  test: (z, bundle) => get(z, bundle, '/me'),
  connectionLabel: '{{name}} ({{email}})',
}
