import { cleanup, fireEvent, render, screen } from '@testing-library/svelte'
import { afterEach, expect, test, vi } from 'vitest'
import DateField from './DateField.svelte'

vi.mock('../state/session.svelte', () => ({ session: { me: { timeZone: 'UTC' } } }))
vi.useFakeTimers({ now: new Date('2026-03-04T12:00:00Z'), toFake: ['Date'] })
afterEach(cleanup)

const field = () => screen.getByLabelText<HTMLInputElement>('Day')

async function write(text: string): Promise<void> {
  await fireEvent.input(field(), { target: { value: text } })
  await fireEvent.blur(field())
}

test('a date is shown in the format of the pages and parsed in several formats', async () => {
  const onchange = vi.fn()
  render(DateField, { label: 'Day', value: '2026-11-27', onchange })
  expect(field().value).toBe('27 Nov 2026')
  await write('24 dec')
  expect(field().value).toBe('24 Dec 2026')
  await write('2027-01-05')
  expect(field().value).toBe('5 Jan 2027')
  await write('')
  expect(onchange.mock.calls).toEqual([['2026-12-24'], ['2027-01-05'], ['']])
})

test('invalid text blocks the form until Escape discards it', async () => {
  const onchange = vi.fn()
  render(DateField, { label: 'Day', value: '2026-11-27', onchange })
  await write('whenever')
  expect(field().getAttribute('aria-invalid')).toBe('true')
  expect(field().checkValidity()).toBe(false)
  await fireEvent.keyDown(field(), { key: 'Escape' })
  expect(field().value).toBe('27 Nov 2026')
  expect(field().getAttribute('aria-invalid')).toBeNull()
  expect(field().checkValidity()).toBe(true)
  expect(onchange).not.toHaveBeenCalled()
})

test('a date outside the range is rejected', async () => {
  const onchange = vi.fn()
  render(DateField, { label: 'Day', value: '', min: '2026-03-05', onchange })
  await write('today')
  expect(field().validationMessage).toBe('Choose 5 Mar 2026 or later.')
  await write('tomorrow')
  expect(onchange.mock.calls).toEqual([['2026-03-05']])
})

test('a date without a year is in the past if past is set', async () => {
  render(DateField, { label: 'Day', value: '', past: true })
  await write('24 dec')
  expect(field().value).toBe('24 Dec 2025')
})

test('a time is parsed and shown in 24-hour format', async () => {
  render(DateField, { label: 'Day', value: '09:30', time: true })
  expect(field().value).toBe('09:30')
  await write('3pm')
  expect(field().value).toBe('15:00')
})
