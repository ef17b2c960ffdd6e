const foldedKey = 'cardwall-sidebar-folded'
const workspaceKey = 'cardwall-workspace'

let palette = $state<'all' | 'boards' | null>(null)
let helping = $state(false)
let folded = $state(localStorage.getItem(foldedKey) === 'yes')

let lost = $state(false)

let boardId = $state<string | null>(null)

let workspaceId = $state(sessionStorage.getItem(workspaceKey))

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
  /** Whether the address leads to nothing; a phone then shows its bar of pages at boards and cards too. */
  get lost() {
    return lost
  },
  set lost(to) {
    lost = to
  },
  /** The board that is shown, also under the address of a card. */
  get boardId() {
    return boardId
  },
  set boardId(to) {
    boardId = to
  },
  /** The workspace that was looked at last, in this tab. */
  get workspaceId() {
    return workspaceId
  },
  set workspaceId(to) {
    workspaceId = to
    if (to) sessionStorage.setItem(workspaceKey, to)
  },
  get folded() {
    return folded
  },
  fold(): void {
    folded = !folded
    localStorage.setItem(foldedKey, folded ? 'yes' : 'no')
  },
}
