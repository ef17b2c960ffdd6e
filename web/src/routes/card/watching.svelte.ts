// Whether a person is told of what happens on a card.
import { app, data, reason } from '../../api/client'
import { isTemporary } from '../../lib/id'
import { toast } from '../../state/toasts.svelte'

/** Asked anew whenever what it reads of the page changes, as whether the card is the person's own. */
export function watching(of: () => { cardId: string; mine: boolean | undefined }) {
  /** Null until the server has said it. */
  let on = $state<boolean | null>(null)
  const { cardId } = $derived(of())
  const here = $derived({ params: { path: { cardId } } })

  $effect(() => {
    const { cardId: asked } = of()
    if (isTemporary(asked)) return
    data(app.GET('/cards/{cardId}/watch', here)).then(
      (found) => {
        if (asked === cardId) on = found.watching
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
        toast(to ? 'You are told of what happens here' : 'You are told of mentions alone')
      } catch (thrown) {
        on = !to
        toast(reason(thrown), { tone: 'bad' })
      }
    },
  }
}
