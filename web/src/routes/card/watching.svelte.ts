// Watching a card.
import { app, data, reason } from '../../api/client'
import { isTemporary } from '../../lib/id'
import { toast } from '../../state/toasts.svelte'

/** Loads whether the user watches a card. Reloads when the reactive state that `target` reads changes. */
export function cardWatch(target: () => { cardId: string; assignedToMe: boolean | undefined }) {
  /** Whether the user watches the card, or null if unknown. */
  let on = $state<boolean | null>(null)
  const { cardId } = $derived(target())
  const request = $derived({ params: { path: { cardId } } })

  $effect(() => {
    const { cardId: requested } = target()
    if (isTemporary(requested)) return
    data(app.GET('/cards/{cardId}/watch', request)).then(
      (response) => {
        if (requested === cardId) on = response.watching
      },
      () => (on = null),
    )
  })

  return {
    get on() {
      return on
    },
    async toggle(): Promise<void> {
      const to = !on
      on = to
      try {
        await data(to ? app.PUT('/cards/{cardId}/watch', request) : app.DELETE('/cards/{cardId}/watch', request))
        toast(to ? 'You’re now watching this card' : 'You’re no longer watching this card')
      } catch (thrown) {
        on = !to
        toast(reason(thrown), { tone: 'bad' })
      }
    },
  }
}
