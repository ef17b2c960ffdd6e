const foldedKey = 'cardwall-sidebar-folded'

let palette = $state<'all' | 'boards' | null>(null)
let helping = $state(false)
let folded = $state(localStorage.getItem(foldedKey) === 'yes')

/** What stands around every page. */
export const shell = {
  get palette() {
    return palette
  },
  set palette(to) {
    palette = to
  },
  get helping() {
    return helping
  },
  set helping(to) {
    helping = to
  },
  get folded() {
    return folded
  },
  fold(): void {
    folded = !folded
    localStorage.setItem(foldedKey, folded ? 'yes' : 'no')
  },
}
