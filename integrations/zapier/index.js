// The app as Zapier loads it.
import { readFileSync } from 'node:fs'
import zapier from 'zapier-platform-core'
import { authentication } from './authentication.js'
import { creates } from './creates.js'
import { dropdowns } from './dropdowns.js'
import { events } from './events.js'
import { searches } from './searches.js'

const { version } = JSON.parse(readFileSync(new URL('package.json', import.meta.url)))

export default {
  version,
  platformVersion: zapier.version,
  authentication,
  triggers: { ...events, ...dropdowns },
  searches,
  creates,
  searchOrCreates: {
    find_card: {
      key: 'find_card',
      display: {
        label: 'Find or Create Card',
        description: 'Finds a card by search text, or creates one.',
      },
      search: 'find_card',
      create: 'create_card',
    },
  },
}
