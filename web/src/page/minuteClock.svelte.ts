/** Returns the current time, which is updated every minute. Call it while a component initializes. */
export function minuteClock(): { readonly now: Date } {
  let now = $state.raw(new Date())
  $effect(() => {
    const timer = setInterval(() => (now = new Date()), 60_000)
    return () => clearInterval(timer)
  })
  return {
    get now() {
      return now
    },
  }
}
