// Whether a person watches a card.
import { app, data, reason } from '../../api/client'
import { isTemporary } from '../../lib/id'
import { toast } from '../../state/toasts.svelte'

/** Loads whether the person watches the card, and loads again when state that `of` reads changes. */
export function watching(of: () => { cardId: string; mine: boolean | undefined }) {
  /** Null until it has loaded. */
  let on = $state<boolean | null>(null)
  const { cardId } = $derived(of())
  const here = $derived({ params: { path: { cardId } } })

  $effect(() => {
    const { cardId: requested } = of()
    if (isTemporary(requested)) return
    data(app.GET('/cards/{cardId}/watch', here)).then(
      (found) => {
        if (requested === cardId) on = found.watching
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
        await data(to ? app.PUT('/cards/{cardId}/watch', here) : app.DELETE('/cards/{cardId}/watch', here))
        toast(to ? 'You are watching this card' : 'You are no longer watching this card')
      } catch (thrown) {
        on = !to
        toast(reason(thrown), { tone: 'bad' })
      }
    },
  }
}
