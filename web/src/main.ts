import { mount } from 'svelte'
import '@fontsource-variable/inter/wght.css'
import './styles/tokens.css'
import './styles/base.css'
import './styles/controls.css'
import './styles/drag.css'
import './styles/print.css'
import App from './App.svelte'
import { hideCompositionKeys } from './lib/keys'
import { startRouter } from './lib/router.svelte'
import { wasSignedIn } from './routes/account/nextPage'
import { prefetchBoard } from './state/prefetchBoard'
import { showStoredTheme } from './state/session.svelte'

// Without a session the request would fail, so prefetch only if someone was signed in.
if (wasSignedIn.get()) prefetchBoard(location.pathname)
showStoredTheme()
hideCompositionKeys()
startRouter()
mount(App, { target: document.body })
