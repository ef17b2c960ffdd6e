import { mount } from 'svelte'
import '@fontsource-variable/inter/wght.css'
import './styles/tokens.css'
import './styles/base.css'
import './styles/controls.css'
import './styles/drag.css'
import './styles/print.css'
import App from './App.svelte'
import { startRouter } from './lib/router.svelte'
import { wasIn } from './routes/account/next'
import { openEarly } from './state/opening'
import { showStoredTheme } from './state/session.svelte'

// Of a board nothing is asked where nobody is signed in.
if (wasIn.get()) openEarly(location.pathname)
showStoredTheme()
startRouter()
mount(App, { target: document.body })
