// Follows the job of a dialog that creates a board. If the dialog is closed before the
// job has ended, a toast reports the result.
import { onDestroy } from 'svelte'
import type { Job } from '../api/types'
import { go } from '../lib/router.svelte'
import { endText, isJob, JobFollower } from '../state/jobs.svelte'
import { loadHome } from '../state/session.svelte'
import { toast } from '../state/toasts.svelte'

/** Calls `oncreated` when the board exists, unless the dialog was closed. */
export function newBoardJob(oncreated: (boardId: string) => void) {
  let follower = $state.raw<JobFollower | null>(null)
  let closed = false
  onDestroy(() => (closed = true))

  function onEnd(job: Job): void {
    const boardId = job.boardIds[0]
    if (boardId) void loadHome()
    if (!closed) {
      if (boardId) oncreated(boardId)
    } else if (boardId) {
      toast(endText(job), { action: { label: 'Open board', run: () => go(`/boards/${boardId}`) } })
    } else if (job.state === 'failed') {
      toast(`“${job.name}” was not created. ${endText(job)}`, { tone: 'bad' })
    }
  }

  return {
    /** The follower of the job, or null if there is no job. */
    get follower() {
      return follower
    },
    /** Handles the response to the operation: the board, or the job that creates it. */
    handle(result: { id: string } | Job): void {
      if (isJob(result)) {
        follower = new JobFollower(result, onEnd)
        follower.follow()
      } else {
        void loadHome()
        oncreated(result.id)
      }
    },
  }
}
