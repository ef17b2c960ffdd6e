// Jobs: imports, copies of large boards and lists, boards from large templates, and moves of
// large lists to another board. A job continues after its page is closed.
import { api, ApiError, data, reason } from '../api/client'
import type { Job } from '../api/types'

/** The delays between requests, in ms. */
const minDelay = 1000
const maxDelay = 3000

/** Reports whether a response is a job and not the result of the operation. */
export const isJob = (result: object): result is Job => 'id' in result && String(result.id).startsWith('job_')

/** Reports whether a job is done, failed or canceled. */
export const hasEnded = (job: Job): boolean => ['done', 'failed', 'cancelled'].includes(job.state)

/** Describes a running job: "Copying “Launch”". */
export function jobText({ kind, name }: Pick<Job, 'kind' | 'name'>): string {
  const verbs: Record<string, string> = {
    import_board: 'Importing',
    copy_board: 'Copying',
    copy_list: 'Copying',
    move_list_to_board: 'Moving',
  }
  return `${verbs[kind] ?? 'Creating'} “${name}”`
}

/** Describes the result of a job that has ended, as a sentence. */
export function endText(job: Job): string {
  if (job.state === 'failed') return job.error?.message ?? 'Something went wrong. Try again.'
  if (job.kind === 'move_list_to_board') {
    return job.state === 'done' ? `“${job.name}” was moved.` : `“${job.name}” was not moved.`
  }
  if (job.state === 'done') return job.kind === 'import_board' ? 'The import is complete.' : `“${job.name}” is ready.`
  return job.kind === 'import_board'
    ? 'The import was canceled. Nothing was imported.'
    : `“${job.name}” was canceled. No ${job.kind === 'copy_list' ? 'list' : 'board'} was created.`
}

/** Polls the state of a job until it has ended. Pauses while the tab is hidden. */
export class JobFollower {
  job: Job
  canceling = $state(false)
  /** The last error from polling or canceling, or null. */
  problem = $state<string | null>(null)
  private timer: ReturnType<typeof setTimeout> | undefined
  private delay = minDelay
  private following = false

  constructor(
    job: Job,
    private readonly onend: (job: Job) => void = () => undefined,
  ) {
    this.job = $state.raw(job)
  }

  /** The progress in percent, or null while it is unknown. */
  get percent(): number | null {
    const { done, total } = this.job
    return total > 0 ? Math.min(100, Math.floor((100 * done) / total)) : null
  }

  /** Starts polling. The returned function stops it. */
  follow(): () => void {
    if (hasEnded(this.job)) {
      this.onend(this.job)
      return () => undefined
    }
    this.following = true
    document.addEventListener('visibilitychange', this.schedule)
    this.schedule()
    return this.stop
  }

  /** Cancels the job, unless it has already ended. */
  async cancel(): Promise<void> {
    this.canceling = true
    this.problem = null
    try {
      const job = await data(api.POST('/jobs/{jobId}/cancel', { params: { path: { jobId: this.job.id } } }))
      this.update(job)
      if (!hasEnded(job)) this.problem = 'It is too late to cancel this.'
    } catch (thrown) {
      this.problem = reason(thrown)
    }
    this.canceling = false
  }

  private readonly stop = (): void => {
    this.following = false
    clearTimeout(this.timer)
    document.removeEventListener('visibilitychange', this.schedule)
  }

  private readonly schedule = (): void => {
    clearTimeout(this.timer)
    if (this.following && !document.hidden) this.timer = setTimeout(() => void this.poll(), this.delay)
  }

  private async poll(): Promise<void> {
    this.delay = Math.min(this.delay * 1.25, maxDelay)
    try {
      const job = await data(api.GET('/jobs/{jobId}', { params: { path: { jobId: this.job.id } } }))
      if (!this.following) return
      this.problem = null
      this.update(job)
    } catch (thrown) {
      if (!this.following) return
      this.problem = reason(thrown)
      // The user has lost access to the job. Other errors are temporary.
      if (thrown instanceof ApiError && [401, 403, 404].includes(thrown.status)) this.stop()
    }
    this.schedule()
  }

  private update(job: Job): void {
    if (hasEnded(this.job)) return // a response that arrived late
    this.job = job
    if (!hasEnded(job)) return
    this.stop()
    this.onend(job)
  }
}
