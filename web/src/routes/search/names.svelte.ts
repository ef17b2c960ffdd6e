// Names for search suggestions. Boards are already loaded; labels, lists and
// people are loaded once, when they are first needed.
import { api, data } from '../../api/client'
import { session } from '../../state/session.svelte'
import { loadAll } from '../../page/remote.svelte'
import { counted, countedLabels, type Names } from './query'

const boardLimit = 24

export class KnownNames {
  #lists = $state.raw<string[]>([])
  #labels = $state.raw<{ name: string; color: string }[]>([])
  #members = $state.raw<string[]>([])
  #loadedWorkspace: string | null = null
  #peopleRequested = false

  get all(): Names {
    return {
      boards: session.workspaces.flatMap((w) => w.boards.map((b) => b.name)),
      lists: this.#lists,
      labels: this.#labels,
      members: this.#members,
    }
  }

  /** Loads the names that the word being typed needs. */
  need(word: string, workspaceId: string): void {
    if (/^-?(#|label:|list:)/i.test(word)) void this.#loadBoardNames(workspaceId)
    if (/^-?(@|member:|creator:|commenter:)/i.test(word)) void this.#loadPeople()
  }

  async #loadBoardNames(workspaceId: string): Promise<void> {
    if (this.#loadedWorkspace === workspaceId) return
    this.#loadedWorkspace = workspaceId
    const boards = session.workspaces
      .filter((w) => workspaceId === '' || w.id === workspaceId)
      .flatMap((w) => w.boards.filter((b) => !b.archivedAt))
      .sort((a, b) => ((a.lastSeenAt ?? '') < (b.lastSeenAt ?? '') ? 1 : -1))
      .slice(0, boardLimit)
    const found = await Promise.allSettled(
      boards.map((b) => data(api.GET('/boards/{boardId}', { params: { path: { boardId: b.id } } }))),
    )
    const details = found.flatMap((f) => (f.status === 'fulfilled' ? [f.value] : []))
    this.#lists = counted(details.flatMap((d) => d.lists.map((l) => l.name)))
    this.#labels = countedLabels(details.flatMap((d) => d.labels))
  }

  async #loadPeople(): Promise<void> {
    if (this.#peopleRequested) return
    this.#peopleRequested = true
    const found = await Promise.allSettled(
      session.workspaces
        .filter((w) => w.role !== 'guest')
        .map((w) =>
          loadAll((query) =>
            api.GET('/workspaces/{workspaceId}/members', { params: { path: { workspaceId: w.id }, query } }),
          ),
        ),
    )
    const people = found.flatMap((f) => (f.status === 'fulfilled' ? f.value : []))
    this.#members = counted(people.map((p) => p.name))
  }
}
