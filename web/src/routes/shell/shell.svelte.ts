const foldedKey = 'cardwall-sidebar-folded'
const workspaceKey = 'cardwall-workspace'

let palette = $state<'all' | 'boards' | null>(null)
let helping = $state(false)
let folded = $state(localStorage.getItem(foldedKey) === 'yes')

let notFound = $state(false)

let boardId = $state<string | null>(null)

let workspaceId = $state(sessionStorage.getItem(workspaceKey))

/** State of the layout around the pages. */
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
  /** Whether the page was not found. Phones then show the navigation bar at board and card addresses too. */
  get notFound() {
    return notFound
  },
  set notFound(to) {
    notFound = to
  },
  /** The board that is shown, also at the address of one of its cards. */
  get boardId() {
    return boardId
  },
  set boardId(to) {
    boardId = to
  },
  /** The workspace visited last in this tab. */
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
