// Names for search suggestions. Board names are already loaded. The names of labels,
// lists and people are loaded when they are first needed.
import { api, data } from '../../api/client'
import { session } from '../../state/session.svelte'
import { loadAll } from '../../page/remote.svelte'
import { byFrequency, labelsByFrequency, type Names } from './query'

/** The maximum number of boards whose lists and labels are loaded. */
const boardLimit = 24

export class SuggestionNames {
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

  /** Loads the names needed to complete the word being typed. */
  prepare(word: string, workspaceId: string): void {
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
    const results = await Promise.allSettled(
      boards.map((b) => data(api.GET('/boards/{boardId}', { params: { path: { boardId: b.id } } }))),
    )
    const details = results.flatMap((f) => (f.status === 'fulfilled' ? [f.value] : []))
    this.#lists = byFrequency(details.flatMap((d) => d.lists.map((l) => l.name)))
    this.#labels = labelsByFrequency(details.flatMap((d) => d.labels))
  }

  async #loadPeople(): Promise<void> {
    if (this.#peopleRequested) return
    this.#peopleRequested = true
    const results = await Promise.allSettled(
      session.workspaces
        .filter((w) => w.role !== 'guest')
        .map((w) =>
          loadAll((query) =>
            api.GET('/workspaces/{workspaceId}/members', { params: { path: { workspaceId: w.id }, query } }),
          ),
        ),
    )
    const people = results.flatMap((f) => (f.status === 'fulfilled' ? f.value : []))
    this.#members = byFrequency(people.map((p) => p.name))
  }
}
