const foldedKey = 'cardwall-sidebar-folded'
const workspaceKey = 'cardwall-workspace'

let palette = $state<'all' | 'boards' | null>(null)
let helpOpen = $state(false)
let signOutOpen = $state(false)
let folded = $state(localStorage.getItem(foldedKey) === 'yes')

let notFound = $state(false)

let boardId = $state<string | null>(null)

let workspaceId = $state(sessionStorage.getItem(workspaceKey))

/** The state of the layout around the pages. */
export const shell = {
  get palette() {
    return palette
  },
  set palette(to) {
    palette = to
  },
  get helpOpen() {
    return helpOpen
  },
  set helpOpen(to) {
    helpOpen = to
  },
  /** Whether the page asks for confirmation before it signs out, because files are being uploaded. */
  get signOutOpen() {
    return signOutOpen
  },
  set signOutOpen(to) {
    signOutOpen = to
  },
  /** Whether the page was not found. If so, phones show the navigation bar even at the URL of a board or card. */
  get notFound() {
    return notFound
  },
  set notFound(to) {
    notFound = to
  },
  /** The ID of the board that is shown, even if the URL is that of one of its cards. */
  get boardId() {
    return boardId
  },
  set boardId(to) {
    boardId = to
  },
  /** The ID of the workspace that was visited last in this tab. */
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
