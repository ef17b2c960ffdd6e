import { afterEach, expect, it, vi } from 'vitest'
import { app } from '../api/client'
import { addAvatars, avatarOf, clearAvatars } from './avatars.svelte'

const get = vi.spyOn(app, 'GET')
const respondWith = (people: { id: string; avatar: string }[]) =>
  get.mockResolvedValueOnce({ data: { data: { people } }, response: new Response() } as never)

afterEach(() => {
  clearAvatars()
  get.mockReset()
})

it('nothing is requested while no one is signed in, or for known people', () => {
  expect(avatarOf('usr_1')).toBeNull()
  addAvatars([
    { id: 'usr_1', avatar: 'a1' },
    { id: 'usr_2', avatar: null },
  ])
  expect([avatarOf('usr_1'), avatarOf('usr_2')]).toEqual(['a1', null])
  expect(get).not.toHaveBeenCalled()
})

it('the first unknown person loads all versions, but newer ones stay', async () => {
  respondWith([
    { id: 'usr_1', avatar: 'old' },
    { id: 'usr_2', avatar: 'a2' },
  ])
  addAvatars([{ id: 'usr_1', avatar: 'a1' }])
  expect([avatarOf('usr_2'), avatarOf('usr_3')]).toEqual([null, null])
  await vi.waitFor(() => expect(avatarOf('usr_2')).toBe('a2'))
  expect([avatarOf('usr_1'), avatarOf('usr_3')]).toEqual(['a1', null])
  expect(get).toHaveBeenCalledTimes(1)
})

it('a response for the previous user is ignored', async () => {
  respondWith([{ id: 'usr_2', avatar: 'a2' }])
  addAvatars([{ id: 'usr_1', avatar: null }])
  avatarOf('usr_2')
  clearAvatars()
  respondWith([{ id: 'usr_3', avatar: 'a3' }])
  addAvatars([{ id: 'usr_4', avatar: null }])
  await vi.waitFor(() => expect(avatarOf('usr_3')).toBe('a3'))
  expect(avatarOf('usr_2')).toBeNull()
})
