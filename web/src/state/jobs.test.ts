import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Job } from '../api/types'
import { endText, hasEnded, isJob, JobFollower, jobText } from './jobs.svelte'

const job = (more: Partial<Job> = {}): Job => ({
  id: 'job_1',
  kind: 'copy_board',
  state: 'running',
  workspaceId: 'wsp_1',
  name: 'Launch',
  done: 0,
  total: 0,
  boardIds: [],
  listId: null,
  report: null,
  droppedLabels: [],
  droppedAssignees: [],
  error: null,
  createdAt: '2026-03-02T09:00:00.000Z',
  startedAt: null,
  endedAt: null,
  ...more,
})

let requests: string[] = []
let respond: () => Response | Promise<Response>
const json = (data: object, status = 200) =>
  new Response(JSON.stringify(status < 400 ? { data } : { error: data }), {
    status,
    headers: { 'Content-Type': 'application/json' },
  })

function setHidden(hidden: boolean): void {
  vi.spyOn(document, 'hidden', 'get').mockReturnValue(hidden)
  document.dispatchEvent(new Event('visibilitychange'))
}

beforeEach(() => {
  vi.useFakeTimers()
  requests = []
  vi.stubGlobal('fetch', (request: Request) => {
    requests.push(`${request.method} ${new URL(request.url).pathname.replace('/api/public/v1', '')}`)
    return Promise.resolve(respond())
  })
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
})

test('isJob recognizes a job by its ID', () => {
  expect(isJob(job())).toBe(true)
  expect(isJob({ id: 'brd_1', name: 'Launch' })).toBe(false)
  expect(isJob({ boards: [], notes: [], savedFilters: 0 })).toBe(false)
})

test('hasEnded, jobText and endText describe a job', () => {
  expect(hasEnded(job({ state: 'queued' }))).toBe(false)
  expect(hasEnded(job({ state: 'cancelled' }))).toBe(true)
  expect(jobText(job())).toBe('Copying “Launch”')
  expect(jobText(job({ kind: 'copy_list' }))).toBe('Copying “Launch”')
  expect(jobText(job({ kind: 'move_list_to_board' }))).toBe('Moving “Launch”')
  expect(jobText(job({ kind: 'unknown_kind' }))).toBe('Creating “Launch”')
  expect(endText(job({ kind: 'move_list_to_board', state: 'done' }))).toBe('“Launch” was moved.')
  expect(endText(job({ kind: 'move_list_to_board', state: 'cancelled' }))).toBe('“Launch” was not moved.')
  expect(endText(job({ kind: 'copy_list', state: 'cancelled' }))).toBe('“Launch” was canceled. No list was created.')
})

test('a follower polls every second at first, then every three seconds, until the job has ended', async () => {
  const ended = vi.fn()
  const follower = new JobFollower(job(), ended)
  follower.follow()
  expect(follower.percent).toBeNull()
  respond = () => json(job({ done: 1, total: 3 }))
  await vi.advanceTimersByTimeAsync(1000)
  expect(requests).toEqual(['GET /jobs/job_1'])
  expect(follower.percent).toBe(33)
  await vi.advanceTimersByTimeAsync(20_000)
  const earlier = requests.length
  await vi.advanceTimersByTimeAsync(9000)
  expect(requests.length - earlier).toBe(3)
  respond = () => json(job({ state: 'done', done: 3, total: 3, boardIds: ['brd_2'] }))
  await vi.advanceTimersByTimeAsync(3000)
  expect(ended).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ boardIds: ['brd_2'] }))
  const count = requests.length
  await vi.advanceTimersByTimeAsync(10_000)
  expect(requests.length).toBe(count)
})

test('a follower does not poll a job that has already ended', () => {
  const ended = vi.fn()
  new JobFollower(job({ state: 'cancelled' }), ended).follow()
  expect(ended).toHaveBeenCalledOnce()
  expect(vi.getTimerCount()).toBe(0)
})

test('a follower does not poll while the tab is hidden or after it was stopped', async () => {
  respond = () => json(job())
  const follower = new JobFollower(job())
  const stop = follower.follow()
  setHidden(true)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(requests).toEqual([])
  setHidden(false)
  await vi.advanceTimersByTimeAsync(1000)
  expect(requests.length).toBe(1)
  stop()
  setHidden(false)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(requests.length).toBe(1)
})

test('a failed request is reported and retried, but a 404 ends polling', async () => {
  const follower = new JobFollower(job())
  follower.follow()
  respond = () => json({ code: 'internal', message: 'Something broke.' }, 500)
  await vi.advanceTimersByTimeAsync(1000)
  expect(follower.problem).toBe('Something broke.')
  respond = () => json(job({ done: 1, total: 2 }))
  await vi.advanceTimersByTimeAsync(3000)
  expect(follower.problem).toBeNull()
  expect(follower.percent).toBe(50)
  respond = () => json({ code: 'not_found', message: 'Not found.' }, 404)
  await vi.advanceTimersByTimeAsync(3000)
  const count = requests.length
  await vi.advanceTimersByTimeAsync(20_000)
  expect(requests.length).toBe(count)
  expect(follower.problem).toBe('Not found.')
})

test('polling continues after a lost connection', async () => {
  const follower = new JobFollower(job())
  follower.follow()
  respond = () => Promise.reject(new TypeError('Failed to fetch'))
  await vi.advanceTimersByTimeAsync(8000)
  respond = () => json(job({ done: 2, total: 2 }))
  await vi.advanceTimersByTimeAsync(30_000)
  expect(follower.percent).toBe(100)
})

test('a late response does not overwrite a canceled job', async () => {
  const ended = vi.fn()
  const follower = new JobFollower(job(), ended)
  follower.follow()
  let respondLate: (response: Response) => void = () => undefined
  respond = () => new Promise<Response>((resolve) => (respondLate = resolve))
  await vi.advanceTimersByTimeAsync(1000)
  respond = () => json(job({ state: 'cancelled' }))
  await follower.cancel()
  respondLate(json(job({ done: 1, total: 2 })))
  await vi.advanceTimersByTimeAsync(10_000)
  expect(requests).toEqual(['GET /jobs/job_1', 'POST /jobs/job_1/cancel'])
  expect(follower.job.state).toBe('cancelled')
  expect(ended).toHaveBeenCalledOnce()
})

test('canceling too late is reported', async () => {
  const follower = new JobFollower(job({ kind: 'move_list_to_board', state: 'running' }))
  respond = () => json(job({ kind: 'move_list_to_board', state: 'running' }))
  await follower.cancel()
  expect(follower.problem).toBe('It is too late to cancel this.')
})

test('a failed cancellation is reported, and the job continues', async () => {
  const follower = new JobFollower(job())
  const stop = follower.follow()
  respond = () => json({ code: 'rate_limited', message: 'Too many requests.' }, 429)
  await follower.cancel()
  expect(follower.canceling).toBe(false)
  expect(follower.problem).toBe('Too many requests.')
  stop()
})
