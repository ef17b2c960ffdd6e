import type {
  IAuthenticateGeneric,
  Icon,
  ICredentialTestRequest,
  ICredentialType,
  INodeProperties,
} from 'n8n-workflow'

/** The address of a Cardwall server and an API token, which is sent as a Bearer token. */
export class CardwallApi implements ICredentialType {
  name = 'cardwallApi'

  displayName = 'Cardwall API'

  icon: Icon = { light: 'file:../icons/cardwall.svg', dark: 'file:../icons/cardwall.dark.svg' }

  properties: INodeProperties[] = [
    {
      displayName: 'Server URL',
      name: 'serverUrl',
      type: 'string',
      default: '',
      required: true,
      placeholder: 'https://cardwall.example.com',
      description: 'The address of the Cardwall server, without the path of the API',
    },
    {
      displayName: 'API Token',
      name: 'apiToken',
      type: 'string',
      typeOptions: { password: true },
      default: '',
      required: true,
      description:
        'Create it on your profile page. It needs the scopes read and write, and for the trigger admin, too.',
    },
  ]

  authenticate: IAuthenticateGeneric = {
    type: 'generic',
    properties: {
      headers: { Authorization: '=Bearer {{$credentials.apiToken}}' },
    },
  }

  test: ICredentialTestRequest = {
    request: {
      baseURL: '={{$credentials.serverUrl.trim().replace(/\\/+$/, "")}}',
      url: '/api/public/v1/me',
    },
  }
}
